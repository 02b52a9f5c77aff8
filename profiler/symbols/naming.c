/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/symbols/naming.h"

#include "profiler/base/hash.h"
#include "profiler/base/list.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/u64map.h"
#include "profiler/code/cfi.h"
#include "profiler/code/modules.h"
#include "profiler/ports/pystack.h"
#include "profiler/stacks/cct.h"
#include "profiler/symbols/symbolizer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A stored node. */
struct stored_node {
    struct pie_node_id id;
    uint32_t parent; /* index + 1; 0: the root */
    struct pie_location_id location;
    uint32_t turn;  /* in which a context led here */
    uint32_t index; /* in pie_naming_forget(): where it will be, + 1; 0: it is forgotten */
};

struct pie_naming {
    const struct pie_pystack_ops *ops;
    struct pie_symbolizer *symbolizer;
    struct pie_sink *owners;    /* NULL: not known */
    struct stored_node *stored; /* by id, upwards */
    size_t n_stored, stored_room;
    struct pie_u64map node_of_cct;      /* CCT id -> index in stored + 1; HIDDEN: none of its own */
    struct pie_u64map node_below;       /* (stored parent, location) -> index in stored + 1 */
    struct pie_u64map location_of_key;  /* CCT key, Python by line -> location; HIDDEN: not shown */
    struct pie_u64map location_of_name; /* native */
    struct pie_u64map location_of_text; /* Python's, by file, function and lines */
    struct pie_u64map allocator_of_key; /* native CCT key -> ALLOCATOR or NO_ALLOCATOR */
    struct pie_u64map kept_locations;   /* of nodes that were kept by the last pie_naming_forget() -> 1 */
    bool keeps_all_locations;           /* memory was short for that */
    uint32_t turn;
    uint32_t n_locations, n_nodes;
    /* New since the last commit. */
    struct pie_location *locations;
    size_t locations_count, locations_room;
    struct pie_node_row *nodes;
    size_t nodes_count, nodes_room;
};

/* File and function of all that had no room in a table of the engine. It is no caller's time. */
static const char TABLE_FULL[] = "(table full)";

/* A location that is not shown: the node stands for its parent. */
static const uint32_t HIDDEN = UINT32_MAX;

int pie_naming_create(const struct pie_pystack_ops *ops, struct pie_naming **ret_naming) {
    struct pie_naming *naming = pie_calloc(1, sizeof *naming);

    if (!naming)
        return -ENOMEM;
    naming->ops = ops;
    int r = pie_symbolizer_create(&naming->symbolizer);
    if (r < 0) {
        pie_free(naming);
        return r;
    }
    *ret_naming = naming;
    return 0;
}

void pie_naming_destroy(struct pie_naming *naming) {
    if (!naming)
        return;
    pie_symbolizer_destroy(naming->symbolizer);
    pie_free(naming->stored);
    pie_u64map_finish(&naming->location_of_text);
    pie_u64map_finish(&naming->kept_locations);
    pie_u64map_finish(&naming->node_of_cct);
    pie_u64map_finish(&naming->node_below);
    pie_u64map_finish(&naming->location_of_key);
    pie_u64map_finish(&naming->location_of_name);
    pie_u64map_finish(&naming->allocator_of_key);
    pie_free(naming->locations);
    pie_free(naming->nodes);
    pie_free(naming);
}

void pie_naming_allow_debug_info(struct pie_naming *naming, uint64_t most_ns) {
    pie_symbolizer_allow_debug_info(naming->symbolizer, most_ns);
}

void pie_naming_refresh(struct pie_naming *naming) {
    pie_symbolizer_refresh(naming->symbolizer);
}

bool pie_naming_function_range(void *naming_data, uintptr_t address, uintptr_t *ret_begin,
                               uintptr_t *ret_end) {
    struct pie_naming *naming = naming_data;

    return pie_symbolizer_function_range(naming->symbolizer, address, ret_begin, ret_end);
}

static struct pie_location_id add_location(struct pie_naming *naming, struct pie_location location) {
    struct pie_location *locations = pie_list_grown(naming->locations, naming->locations_count,
                                                    &naming->locations_room, sizeof *locations);
    if (!locations)
        return (struct pie_location_id){0};
    naming->locations = locations;
    location.id.value = ++naming->n_locations;
    naming->locations[naming->locations_count++] = location;
    return location.id;
}

static uint64_t mix_text(uint64_t hash, const char *text) {
    uint64_t word;

    for (size_t left = strlen(text); left > 0; text += sizeof word) {
        size_t bytes = left < sizeof word ? left : sizeof word;
        word = 0;
        memcpy(&word, text, bytes);
        hash = pie_hash_mix(hash, word);
        left -= bytes;
    }
    return pie_hash_mix(hash, 1);
}

/* What is made from a string belongs to who runs it, so the frame above decides. */
static void tell_owner(const struct pie_naming *naming, uint32_t code_id, const char *file) {
    if (naming->owners)
        naming->ops->set_owner(code_id, file[0] != '<' && naming->owners->ops->owns(naming->owners, file)
                                            ? PIE_CODE_OWNER_OWN
                                            : PIE_CODE_OWNER_LIBRARY);
}

/* Code of the same text may have several ids, one after the other in the halves of the tree. */
static struct pie_location_id python_location(struct pie_naming *naming, uint32_t code_id, int32_t line) {
    struct pie_location location = {.kind = PIE_LOCATION_PYTHON, .line = line};

    if (code_id == PIE_CCT_CODE_FULL)
        location.file = location.function = TABLE_FULL;
    else if (naming->ops->describe(code_id, &location.file, &location.function, &location.first_line) < 0)
        return (struct pie_location_id){0};
    if (code_id != PIE_CCT_CODE_FULL)
        tell_owner(naming, code_id, location.file);
    uint64_t key = mix_text(mix_text(0, location.file), location.function);
    key = pie_hash_mix(key, (uint64_t)(uint32_t)location.first_line << 32 | (uint32_t)line);
    struct pie_location_id id = {pie_u64map_get(&naming->location_of_text, key)};
    if (id.value)
        return id;
    location.is_in_loop = code_id != PIE_CCT_CODE_FULL && naming->ops->line_is_in_loop &&
                          naming->ops->line_is_in_loop(code_id, line);
    id = add_location(naming, location);
    if (id.value)
        pie_u64map_put(&naming->location_of_text, key, id.value);
    return id;
}

static uint32_t tell_owner_of_key(void *data, uint64_t key, uint32_t known) {
    const struct pie_naming *naming = data;
    const char *file, *function;
    int32_t first_line;

    if (pie_cct_key_is_python(key) && pie_cct_key_code(key) != PIE_CCT_CODE_FULL &&
        naming->ops->describe(pie_cct_key_code(key), &file, &function, &first_line) == 0)
        tell_owner(naming, pie_cct_key_code(key), file);
    return known;
}

void pie_naming_set_owners(struct pie_naming *naming, struct pie_sink *sink) {
    naming->owners = sink && sink->ops->owns && naming->ops->set_owner ? sink : NULL;
    if (naming->owners)
        pie_u64map_filter(&naming->location_of_key, tell_owner_of_key, naming);
}

/* The interpreter's loop without a Python frame of its own (it is just being entered or left). */
static bool is_eval_loop(const struct pie_symbol *symbol) {
    return symbol->function && strcmp(symbol->function, "_PyEval_EvalFrameDefault") == 0;
}

/* One location per line of a function, or per function where lines are unknown. Names are compared by address: the
 * symbolizer hands out one copy of each; a second location for the same name does no harm. */
static struct pie_location_id native_location(struct pie_naming *naming, const struct pie_module *module,
                                              const struct pie_symbol *symbol, uint64_t function_offset,
                                              struct pie_location_id caller) {
    uint64_t key = pie_hash_mix((uintptr_t)module->path, (uintptr_t)symbol->function);

    key = pie_hash_mix(key, (uintptr_t)symbol->file);
    key = pie_hash_mix(key, (uint32_t)symbol->line);
    key = pie_hash_mix(key, caller.value);
    if (!symbol->function)
        key = pie_hash_mix(key, function_offset);
    struct pie_location_id id = {pie_u64map_get(&naming->location_of_name, key)};
    if (id.value)
        return id;
    id = add_location(naming, (struct pie_location){
                                  .kind = PIE_LOCATION_NATIVE,
                                  .caller = caller,
                                  .function = symbol->function,
                                  .file = symbol->file,
                                  .line = symbol->line,
                                  .first_line = symbol->first_line,
                                  .module = module->path,
                                  .build_id = module->build_id,
                                  .offset = function_offset,
                              });
    if (id.value)
        pie_u64map_put(&naming->location_of_name, key, id.value);
    return id;
}

/* Where a nameless function begins; 0: not known, or what lies there is another's by now. */
static uintptr_t function_start(uint64_t key) {
    uintptr_t address = pie_cct_key_address(key);

    return pie_code_module_at(address) == pie_cct_key_module(key) ? pie_cfi_function(address) : 0;
}

/* Code made at run time has no name, whichever module lies there now or did before. */
static int resolve_key(struct pie_naming *naming, uint64_t key, struct pie_module *ret_module,
                       struct pie_symbol ret_symbols[PIE_SYMBOL_INLINE_MAX]) {
    if (pie_cct_key_module(key) == PIE_CODE_MODULE_NOWHERE) {
        *ret_module = (struct pie_module){.offset = pie_cct_key_address(key)};
        ret_symbols[0] = (struct pie_symbol){0};
        pie_symbolizer_count_unnamed(naming->symbolizer);
        return 1;
    }
    return pie_symbolizer_resolve_in(naming->symbolizer, pie_code_module(pie_cct_key_module(key)),
                                     pie_cct_key_address(key), ret_module, ret_symbols,
                                     PIE_SYMBOL_INLINE_MAX);
}

static struct pie_location_id native_locations(struct pie_naming *naming, uint64_t key) {
    struct pie_symbol symbols[PIE_SYMBOL_INLINE_MAX];
    struct pie_module module = {0};
    int n = resolve_key(naming, key, &module, symbols);

    if (n <= 0) {
        symbols[0] = (struct pie_symbol){0};
        n = 1;
    }
    if (is_eval_loop(&symbols[n - 1]))
        return (struct pie_location_id){HIDDEN};
    uintptr_t start = symbols[n - 1].function ? 0 : function_start(key);
    uint64_t offset = start ? module.offset - (pie_cct_key_address(key) - start) : module.offset;
    struct pie_location_id id = {0};
    for (int i = n - 1; i >= 0; i--)
        id = native_location(naming, &module, &symbols[i], offset, id);
    return id;
}

static struct pie_location_id location_of(struct pie_naming *naming, uint64_t key) {
    uint32_t code_id = 0;
    int32_t line = 0;

    if (pie_cct_key_is_python(key)) { /* all code units of one line are one location */
        code_id = pie_cct_key_code(key);
        line = code_id == PIE_CCT_CODE_FULL ? 0 : naming->ops->line(code_id, pie_cct_key_offset(key));
        key = pie_cct_python_key(code_id, (uint32_t)line);
    }
    struct pie_location_id id = {pie_u64map_get(&naming->location_of_key, key)};
    if (id.value)
        return id;
    id = pie_cct_key_is_python(key) ? python_location(naming, code_id, line) : native_locations(naming, key);
    if (id.value)
        pie_u64map_put(&naming->location_of_key, key, id.value);
    return id;
}

static struct pie_node_id id_of(const struct pie_naming *naming, uint32_t index) {
    return index ? naming->stored[index - 1].id : (struct pie_node_id){0};
}

/* The node of a location below another node, index + 1, made if need be; 0: short of memory. */
static uint32_t stored_below(struct pie_naming *naming, uint32_t parent, struct pie_location_id location) {
    uint64_t key = (uint64_t)id_of(naming, parent).value << 32 | location.value;
    uint32_t index = pie_u64map_get(&naming->node_below, key);

    if (index) {
        naming->stored[index - 1].turn = naming->turn;
        return index;
    }
    struct pie_node_row *nodes =
        pie_list_grown(naming->nodes, naming->nodes_count, &naming->nodes_room, sizeof *nodes);
    if (!nodes)
        return 0;
    naming->nodes = nodes;
    struct stored_node *stored =
        pie_list_grown(naming->stored, naming->n_stored, &naming->stored_room, sizeof *stored);
    if (!stored)
        return 0;
    naming->stored = stored;
    index = (uint32_t)naming->n_stored + 1;
    if (pie_u64map_put(&naming->node_below, key, index) < 0)
        return 0;
    struct pie_node_id id = {++naming->n_nodes};
    naming->stored[naming->n_stored++] =
        (struct stored_node){.id = id, .parent = parent, .location = location, .turn = naming->turn};
    naming->nodes[naming->nodes_count++] = (struct pie_node_row){id, id_of(naming, parent), location};
    return index;
}

/* The stored node of a CCT node whose parent's is known, index + 1. */
static uint32_t resolve(struct pie_naming *naming, struct pie_cct_id cct_node, uint32_t parent) {
    struct pie_location_id location = location_of(naming, pie_cct_key(cct_node));
    bool is_shown = location.value != HIDDEN && location.value != 0;
    uint32_t index = is_shown ? stored_below(naming, parent, location) : parent;

    pie_u64map_put(&naming->node_of_cct, cct_node.value, index ? index : HIDDEN);
    return index;
}

struct pie_node_id pie_naming_node(struct pie_naming *naming, struct pie_cct_id cct_node) {
    struct pie_cct_id path[2 * 1024 + 2];
    uint32_t index = 0;
    size_t n = 0;

    while (!pie_cct_is_root(cct_node) && n < sizeof path / sizeof *path) {
        index = pie_u64map_get(&naming->node_of_cct, cct_node.value);
        if (index)
            break;
        path[n++] = cct_node;
        cct_node = pie_cct_parent(cct_node);
    }
    if (index == HIDDEN)
        index = 0;
    while (n > 0)
        index = resolve(naming, path[--n], index);
    return id_of(naming, index);
}

/* --- Forgetting --- */

/* Who is kept keeps the ones above it. index: whether, then where. */
static void choose_kept(struct pie_naming *naming, bool (*holds)(void *data, struct pie_node_id node),
                        void *data) {
    uint32_t index = 0;

    for (size_t i = naming->n_stored; i-- > 0;) {
        struct stored_node *node = &naming->stored[i];
        if (node->turn == naming->turn || node->index || (holds && holds(data, node->id))) {
            node->index = 1;
            if (node->parent)
                naming->stored[node->parent - 1].index = 1;
        }
    }
    for (size_t i = 0; i < naming->n_stored; i++)
        if (naming->stored[i].index)
            naming->stored[i].index = ++index;
}

static uint32_t moved(void *data, uint64_t key, uint32_t index) {
    const struct pie_naming *naming = data;

    return naming->stored[index - 1].index;
}

/* These contexts are at hand, so nobody asks stored_below() for them in the turn that begins. */
static uint32_t moved_if_current(void *data, uint64_t cct_node, uint32_t index) {
    struct pie_naming *naming = data;

    if (pie_cct_half((struct pie_cct_id){(uint32_t)cct_node}) != pie_half_current())
        return 0;
    if (index == HIDDEN)
        return HIDDEN;
    naming->stored[index - 1].turn = naming->turn + 1;
    return naming->stored[index - 1].index;
}

static uint32_t is_current_code(void *data, uint64_t key, uint32_t id) {
    bool is_second = pie_cct_key_code(key) & PIE_CCT_CODE_HALF_BIT;

    return pie_cct_key_is_python(key) && is_second == (pie_half_current() == 1) ? id : 0;
}

static uint32_t is_kept_location(void *data, uint64_t key, uint32_t id) {
    return pie_naming_keeps_location(data, (struct pie_location_id){id}) ? id : 0;
}

static void move_nodes(struct pie_naming *naming) {
    size_t kept = 0;

    for (size_t i = 0; i < naming->n_stored; i++) {
        struct stored_node *node = &naming->stored[i];
        node->parent = node->parent ? naming->stored[node->parent - 1].index : 0;
    }
    for (size_t i = 0; i < naming->n_stored; i++)
        if (naming->stored[i].index) {
            naming->stored[kept] = naming->stored[i];
            naming->stored[kept++].index = 0;
        }
    naming->n_stored = kept;
}

static void keep_location(struct pie_naming *naming, struct pie_location_id location) {
    if (pie_u64map_put(&naming->kept_locations, location.value, 1) < 0)
        naming->keeps_all_locations = true;
}

static uint32_t keep_native(void *data, uint64_t key, uint32_t id) {
    keep_location(data, (struct pie_location_id){id});
    return id;
}

/* Native ones are as many as there is code: none is forgotten. */
static void note_kept_locations(struct pie_naming *naming) {
    pie_u64map_finish(&naming->kept_locations);
    naming->keeps_all_locations = false;
    for (size_t i = 0; i < naming->n_stored; i++)
        keep_location(naming, naming->stored[i].location);
    pie_u64map_filter(&naming->location_of_name, keep_native, naming);
}

static void shrink(struct pie_naming *naming) {
    size_t room = naming->n_stored + 256;
    void *smaller =
        room < naming->stored_room / 2 ? pie_realloc(naming->stored, room * sizeof *naming->stored) : NULL;
    if (!smaller)
        return;
    naming->stored = smaller;
    naming->stored_room = room;
}

void pie_naming_forget(struct pie_naming *naming, bool (*holds)(void *data, struct pie_node_id node),
                       void *data) {
    choose_kept(naming, holds, data);
    pie_u64map_filter(&naming->node_below, moved, naming);
    pie_u64map_filter(&naming->node_of_cct, moved_if_current, naming);
    pie_u64map_filter(&naming->location_of_key, is_current_code, naming);
    pie_u64map_finish(&naming->allocator_of_key);
    move_nodes(naming);
    shrink(naming);
    note_kept_locations(naming);
    pie_u64map_filter(&naming->location_of_text, is_kept_location, naming);
    naming->turn++;
}

bool pie_naming_keeps_node(const struct pie_naming *naming, struct pie_node_id node) {
    size_t low = 0, high = naming->n_stored;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (naming->stored[middle].id.value < node.value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < naming->n_stored && naming->stored[low].id.value == node.value;
}

bool pie_naming_keeps_location(const struct pie_naming *naming, struct pie_location_id location) {
    return naming->keeps_all_locations || pie_u64map_get(&naming->kept_locations, location.value) != 0;
}

/* --- Allocators --- */

enum { ALLOCATOR = 1, NO_ALLOCATOR };

static bool names_allocator(const char *function) {
    static const char *const names[] = {
        "malloc",          "calloc",        "realloc",         "free",
        "cfree",           "memalign",      "aligned_alloc",   "posix_memalign",
        "PyObject_Malloc", "PyObject_Free", "PyObject_Calloc", "PyObject_Realloc",
        "PyMem_Malloc",    "PyMem_Free",    "PyMem_Calloc",    "PyMem_Realloc",
        "PyMem_RawMalloc", "PyMem_RawFree", "operator new",    "operator delete",
    };

    if (strncmp(function, "_PyObject_Malloc", 16) == 0 || strncmp(function, "_PyObject_Free", 14) == 0 ||
        strncmp(function, "_int_", 5) == 0)
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(function, names[i], strcspn(function, "@(")) == 0 &&
            strlen(names[i]) == strcspn(function, "@("))
            return true;
    return false;
}

static bool key_is_allocator(struct pie_naming *naming, uint64_t key) {
    struct pie_symbol symbols[PIE_SYMBOL_INLINE_MAX];
    struct pie_module module = {0};
    uint32_t known = pie_u64map_get(&naming->allocator_of_key, key);

    if (!known) {
        int n = resolve_key(naming, key, &module, symbols);
        known = NO_ALLOCATOR;
        for (int i = 0; i < n; i++)
            if (symbols[i].function && names_allocator(symbols[i].function))
                known = ALLOCATOR;
        pie_u64map_put(&naming->allocator_of_key, key, known);
    }
    return known == ALLOCATOR;
}

bool pie_naming_is_allocator(struct pie_naming *naming, struct pie_cct_id cct_node) {
    for (; !pie_cct_is_root(cct_node); cct_node = pie_cct_parent(cct_node)) {
        uint64_t key = pie_cct_key(cct_node);
        if (pie_cct_key_is_python(key))
            break;
        if (key_is_allocator(naming, key))
            return true;
    }
    return false;
}

int pie_naming_write(struct pie_naming *naming, struct pie_sink *sink) {
    int r = 0;

    for (size_t i = 0; r == 0 && i < naming->locations_count; i++)
        r = sink->ops->put_location(sink, &naming->locations[i]);
    for (size_t i = 0; r == 0 && i < naming->nodes_count; i++)
        r = sink->ops->put_node(sink, &naming->nodes[i]);
    return r;
}

void pie_naming_written(struct pie_naming *naming) {
    naming->locations_count = 0;
    naming->nodes_count = 0;
}

bool pie_naming_is_written(const struct pie_naming *naming) {
    return naming->locations_count == 0 && naming->nodes_count == 0;
}
