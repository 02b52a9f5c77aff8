/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "profiler/base/u64map.h"
#include "storage/base/message.h"
#include "storage/base/utf8.h"
#include "storage/export/part.h"
#include "storage/export/tracks.h"
#include "storage/formats/common.h"
#include "storage/formats/formats.h"
#include "storage/formats/pprof.pb-c.h"

/* pprof's format, compressed. Messages of protobuf that stand one behind the other are one, with all that is repeated
 * in them ("Encoding: Last One Wins"). So each text, function, location and sample is a profile of its own, and none
 * needs memory for longer than it takes to write it. */

enum { OUT_BYTES = 1 << 16, LEVEL = 6 };

struct export {
    FILE *out;
    z_stream stream;
    bool has_stream;
    const struct pie_calltree *tree;
    const struct pie_metric *metrics[PIE_GRAPH_METRICS_MAX];
    int metric_count, metric; /* the one at hand */
    struct pie_tracks tracks;
    struct pie_u64map text_of; /* text -> number of the string table */
    int64_t texts;
    uint8_t *packed;
    size_t packed_size;
    uint64_t *path; /* ids of locations */
    int error;
};

static void compress_bytes(struct export *export, const void *bytes, size_t size, int flush) {
    unsigned char buffer[OUT_BYTES];
    export->stream.next_in = (unsigned char *)bytes;
    export->stream.avail_in = (unsigned)size;
    do {
        export->stream.next_out = buffer;
        export->stream.avail_out = sizeof buffer;
        deflate(&export->stream, flush);
        fwrite(buffer, 1, sizeof buffer - export->stream.avail_out, export->out);
    } while (export->stream.avail_out == 0);
}

/* Writes a profile of one thing. */
static void write_profile(struct export *export, const Pie__Pprof__Profile *profile) {
    size_t size = pie__pprof__profile__get_packed_size(profile);
    if (size > export->packed_size) {
        uint8_t *packed = realloc(export->packed, size);
        if (!packed) {
            export->error = -ENOMEM;
            return;
        }
        export->packed = packed;
        export->packed_size = size;
    }
    compress_bytes(export, export->packed, pie__pprof__profile__pack(profile, export->packed), Z_NO_FLUSH);
}

/* Returns its number. */
static int64_t write_text(struct export *export, const char *text) {
    Pie__Pprof__Profile profile = PIE__PPROF__PROFILE__INIT;
    size_t size = strlen(text);
    char *clean = malloc(3 * size + 1);
    if (!clean) {
        export->error = -ENOMEM;
        return 0;
    }
    clean[pie_utf8_clean(clean, text, size)] = 0;
    profile.n_string_table = 1;
    profile.string_table = &clean;
    write_profile(export, &profile);
    free(clean);
    return export->texts++;
}

/* The number of a text that lives as long as the tree, of which equal ones are one (calltree_frames.h). */
static int64_t text_of(struct export *export, const char *text) {
    if (!text)
        return 0;
    uint32_t number = pie_u64map_get(&export->text_of, (uintptr_t)text);
    if (number == 0) {
        number = (uint32_t)write_text(export, text);
        if (pie_u64map_put(&export->text_of, (uintptr_t)text, number) < 0)
            export->error = -ENOMEM;
    }
    return number;
}

static void write_sample_types(struct export *export) {
    static const char *const units[] = {
        [PIE_METRIC_NS] = "nanoseconds", [PIE_METRIC_BYTES] = "bytes", [PIE_METRIC_COUNT] = "count"};
    for (int i = 0; i < export->metric_count; i++) {
        Pie__Pprof__Profile profile = PIE__PPROF__PROFILE__INIT;
        Pie__Pprof__ValueType type = PIE__PPROF__VALUE_TYPE__INIT, *types = &type;
        type.type = write_text(export, export->metrics[i]->name);
        type.unit = write_text(export, units[export->metrics[i]->unit]);
        profile.n_sample_type = 1;
        profile.sample_type = &types;
        profile.default_sample_type = i == 0 ? type.type : 0; /* one that is 0 is not written */
        write_profile(export, &profile);
    }
    Pie__Pprof__Profile profile = PIE__PPROF__PROFILE__INIT;
    int64_t ended_ns = export->tracks.started_ns;
    for (size_t i = 0; i < export->tracks.process_count; i++) {
        int64_t ns = export->tracks.processes[i].ended_ns;
        ended_ns = ns > ended_ns ? ns : ended_ns;
    }
    profile.time_nanos = export->tracks.started_ns;
    if (__builtin_sub_overflow(ended_ns, export->tracks.started_ns, &profile.duration_nanos))
        profile.duration_nanos = 0;
    write_profile(export, &profile);
}

/* Modules have the number of their text as their id. */
static void write_mapping(struct export *export, const char *module) {
    Pie__Pprof__Profile profile = PIE__PPROF__PROFILE__INIT;
    Pie__Pprof__Mapping mapping = PIE__PPROF__MAPPING__INIT, *mappings = &mapping;
    if (pie_u64map_get(&export->text_of, (uintptr_t)module))
        return;
    mapping.filename = text_of(export, module);
    mapping.id = (uint64_t)mapping.filename;
    mapping.has_functions = mapping.has_filenames = mapping.has_line_numbers = true;
    profile.n_mapping = 1;
    profile.mapping = &mappings;
    write_profile(export, &profile);
}

/* pprof sums up functions of one name, and those without one are many. Returns the number of the text. */
static int64_t write_unnamed(struct export *export, uint32_t frame) {
    char *name = pie_export_frame_name(export->tree, frame);
    int64_t number = write_text(export, name ? name : "?");
    free(name);
    return number;
}

static void write_function(struct export *export, uint32_t index) {
    const struct pie_calltree_frame *frame = &export->tree->frames[index];
    Pie__Pprof__Profile profile = PIE__PPROF__PROFILE__INIT;
    Pie__Pprof__Function function = PIE__PPROF__FUNCTION__INIT, *functions = &function;
    function.id = (uint64_t)index + 1;
    function.name = frame->function ? text_of(export, frame->function) : write_unnamed(export, index);
    /* Without a system_name, or pprof would take "<module>" for a template's arguments and leave it out. */
    function.filename = text_of(export, pie_export_file(frame));
    function.start_line = frame->first_line > 0 ? frame->first_line : 0;
    profile.n_function = 1;
    profile.function = &functions;
    write_profile(export, &profile);
}

static void write_location(struct export *export, uint32_t index) {
    const struct pie_calltree_frame *frame = &export->tree->frames[index];
    Pie__Pprof__Profile profile = PIE__PPROF__PROFILE__INIT;
    Pie__Pprof__Location location = PIE__PPROF__LOCATION__INIT, *locations = &location;
    Pie__Pprof__Line line = PIE__PPROF__LINE__INIT, *lines = &line;
    int64_t number = frame->line > 0 ? frame->line : frame->first_line;
    line.function_id = (uint64_t)frame->whole + 1;
    line.line = number > 0 ? number : 0;
    location.id = (uint64_t)index + 1;
    location.mapping_id = (uint64_t)text_of(export, frame->module);
    location.n_line = 1;
    location.line = &lines;
    profile.n_location = 1;
    profile.location = &locations;
    write_profile(export, &profile);
}

static void write_frames(struct export *export) {
    const struct pie_calltree *tree = export->tree;
    for (uint32_t i = 0; i < tree->frame_count; i++) {
        if (tree->frames[i].module)
            write_mapping(export, tree->frames[i].module);
    }
    for (uint32_t i = 0; i < tree->frame_count; i++) {
        if (tree->frames[i].whole == i)
            write_function(export, i);
    }
    for (uint32_t i = 0; i < tree->frame_count; i++)
        write_location(export, i);
}

enum { LABEL_PROCESS, LABEL_PID, LABEL_THREAD, LABEL_COUNT };

/* Returns their number. The text of a name is heap, and written anew for each part: there are as many as threads. */
static size_t make_labels(struct export *export, const struct pie_part *part,
                          Pie__Pprof__Label labels[LABEL_COUNT]) {
    static const char *const keys[] = {
        [LABEL_PROCESS] = "process", [LABEL_PID] = "pid", [LABEL_THREAD] = "thread"};
    const struct pie_track_process *process = pie_tracks_process(&export->tracks, part->process);
    size_t count = export->metrics[export->metric]->thread ? LABEL_COUNT : LABEL_THREAD;
    char *names[LABEL_COUNT] = {
        [LABEL_PROCESS] = pie_tracks_process_name(&export->tracks, part->process),
        [LABEL_THREAD] = pie_tracks_thread_name(&export->tracks, part->process, part->thread),
    };
    for (size_t i = 0; i < LABEL_COUNT; i++) {
        pie__pprof__label__init(&labels[i]);
        labels[i].key = text_of(export, keys[i]);
        if (i == LABEL_PID)
            labels[i].num = process ? process->pid : 0;
        else if (i < count)
            labels[i].str = names[i] ? write_text(export, names[i]) : 0;
        free(names[i]);
    }
    return count;
}

static void write_sample(struct export *export, uint32_t node, int64_t value, Pie__Pprof__Label **labels,
                         size_t count) {
    Pie__Pprof__Profile profile = PIE__PPROF__PROFILE__INIT;
    Pie__Pprof__Sample sample = PIE__PPROF__SAMPLE__INIT, *samples = &sample;
    int64_t values[PIE_GRAPH_METRICS_MAX] = {0};
    for (uint32_t at = node; at != 0; at = export->tree->nodes[at].parent)
        export->path[sample.n_location_id++] = (uint64_t)export->tree->nodes[at].frame + 1;
    values[export->metric] = value;
    sample.location_id = export->path;
    sample.value = values;
    sample.n_value = (size_t)export->metric_count;
    sample.label = labels;
    sample.n_label = count;
    profile.n_sample = 1;
    profile.sample = &samples;
    write_profile(export, &profile);
}

static int take_part(void *data, const struct pie_part *part) {
    struct export *export = data;
    Pie__Pprof__Label labels[LABEL_COUNT], *pointers[LABEL_COUNT];
    size_t count = make_labels(export, part, labels);
    for (size_t i = 0; i < LABEL_COUNT; i++)
        pointers[i] = &labels[i];
    for (uint32_t i = 0; i < part->count; i++) {
        uint32_t node = part->nodes[i];
        if (part->self[node] > 0)
            write_sample(export, node, part->self[node], pointers, count);
    }
    return export->error;
}

static int write_all(struct export *export, struct pie_reader *reader, const struct pie_export_choice *choice,
                     char **ret_message) {
    int r = 0;
    write_text(export, ""); /* number 0 is the empty one */
    write_sample_types(export);
    write_frames(export);
    for (; export->metric < export->metric_count && r == 0; export->metric++)
        r = pie_parts_each(reader, export->tree, choice->run, export->metrics[export->metric],
                           PIE_PART_THREAD, export, take_part, ret_message);
    compress_bytes(export, "", 0, Z_FINISH);
    if (r == 0 && export->error < 0)
        r = pie_message(export->error, ret_message, "out of memory");
    return r;
}

/* A context has a sample for each of its metrics, so those that others contain are left to --metric. */
static void leave_out_parts(struct export *export, int count) {
    for (int i = 0; i < count; i++) {
        if (count == 1 || !export->metrics[i]->is_part)
            export->metrics[export->metric_count++] = export->metrics[i];
    }
}

static int begin(struct export *export) {
    enum { GZIP = 16 }; /* added to the size of the window: with gzip's header */
    export->path = calloc(export->tree->node_count, sizeof *export->path);
    export->has_stream = deflateInit2(&export->stream, LEVEL, Z_DEFLATED, MAX_WBITS + GZIP, MAX_MEM_LEVEL,
                                      Z_DEFAULT_STRATEGY) == Z_OK;
    return export->path && export->has_stream ? 0 : -ENOMEM;
}

static void finish(struct export *export) {
    if (export->has_stream)
        deflateEnd(&export->stream);
    pie_u64map_finish(&export->text_of);
    pie_tracks_finish(&export->tracks);
    free(export->packed);
    free(export->path);
}

int pie_export_pprof(FILE *out, struct pie_reader *reader, const struct pie_export_choice *choice,
                     char **ret_message) {
    struct export export = {.out = out};
    struct pie_calltree *tree = NULL;
    int r = pie_export_metrics(reader, choice, export.metrics, ret_message);
    if (r > 0)
        leave_out_parts(&export, r);
    if (r > 0)
        r = pie_calltree_load(reader, choice->run, choice->detail | PIE_CALLTREE_LINES, &tree, ret_message);
    if (r < 0)
        return r;
    export.tree = tree;
    r = begin(&export) < 0 ? pie_message(-ENOMEM, ret_message, "out of memory")
                           : pie_tracks_load(reader, choice->run, &export.tracks, ret_message);
    if (r == 0)
        r = write_all(&export, reader, choice, ret_message);
    finish(&export);
    pie_calltree_destroy(tree);
    return r;
}
