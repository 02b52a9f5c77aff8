/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/write/contexts.h"
#include "profiler/base/own_memory.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "storage/base/sparse.h"

struct location {
    unsigned flags;
    uint32_t library_module;
    struct pie_function_id
        function;                /* of the machine code: for inlined code the one that it was inlined into */
    struct pie_location_id line; /* first location of the same line */
};

struct pie_contexts {
    struct pie_sparse locations; /* struct location */
    struct pie_sparse nodes;     /* struct pie_context_node */
};

int pie_contexts_create(struct pie_contexts **ret_contexts) {
    struct pie_contexts *contexts = pie_calloc(1, sizeof *contexts);
    if (!contexts)
        return -ENOMEM;
    pie_sparse_init(&contexts->locations, sizeof(struct location));
    pie_sparse_init(&contexts->nodes, sizeof(struct pie_context_node));
    *ret_contexts = contexts;
    return 0;
}

void pie_contexts_destroy(struct pie_contexts *contexts) {
    if (!contexts)
        return;
    pie_sparse_finish(&contexts->locations, NULL);
    pie_sparse_finish(&contexts->nodes, NULL);
    pie_free(contexts);
}

int pie_contexts_set_location(struct pie_contexts *contexts, struct pie_location_id id,
                              const struct pie_context_location *location) {
    struct location *entry = pie_sparse_make(&contexts->locations, id.value);
    if (!entry)
        return -ENOMEM;
    const struct location *caller =
        location->caller.value ? pie_sparse_get(&contexts->locations, location->caller.value) : NULL;
    *entry = (struct location){
        .flags = location->flags,
        .library_module = location->library_module,
        .function = caller ? caller->function : location->function,
        .line = location->line,
    };
    return 0;
}

/* Code made from a string belongs to who runs it. */
static bool is_own(const struct location *location, const struct pie_context_node *above) {
    if (!(location->flags & PIE_CONTEXT_OWN))
        return false;
    return !(location->flags & PIE_CONTEXT_TEXT) || above->line_location.value == above->own_location.value;
}

int pie_contexts_add_node(struct pie_contexts *contexts, struct pie_node_id node, struct pie_node_id parent,
                          struct pie_location_id location, struct pie_context_node *ret_node) {
    struct pie_context_node *entry = pie_sparse_make(&contexts->nodes, node.value);
    if (!entry)
        return -ENOMEM;
    const struct pie_context_node *above =
        parent.value ? pie_sparse_get(&contexts->nodes, parent.value) : NULL;
    const struct location *found = pie_sparse_get(&contexts->locations, location.value);
    struct pie_context_node places = above ? *above : (struct pie_context_node){0};
    bool is_python = found && (found->flags & PIE_CONTEXT_PYTHON);
    if (is_python)
        places.own_depth++;
    if (found && is_own(found, &places)) {
        places.own_location = location;
        places.own_depth = 0;
    }
    if (is_python) {
        places.line_location = location;
        places.library_module = 0;
        places.entry_function.value = 0;
    }
    if (found && (found->flags & PIE_CONTEXT_FOREIGN) && places.entry_function.value == 0)
        places.entry_function = found->function;
    if (found && found->library_module != 0)
        places.library_module = found->library_module;
    *entry = places;
    *ret_node = places;
    return 0;
}

struct pie_location_id pie_contexts_get_line(const struct pie_contexts *contexts,
                                             struct pie_location_id location) {
    const struct location *found =
        location.value ? pie_sparse_get(&contexts->locations, location.value) : NULL;
    return found ? found->line : (struct pie_location_id){0};
}

struct pie_context_node pie_contexts_get_node(const struct pie_contexts *contexts, struct pie_node_id node) {
    const struct pie_context_node *found = pie_sparse_get(&contexts->nodes, node.value);
    return found ? *found : (struct pie_context_node){0};
}

static bool is_location_in_use(void *data, uint32_t id) {
    const struct pie_in_use *in_use = data;

    return in_use->location(in_use->data, (struct pie_location_id){id});
}

static bool is_node_in_use(void *data, uint32_t id) {
    const struct pie_in_use *in_use = data;

    return in_use->node(in_use->data, (struct pie_node_id){id});
}

void pie_contexts_forget(struct pie_contexts *contexts, const struct pie_in_use *in_use) {
    struct pie_in_use copy = *in_use;

    pie_sparse_forget(&contexts->locations, is_location_in_use, &copy, NULL);
    pie_sparse_forget(&contexts->nodes, is_node_in_use, &copy, NULL);
}
