/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/base/hash.h"
#include "profiler/base/own_memory.h"
#include "storage/own/ownership.h"
#include "storage/own/source_text.h"
#include "storage/write/contexts.h"
#include "storage/write/writer_internal.h"

/* Names are written once: a file, module or function is a row with an id of this process, given out here and
 * remembered by its text. A row is added before its id is remembered, so that a row refused for want of memory is
 * tried again. */

/* In some 4 MB. */
enum { FIRST_CAUSES_MAX = 1 << 17 };

/* SQLite's integers are signed. */
static int64_t integer(uint64_t value) {
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* All of them or none: some copy what others delete. */
static int put_statements(struct pie_writer *writer, unsigned first, unsigned last, int64_t value) {
    size_t size = writer->rows.size;
    int r = 0;
    for (unsigned statement = first; r == 0 && statement <= last; statement++)
        r = pie_rowlog_add(&writer->rows, statement, "ii", writer->process, value);
    if (r < 0)
        writer->rows.size = size;
    return r;
}

/* The present slice may lie in one that becomes wider, but never in one that is forgotten. Then there may be packed
 * rows of it, and those that follow are packed with them when it is over. */
int pie_writer_move_on(struct pie_writer *writer, int64_t at_ns) {
    int r = 0;
    if (pie_slices_move(&writer->slices, at_ns))
        r = put_statements(writer, PIE_STATEMENT_WIDEN_PROCESS, PIE_STATEMENT_WIDENED_PACKED,
                           writer->slices.width_s);
    int64_t first_s = pie_slices_first_s(&writer->slices);
    if (r == 0 && first_s > writer->forgotten_s)
        r = put_statements(writer, PIE_STATEMENT_FORGET_PROCESS, PIE_STATEMENT_FORGET_PACKED, first_s);
    if (r == 0)
        writer->forgotten_s = first_s;
    if (r == 0 && writer->slices.at_s > writer->packed_s) {
        r = put_statements(writer, PIE_STATEMENT_PACK_SAMPLE, PIE_STATEMENT_PACKED_COPY, writer->slices.at_s);
        writer->packed_s = r == 0 ? writer->slices.at_s : writer->packed_s;
    }
    return r;
}

int pie_writer_put_environment(struct pie_writer *writer, const char *key, const char *value) {
    return pie_rowlog_add(&writer->rows, PIE_STATEMENT_ENVIRONMENT, "itt", writer->run, key, value);
}

static int put_package(struct pie_writer *writer, const struct pie_owner *owner) {
    char *key;
    if (!owner->version || !owner->library)
        return 0;
    if (asprintf(&key, "package:%s", owner->library) < 0)
        return -ENOMEM;
    int r = pie_writer_put_environment(writer, key, owner->version);
    pie_free(key);
    return r;
}

/* Sets flags in an array that grows with the ids, which count up from 1. */
static int remember(unsigned char **flags, uint32_t id, unsigned char value) {
    if (id % 256 == 1) {
        unsigned char *grown = pie_realloc(*flags, id + 256);
        if (!grown)
            return -ENOMEM;
        *flags = grown;
    }
    (*flags)[id] = value;
    return 0;
}

static int get_file(struct pie_writer *writer, const char *path, uint32_t *ret_file) {
    struct pie_owner owner;
    uint32_t file = path ? pie_idmap_get(&writer->files, path, strlen(path)) : 0;
    if (!path || file) {
        *ret_file = file;
        return 0;
    }
    file = writer->file_count + 1;
    int r = pie_ownership_find(writer->ownership, path, &owner);
    if (r < 0)
        return r;
    unsigned char *is_own = pie_sparse_make(&writer->file_is_own, file);
    if (!is_own)
        return -ENOMEM;
    *is_own = owner.is_own;
    if (r == 0)
        r = put_package(writer, &owner);
    if (r == 0)
        r = pie_rowlog_add(&writer->rows, PIE_STATEMENT_FILE, "iitit", writer->process, (int64_t)file, path,
                           (int64_t)owner.is_own, owner.library);
    if (r < 0)
        return r;
    writer->file_count = file;
    *ret_file = file;
    return pie_idmap_add(&writer->files, path, strlen(path), file);
}

static int add_module(struct pie_writer *writer, const char *path, const char *build_id, uint32_t module) {
    struct pie_owner owner;
    int r = pie_ownership_find(writer->ownership, path, &owner);
    if (r == 0)
        r = put_package(writer, &owner);
    bool is_library = r == 0 && owner.library && strcmp(owner.library, "python") != 0;
    bool is_home = r == 0 && owner.is_home;
    if (r == 0)
        r = remember(&writer->module_flags, module,
                     (unsigned char)((is_library ? PIE_WRITER_MODULE_LIBRARY : 0) |
                                     (is_home ? PIE_WRITER_MODULE_HOME : 0)));
    if (r == 0)
        r = pie_rowlog_add(&writer->rows, PIE_STATEMENT_MODULE, "iittt", writer->process, (int64_t)module,
                           path, build_id, owner.library);
    return r;
}

static int get_module(struct pie_writer *writer, const char *path, const char *build_id,
                      uint32_t *ret_module) {
    char *key;
    *ret_module = 0;
    if (!path)
        return 0;
    int size = asprintf(&key, "%s\n%s", path, build_id ? build_id : "");
    if (size < 0)
        return -ENOMEM;
    uint32_t module = pie_idmap_get(&writer->modules, key, (size_t)size);
    int r = 0;
    if (module == 0) {
        module = writer->module_count + 1;
        r = add_module(writer, path, build_id, module);
        if (r == 0) {
            writer->module_count = module;
            r = pie_idmap_add(&writer->modules, key, (size_t)size, module);
        }
    }
    pie_free(key);
    if (r == 0)
        *ret_module = module;
    return r;
}

static int get_function(struct pie_writer *writer, const struct pie_location *location, uint32_t file,
                        uint32_t module, struct pie_function_id *ret_function) {
    char *key;
    int size = asprintf(&key, "%d %u %u %d %s", location->kind, file, module, location->first_line,
                        location->function ? location->function : "\n");
    if (size < 0)
        return -ENOMEM;
    struct pie_function_id function = {pie_idmap_get(&writer->functions, key, (size_t)size)};
    int r = 0;
    if (function.value == 0) {
        function.value = writer->function_count + 1;
        r = pie_rowlog_add(&writer->rows, PIE_STATEMENT_FUNCTION, "iiitzzz", writer->process,
                           (int64_t)function.value, (int64_t)location->kind, location->function,
                           (int64_t)file, (int64_t)location->first_line, (int64_t)module);
        if (r == 0) {
            writer->function_count = function.value;
            r = pie_idmap_add(&writer->functions, key, (size_t)size, function.value);
        }
    }
    pie_free(key);
    if (r == 0)
        *ret_function = function;
    return r;
}

/* The first location of the same line of the same file: there is one for each function that begins or lies there. */
static int get_line(struct pie_writer *writer, const struct pie_location *location, uint32_t file,
                    struct pie_location_id *ret_first) {
    uint32_t key[] = {file, (uint32_t)location->line};
    struct pie_location_id first = {pie_idmap_get(&writer->lines, key, sizeof key)};
    *ret_first = first.value ? first : location->id;
    return first.value ? 0 : pie_idmap_add(&writer->lines, key, sizeof key, location->id.value);
}

static bool file_is_own(const struct pie_writer *writer, uint32_t file) {
    const unsigned char *is_own = pie_sparse_get(&writer->file_is_own, file);
    return is_own && *is_own;
}

static int note_python_location(struct pie_writer *writer, const struct pie_location *location,
                                uint32_t file) {
    bool is_own = file_is_own(writer, file);
    bool is_module_level = location->function && strcmp(location->function, "<module>") == 0;
    unsigned flags = PIE_CONTEXT_PYTHON | (is_own ? PIE_CONTEXT_OWN : 0);
    if (location->file && location->file[0] == '<')
        flags |= PIE_CONTEXT_TEXT;
    struct pie_location_id line;
    int r = get_line(writer, location, file, &line);
    if (r == 0)
        r = pie_contexts_set_location(writer->contexts, location->id,
                                      &(struct pie_context_location){.flags = flags, .line = line});
    if (r == 0 && file)
        r = pie_source_text_want(writer->source, file, location->file, is_own,
                                 is_module_level ? 0 : location->first_line, location->line);
    return r;
}

/* Code without a module was made at run time. */
static int note_native_location(struct pie_writer *writer, const struct pie_location *location,
                                uint32_t module, struct pie_function_id function) {
    unsigned about = module ? writer->module_flags[module] : 0;
    struct pie_context_location noted = {
        .flags = about & PIE_WRITER_MODULE_HOME ? 0 : PIE_CONTEXT_FOREIGN,
        .library_module = about & PIE_WRITER_MODULE_LIBRARY ? module : 0,
        .function = function,
        .caller = location->caller,
    };
    return pie_contexts_set_location(writer->contexts, location->id, &noted);
}

/* Whose code it is, for generated code that it calls or that calls it. */
static int note_owner(struct pie_writer *writer, const struct pie_location *location, uint32_t file,
                      struct pie_function_id function) {
    bool is_python = location->kind == PIE_LOCATION_PYTHON;
    const char *path = is_python ? location->file : location->module;
    struct pie_owner owner = {0};
    int r = path ? pie_ownership_find(writer->ownership, path, &owner) : 0;
    return r < 0 ? r
                 : pie_writer_note_owner(writer, location, is_python ? file : 0, function, owner.library,
                                         owner.is_own);
}

int pie_writer_put_location(struct pie_writer *writer, const struct pie_location *location) {
    bool is_python = location->kind == PIE_LOCATION_PYTHON;
    uint32_t file = 0, module = 0;
    struct pie_function_id function = {0};
    int r = get_file(writer, location->file, &file);
    if (r == 0)
        r = get_module(writer, location->module, location->build_id, &module);
    if (r == 0)
        r = get_function(writer, location, file, module, &function);
    if (r == 0 && is_python)
        r = pie_rowlog_add(&writer->rows, PIE_STATEMENT_LOCATION, "iiiznni", writer->process,
                           (int64_t)location->id.value, (int64_t)function.value, (int64_t)location->line,
                           (int64_t)location->is_in_loop);
    else if (r == 0)
        r = pie_rowlog_add(&writer->rows, PIE_STATEMENT_LOCATION, "iiizzin", writer->process,
                           (int64_t)location->id.value, (int64_t)function.value, (int64_t)location->line,
                           (int64_t)location->caller.value, (int64_t)location->offset);
    if (r == 0)
        r = note_owner(writer, location, file, function);
    if (r < 0)
        return r;
    return is_python ? note_python_location(writer, location, file)
                     : note_native_location(writer, location, module, function);
}

int pie_writer_put_node(struct pie_writer *writer, const struct pie_node_row *node) {
    struct pie_context_node places;
    int r = pie_writer_name_generated(writer, node);
    if (r == 0)
        r = pie_contexts_add_node(writer->contexts, node->id, node->parent, node->location, &places);
    if (r < 0)
        return r;
    return pie_rowlog_add(&writer->rows, PIE_STATEMENT_NODE, "iizizzzz", writer->process,
                          (int64_t)node->id.value, (int64_t)node->parent.value, (int64_t)node->location.value,
                          (int64_t)places.line_location.value, (int64_t)places.own_location.value,
                          (int64_t)places.library_module, (int64_t)places.entry_function.value);
}

int pie_writer_put_thread(struct pie_writer *writer, const struct pie_thread_row *thread) {
    const char *types =
        thread->has_off_times ? "iiztizziiiiiii" : "iiztizziiiinnn"; /* the last three, or NULL */
    return pie_rowlog_add(&writer->rows, PIE_STATEMENT_THREAD, types, writer->process, (int64_t)thread->id,
                          (int64_t)thread->tid, thread->name, (int64_t)thread->is_main, thread->started_ns,
                          thread->ended_ns, integer(thread->cpu_ns), integer(thread->wall_ns),
                          integer(thread->samples), integer(thread->folded ? thread->folded : 1),
                          integer(thread->wait_ns), integer(thread->runnable_ns),
                          integer(thread->throttled_ns));
}

int pie_writer_put_sample(struct pie_writer *writer, const struct pie_sample_row *sample) {
    pie_slices_note(&writer->slices, pie_hash_mix(sample->thread, sample->node.value));
    return pie_rowlog_add(&writer->rows, PIE_STATEMENT_SAMPLE, "iiiiiiiiiiiid", writer->process,
                          writer->slices.at_s, (int64_t)sample->thread, (int64_t)sample->node.value,
                          (int64_t)sample->samples, (int64_t)sample->wait_samples, integer(sample->python_ns),
                          integer(sample->native_ns), integer(sample->system_ns), sample->wait_ns,
                          integer(sample->runnable_ns), integer(sample->throttled_ns), sample->cpu_sq_ns2);
}

static int put_sliced(struct pie_writer *writer, uint32_t thread, struct pie_node_id node, int kind,
                      int64_t time_ns) {
    uint64_t kind_of_row = (uint64_t)PIE_STATEMENT_RELATED << 32 | (uint32_t)kind;

    pie_slices_note(&writer->slices, pie_hash_mix(kind_of_row, (uint64_t)thread << 32 | node.value));
    return pie_rowlog_add(&writer->rows, PIE_STATEMENT_RELATED, "iiiiii", writer->process,
                          writer->slices.at_s, (int64_t)thread, (int64_t)node.value, (int64_t)kind, time_ns);
}

/* Most threads wait for one cause in a context: its slices have nothing to say of it. Without memory, and once
 * the map was full and all was forgotten, a context may have two such causes: they share what is left in proportion. */
static bool is_first_cause(struct pie_writer *writer, const struct pie_wait_row *wait) {
    uint64_t key = (uint64_t)wait->thread << 32 | wait->node.value;
    uint32_t first = pie_u64map_get(&writer->first_causes, key), cause = (uint32_t)wait->cause + 1;

    if (!first && writer->first_causes.count >= FIRST_CAUSES_MAX)
        pie_u64map_finish(&writer->first_causes);
    return first ? first == cause : pie_u64map_put(&writer->first_causes, key, cause) == 0;
}

int pie_writer_put_wait(struct pie_writer *writer, const struct pie_wait_row *wait) {
    bool is_rest = is_first_cause(writer, wait);
    int r = pie_rowlog_add(&writer->rows, PIE_STATEMENT_WAIT, "iiiitiiiii", writer->process,
                           (int64_t)wait->thread, (int64_t)wait->node.value, (int64_t)wait->cause,
                           wait->resource ? wait->resource : "", (int64_t)wait->peer.value,
                           (int64_t)wait->holds_gil, wait->wait_ns, (int64_t)wait->looks, (int64_t)is_rest);

    if (r < 0 || is_rest)
        return r;
    return put_sliced(writer, wait->thread, wait->node, PIE_RELATED_WAIT + (int)wait->cause, wait->wait_ns);
}

int pie_writer_put_task(struct pie_writer *writer, const struct pie_task_row *task) {
    return pie_rowlog_add(&writer->rows, PIE_STATEMENT_TASK, "iiiiitii", writer->process,
                          (int64_t)task->thread, (int64_t)task->node.value, (int64_t)task->coroutine.value,
                          (int64_t)task->cause, task->name ? task->name : "", task->wait_ns,
                          integer(task->cpu_ns));
}

int pie_writer_put_related(struct pie_writer *writer, const struct pie_related_row *related) {
    return put_sliced(writer, related->thread, related->node, (int)related->kind, integer(related->time_ns));
}

/* Of a Python frame counted from the innermost; what was not recorded is PIE_OPERATION_OTHER. */
static int64_t operation_at(const struct pie_watch_row *watch, uint32_t frame) {
    bool is_recorded = frame < watch->operations_count && frame < PIE_WATCH_FRAMES_MAX;
    return is_recorded ? watch->operations[frame] : 0;
}

/* Rows of one pair of nodes are few. */
static void note_watch(struct pie_writer *writer, const struct pie_watch_row *watch) {
    uint64_t kind = (uint64_t)watch->kind << 40 | (uint64_t)watch->outcome << 32 |
                    (uint64_t)watch->memory << 24 | (uint64_t)watch->traits << 8 | watch->length;
    uint64_t nodes = (uint64_t)watch->first_node.value << 32 | watch->second_node.value;
    pie_slices_note(&writer->slices, pie_hash_mix(pie_hash_mix(PIE_STATEMENT_WATCH, kind), nodes));
}

int pie_writer_put_watch(struct pie_writer *writer, const struct pie_watch_row *watch) {
    struct pie_context_node first = pie_contexts_get_node(writer->contexts, watch->first_node);
    int64_t own_operation = first.own_location.value ? operation_at(watch, first.own_depth) : 0;
    note_watch(writer, watch);
    return pie_rowlog_add(&writer->rows, PIE_STATEMENT_WATCH, "iiiiiiiiiiiiiddiiii", writer->process,
                          writer->slices.at_s, (int64_t)watch->kind, (int64_t)watch->outcome,
                          (int64_t)watch->memory, (int64_t)watch->traits, (int64_t)watch->length,
                          (int64_t)watch->first_node.value, (int64_t)watch->second_node.value, own_operation,
                          operation_at(watch, 0), integer(watch->watches), integer(watch->bytes),
                          watch->weight_ns, watch->weight_sq_ns2, integer(watch->length_ns),
                          integer(watch->gap_ns), integer(watch->array_bytes), integer(watch->round_ns));
}

int pie_writer_put_counter(struct pie_writer *writer, const char *name, uint64_t value, bool is_drop) {
    return pie_rowlog_add(&writer->rows, PIE_STATEMENT_COUNTER, "itii", writer->process, name, integer(value),
                          (int64_t)is_drop);
}

/* Since the collector told last. Of more collectors than there are places, only the sums are known. */
static uint64_t spent_more(struct pie_writer *writer, const char *collector, uint64_t cpu_ns) {
    size_t i = 0;

    while (i < PIE_WRITER_SPENDERS && writer->spent[i].collector &&
           strcmp(writer->spent[i].collector, collector) != 0)
        i++;
    if (i == PIE_WRITER_SPENDERS)
        return 0;
    uint64_t before_ns = writer->spent[i].cpu_ns;
    writer->spent[i].collector = collector;
    writer->spent[i].cpu_ns = cpu_ns;
    return cpu_ns > before_ns ? cpu_ns - before_ns : 0;
}

int pie_writer_put_overhead(struct pie_writer *writer, const char *collector, uint64_t cpu_ns,
                            double rate_hz) {
    int r = pie_rowlog_add(&writer->rows, PIE_STATEMENT_OVERHEAD, "itid", writer->process, collector,
                           integer(cpu_ns), rate_hz);
    uint64_t more_ns = spent_more(writer, collector, cpu_ns);

    return r < 0 || more_ns == 0 ? r
                                 : pie_rowlog_add(&writer->rows, PIE_STATEMENT_SPENT, "iiti", writer->process,
                                                  writer->slices.at_s, collector, integer(more_ns));
}

static int emit_source(void *data, const char *path, int32_t line, const char *text) {
    struct pie_writer *writer = data;
    int r = 0;
    if (writer->source_path != path)
        r = pie_rowlog_add(&writer->rows, PIE_STATEMENT_SOURCE, "it", writer->run, path);
    if (r < 0)
        return r;
    writer->source_path = path;
    return pie_rowlog_add(&writer->rows, PIE_STATEMENT_SOURCE_LINE, "itit", writer->run, path, (int64_t)line,
                          text);
}

int pie_writer_want_source(struct pie_writer *writer, const char *path, int32_t line) {
    uint32_t file;
    int r = get_file(writer, path, &file);
    return r == 0 && file
               ? pie_source_text_want(writer->source, file, path, file_is_own(writer, file), 0, line)
               : r;
}

int pie_writer_put_source(struct pie_writer *writer) {
    writer->source_path = NULL;
    return pie_source_text_flush(writer->source, writer->sink.made_source, emit_source, writer);
}
