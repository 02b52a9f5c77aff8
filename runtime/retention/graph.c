/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/retention/graph.h"

#include "profiler/base/hash.h"

#include <string.h>

/* The part of the object graph that leads to the blocks, from below: a node for each object in a block or with a
 * pointer to one, and for each object found to refer to a node. A node remembers one child only, so a path down is a
 * chain, and the set of blocks it leads to, so that of several ends the one that explains most can be taken. An object
 * that is in a block itself never gets a child, and no node one that leads back to it: chains end. */

enum {
    REFERRERS_MAX = 256,  /* of one node; of a string that all use there are thousands */
    LOWEST = 65536,       /* Linux maps nothing below; numbers of all kinds are there */
    ROOMS_FOR_ROOTS = 64, /* of the nodes */
    IGNORED = -1,
};

static_assert(PIE_RETENTION_NODES_MAX < UINT16_MAX, "slots hold node + 1");

static size_t hash_of(uintptr_t key) {
    return (size_t)(pie_hash_upper(key) >> 40);
}

/* --- blocks --- */

int pie_retention_find_block(const struct pie_retention_search *search, uintptr_t address) {
    for (size_t at = hash_of(address);; at++) {
        int block = search->block_slots[at % PIE_RETENTION_BLOCK_SLOTS];

        if (block == PIE_RETENTION_NONE || search->blocks[block] == address)
            return block;
    }
}

void pie_retention_set_blocks(struct pie_retention_search *search, const uintptr_t *blocks, size_t count) {
    memset(search->block_slots, PIE_RETENTION_NONE, sizeof search->block_slots);
    for (size_t i = 0; i < count && search->count < PIE_RETENTION_BLOCKS_MAX; i++) {
        size_t at = hash_of(blocks[i]);

        if (blocks[i] < LOWEST || blocks[i] % sizeof(uintptr_t) ||
            pie_retention_find_block(search, blocks[i]) != PIE_RETENTION_NONE)
            continue;
        while (search->block_slots[at % PIE_RETENTION_BLOCK_SLOTS] != PIE_RETENTION_NONE)
            at++;
        search->block_slots[at % PIE_RETENTION_BLOCK_SLOTS] = (int8_t)search->count;
        search->blocks[search->count++] = blocks[i];
    }
}

/* --- modules --- */

static PyObject *module_of(const struct pie_retention_search *search, PyObject *dict) {
    for (size_t at = hash_of((uintptr_t)dict);; at++) {
        size_t slot = at % PIE_RETENTION_MODULES_MAX;

        if (!search->modules[slot].dict || search->modules[slot].dict == dict)
            return search->modules[slot].module;
    }
}

static void add_module(struct pie_retention_search *search, PyObject *module) {
    PyObject *dict = PyModule_GetDict(module);
    size_t at = hash_of((uintptr_t)dict);

    if (!dict || module_of(search, dict))
        return;
    while (search->modules[at % PIE_RETENTION_MODULES_MAX].dict)
        at++;
    search->modules[at % PIE_RETENTION_MODULES_MAX].dict = dict;
    search->modules[at % PIE_RETENTION_MODULES_MAX].module = module;
}

void pie_retention_set_modules(struct pie_retention_search *search) {
    PyObject *modules = PyImport_GetModuleDict(), *name, *module, *ndarray;
    Py_ssize_t at = 0;
    size_t room = PIE_RETENTION_MODULES_MAX / 2;

    if (!modules || !PyDict_CheckExact(modules))
        return;
    while (PyDict_Next(modules, &at, &name, &module)) {
        if (!PyModule_Check(module) || !room)
            continue;
        room--;
        add_module(search, module);
        if (PyUnicode_CheckExact(name) && PyUnicode_CompareWithASCIIString(name, "numpy") == 0) {
            ndarray = pie_retention_get(PyModule_GetDict(module), "ndarray");
            search->ndarray = ndarray && PyType_Check(ndarray) ? (PyTypeObject *)ndarray : NULL;
        }
    }
}

/* --- nodes --- */

int32_t pie_retention_find_node(const struct pie_retention_search *search, uintptr_t key) {
    for (size_t at = hash_of(key);; at++) {
        uint16_t found = search->slots[at % PIE_RETENTION_SLOTS];

        if (!found || search->nodes[found - 1].key == key)
            return (int32_t)found - 1;
    }
}

static_assert(PIE_RETENTION_NONE == -1, "as find_node() computes it");

/* PIE_RETENTION_NONE: no room. */
static int32_t add_node(struct pie_retention_search *search, const struct pie_retention_node *node) {
    int32_t room = PIE_RETENTION_NODES_MAX - (node->root ? 0 : ROOMS_FOR_ROOTS);
    size_t at = hash_of(node->key);

    if (search->n_nodes >= room) {
        search->is_full = true;
        return PIE_RETENTION_NONE;
    }
    while (search->slots[at % PIE_RETENTION_SLOTS])
        at++;
    search->nodes[search->n_nodes] = *node;
    search->slots[at % PIE_RETENTION_SLOTS] = (uint16_t)(search->n_nodes + 1);
    return search->n_nodes++;
}

int32_t pie_retention_add_owner(struct pie_retention_search *search, PyObject *object, int block,
                                bool is_block, uint8_t level) {
    int32_t found = pie_retention_find_node(search, (uintptr_t)object);

    if (found == PIE_RETENTION_NONE)
        found = add_node(search, &(struct pie_retention_node){
                                     .key = (uintptr_t)object,
                                     .object = object,
                                     .child = PIE_RETENTION_NONE,
                                     .level = is_block ? PIE_RETENTION_LEVEL_DONE : level,
                                     .is_block = is_block,
                                 });
    if (found != PIE_RETENTION_NONE)
        search->nodes[found].blocks |= UINT64_C(1) << block;
    return found;
}

/* --- references --- */

/* What end of a path an object with this child is; IGNORED: it does not hold the child in any sense. */
static int classify(PyObject *object, PyObject *child) {
    if (PyModule_Check(object))
        return PIE_RETENTION_MODULE;
    if (PyType_Check(object))
        return PIE_RETENTION_CLASS;
    if (pie_retention_is_lru_cache(object))
        return PIE_RETENTION_FUNCTION;
    if (!PyFunction_Check(object))
        return PIE_RETENTION_NO_ROOT;
    const PyFunctionObject *function = (const PyFunctionObject *)object;
    if (child == function->func_globals)
        return PIE_RETENTION_GLOBALS;
    if (child == function->func_closure || child == function->func_defaults ||
        child == function->func_kwdefaults || child == function->func_dict ||
        child == function->func_annotations)
        return PIE_RETENTION_FUNCTION;
    return IGNORED;
}

static bool leads_to(const struct pie_retention_search *search, int32_t from, int32_t to) {
    while (from != PIE_RETENTION_NONE && from != to)
        from = search->nodes[from].child;
    return from == to;
}

static bool ends_in_block(const struct pie_retention_search *search, int32_t at) {
    while (search->nodes[at].child != PIE_RETENTION_NONE)
        at = search->nodes[at].child;
    return search->nodes[at].is_block;
}

/* The better end of a path, then more blocks, then an object rather than what points to its block. */
static bool is_better(const struct pie_retention_search *search, const struct pie_retention_node *node,
                      int32_t child, uint8_t root) {
    if (node->child == PIE_RETENTION_NONE || root != node->root)
        return root >= node->root;
    int count = __builtin_popcountll(search->nodes[child].blocks);
    int had = __builtin_popcountll(search->nodes[node->child].blocks);
    return count > had ||
           (count == had && ends_in_block(search, child) && !ends_in_block(search, node->child));
}

/* Another child of a node. */
static void merge(struct pie_retention_search *search, int32_t at, int32_t child, uint8_t root) {
    struct pie_retention_node *node = &search->nodes[at];

    node->blocks |= search->nodes[child].blocks;
    if (!node->is_block && is_better(search, node, child, root) && !leads_to(search, child, at)) {
        node->child = child;
        node->root = root;
    }
}

static void refer_from_object(struct pie_retention_search *search, PyObject *object, int32_t child,
                              uint8_t level) {
    int32_t found = pie_retention_find_node(search, (uintptr_t)object);
    int root = classify(object, search->nodes[child].object);

    if (root == IGNORED)
        return;
    if (found != PIE_RETENTION_NONE) {
        merge(search, found, child, (uint8_t)root);
        return;
    }
    if (!root && search->nodes[child].references > REFERRERS_MAX) {
        search->is_full = true;
        return;
    }
    add_node(search, &(struct pie_retention_node){
                         .key = (uintptr_t)object,
                         .object = object,
                         .blocks = search->nodes[child].blocks,
                         .child = child,
                         .level = level,
                         .root = (uint8_t)root,
                     });
}

static void refer_from_frame(struct pie_retention_search *search, int32_t child, uint8_t root) {
    int32_t found = pie_retention_find_node(search, search->frame_slot | 1);

    if (found != PIE_RETENTION_NONE) {
        merge(search, found, child, root);
        return;
    }
    add_node(search, &(struct pie_retention_node){
                         .key = search->frame_slot | 1,
                         .object = search->frame_code,
                         .function = search->frame_function,
                         .slot = search->slot,
                         .blocks = search->nodes[child].blocks,
                         .child = child,
                         .level = PIE_RETENTION_LEVEL_DONE,
                         .root = root,
                     });
}

/* A dictionary's module needs no pass of its own. */
void pie_retention_refer(struct pie_retention_search *search, int32_t child) {
    PyObject *object = search->referrer, *module;

    search->nodes[child].references++;
    if (!object) {
        refer_from_frame(search, child, PIE_RETENTION_LOCAL);
        return;
    }
    if (object == search->nodes[child].object)
        return;
    module = PyDict_CheckExact(object) ? module_of(search, object) : NULL;
    refer_from_object(search, object, child,
                      module || search->depth ? PIE_RETENTION_LEVEL_DONE : search->level);
    if (module && (child = pie_retention_find_node(search, (uintptr_t)object)) != PIE_RETENTION_NONE)
        refer_from_object(search, module, child, PIE_RETENTION_LEVEL_DONE);
}

void pie_retention_refer_from_stack(struct pie_retention_search *search, int32_t child) {
    refer_from_frame(search, child, PIE_RETENTION_TEMPORARY);
}
