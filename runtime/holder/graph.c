/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/holder/graph.h"

#include "profiler/base/hash.h"

#include <string.h>

/* The part of the object graph that leads to the blocks, from below: a node for each object in a block or with a
 * pointer to one, and for each object found to refer to a node. A node remembers one child only, so a path down is a
 * chain, and the set of blocks it leads to, so that of several ends the one that explains most can be taken. An object
 * that is in a block itself never gets a child, and no node one that leads back to it: chains end. */

enum {
    HOLDERS_MAX = 256,    /* of one node; of a string that all use there are thousands */
    LOWEST = 65536,       /* Linux maps nothing below; numbers of all kinds are there */
    ROOMS_FOR_ROOTS = 64, /* of the nodes */
    IGNORED = -1,
};

static_assert(PIE_HOLDER_NODES_MAX < UINT16_MAX, "slots hold node + 1");

static size_t hash_of(uintptr_t key) {
    return (size_t)(pie_hash_upper(key) >> 40);
}

/* --- blocks --- */

int pie_holder_find_block(const struct pie_holder *holder, uintptr_t address) {
    for (size_t at = hash_of(address);; at++) {
        int block = holder->block_slots[at % PIE_HOLDER_BLOCK_SLOTS];

        if (block == PIE_HOLDER_NONE || holder->blocks[block] == address)
            return block;
    }
}

void pie_holder_set_blocks(struct pie_holder *holder, const uintptr_t *blocks, size_t count) {
    memset(holder->block_slots, PIE_HOLDER_NONE, sizeof holder->block_slots);
    for (size_t i = 0; i < count && holder->count < PIE_HOLDER_BLOCKS_MAX; i++) {
        size_t at = hash_of(blocks[i]);

        if (blocks[i] < LOWEST || blocks[i] % sizeof(uintptr_t) ||
            pie_holder_find_block(holder, blocks[i]) != PIE_HOLDER_NONE)
            continue;
        while (holder->block_slots[at % PIE_HOLDER_BLOCK_SLOTS] != PIE_HOLDER_NONE)
            at++;
        holder->block_slots[at % PIE_HOLDER_BLOCK_SLOTS] = (int8_t)holder->count;
        holder->blocks[holder->count++] = blocks[i];
    }
}

/* --- modules --- */

static PyObject *module_of(const struct pie_holder *holder, PyObject *dict) {
    for (size_t at = hash_of((uintptr_t)dict);; at++) {
        size_t slot = at % PIE_HOLDER_MODULES_MAX;

        if (!holder->modules[slot].dict || holder->modules[slot].dict == dict)
            return holder->modules[slot].module;
    }
}

static void add_module(struct pie_holder *holder, PyObject *module) {
    PyObject *dict = PyModule_GetDict(module);
    size_t at = hash_of((uintptr_t)dict);

    if (!dict || module_of(holder, dict))
        return;
    while (holder->modules[at % PIE_HOLDER_MODULES_MAX].dict)
        at++;
    holder->modules[at % PIE_HOLDER_MODULES_MAX].dict = dict;
    holder->modules[at % PIE_HOLDER_MODULES_MAX].module = module;
}

void pie_holder_set_modules(struct pie_holder *holder) {
    PyObject *modules = PyImport_GetModuleDict(), *name, *module, *ndarray;
    Py_ssize_t at = 0;
    size_t room = PIE_HOLDER_MODULES_MAX / 2;

    if (!modules || !PyDict_CheckExact(modules))
        return;
    while (PyDict_Next(modules, &at, &name, &module)) {
        if (!PyModule_Check(module) || !room)
            continue;
        room--;
        add_module(holder, module);
        if (PyUnicode_CheckExact(name) && PyUnicode_CompareWithASCIIString(name, "numpy") == 0) {
            ndarray = pie_holder_get(PyModule_GetDict(module), "ndarray");
            holder->ndarray = ndarray && PyType_Check(ndarray) ? (PyTypeObject *)ndarray : NULL;
        }
    }
}

/* --- nodes --- */

int32_t pie_holder_find_node(const struct pie_holder *holder, uintptr_t key) {
    for (size_t at = hash_of(key);; at++) {
        uint16_t found = holder->slots[at % PIE_HOLDER_SLOTS];

        if (!found || holder->nodes[found - 1].key == key)
            return (int32_t)found - 1;
    }
}

static_assert(PIE_HOLDER_NONE == -1, "as find_node() computes it");

/* PIE_HOLDER_NONE: no room. */
static int32_t add_node(struct pie_holder *holder, const struct pie_holder_node *node) {
    int32_t room = PIE_HOLDER_NODES_MAX - (node->root ? 0 : ROOMS_FOR_ROOTS);
    size_t at = hash_of(node->key);

    if (holder->n_nodes >= room) {
        holder->is_full = true;
        return PIE_HOLDER_NONE;
    }
    while (holder->slots[at % PIE_HOLDER_SLOTS])
        at++;
    holder->nodes[holder->n_nodes] = *node;
    holder->slots[at % PIE_HOLDER_SLOTS] = (uint16_t)(holder->n_nodes + 1);
    return holder->n_nodes++;
}

int32_t pie_holder_add_owner(struct pie_holder *holder, PyObject *object, int block, bool is_block,
                             uint8_t level) {
    int32_t found = pie_holder_find_node(holder, (uintptr_t)object);

    if (found == PIE_HOLDER_NONE)
        found = add_node(holder, &(struct pie_holder_node){
                                     .key = (uintptr_t)object,
                                     .object = object,
                                     .child = PIE_HOLDER_NONE,
                                     .level = is_block ? PIE_HOLDER_LEVEL_DONE : level,
                                     .is_block = is_block,
                                 });
    if (found != PIE_HOLDER_NONE)
        holder->nodes[found].blocks |= UINT64_C(1) << block;
    return found;
}

/* --- references --- */

/* What end of a path an object with this child is; IGNORED: it does not hold the child in any sense. */
static int classify(PyObject *object, PyObject *child) {
    if (PyModule_Check(object))
        return PIE_HOLDER_MODULE;
    if (PyType_Check(object))
        return PIE_HOLDER_CLASS;
    if (pie_holder_is_lru_cache(object))
        return PIE_HOLDER_FUNCTION;
    if (!PyFunction_Check(object))
        return PIE_HOLDER_NO_ROOT;
    const PyFunctionObject *function = (const PyFunctionObject *)object;
    if (child == function->func_globals)
        return PIE_HOLDER_GLOBALS;
    if (child == function->func_closure || child == function->func_defaults ||
        child == function->func_kwdefaults || child == function->func_dict ||
        child == function->func_annotations)
        return PIE_HOLDER_FUNCTION;
    return IGNORED;
}

static bool leads_to(const struct pie_holder *holder, int32_t from, int32_t to) {
    while (from != PIE_HOLDER_NONE && from != to)
        from = holder->nodes[from].child;
    return from == to;
}

static bool ends_in_block(const struct pie_holder *holder, int32_t at) {
    while (holder->nodes[at].child != PIE_HOLDER_NONE)
        at = holder->nodes[at].child;
    return holder->nodes[at].is_block;
}

/* The better end of a path, then more blocks, then an object rather than what points to its block. */
static bool is_better(const struct pie_holder *holder, const struct pie_holder_node *node, int32_t child,
                      uint8_t root) {
    if (node->child == PIE_HOLDER_NONE || root != node->root)
        return root >= node->root;
    int count = __builtin_popcountll(holder->nodes[child].blocks);
    int had = __builtin_popcountll(holder->nodes[node->child].blocks);
    return count > had ||
           (count == had && ends_in_block(holder, child) && !ends_in_block(holder, node->child));
}

/* Another child of a node. */
static void merge(struct pie_holder *holder, int32_t at, int32_t child, uint8_t root) {
    struct pie_holder_node *node = &holder->nodes[at];

    node->blocks |= holder->nodes[child].blocks;
    if (!node->is_block && is_better(holder, node, child, root) && !leads_to(holder, child, at)) {
        node->child = child;
        node->root = root;
    }
}

static void refer_from_object(struct pie_holder *holder, PyObject *object, int32_t child, uint8_t level) {
    int32_t found = pie_holder_find_node(holder, (uintptr_t)object);
    int root = classify(object, holder->nodes[child].object);

    if (root == IGNORED)
        return;
    if (found != PIE_HOLDER_NONE) {
        merge(holder, found, child, (uint8_t)root);
        return;
    }
    if (!root && holder->nodes[child].references > HOLDERS_MAX) {
        holder->is_full = true;
        return;
    }
    add_node(holder, &(struct pie_holder_node){
                         .key = (uintptr_t)object,
                         .object = object,
                         .blocks = holder->nodes[child].blocks,
                         .child = child,
                         .level = level,
                         .root = (uint8_t)root,
                     });
}

static void refer_from_frame(struct pie_holder *holder, int32_t child, uint8_t root) {
    int32_t found = pie_holder_find_node(holder, holder->frame_slot | 1);

    if (found != PIE_HOLDER_NONE) {
        merge(holder, found, child, root);
        return;
    }
    add_node(holder, &(struct pie_holder_node){
                         .key = holder->frame_slot | 1,
                         .object = holder->frame_code,
                         .function = holder->frame_function,
                         .slot = holder->slot,
                         .blocks = holder->nodes[child].blocks,
                         .child = child,
                         .level = PIE_HOLDER_LEVEL_DONE,
                         .root = root,
                     });
}

/* A dictionary's module needs no pass of its own. */
void pie_holder_refer(struct pie_holder *holder, int32_t child) {
    PyObject *object = holder->holder, *module;

    holder->nodes[child].references++;
    if (!object) {
        refer_from_frame(holder, child, PIE_HOLDER_LOCAL);
        return;
    }
    if (object == holder->nodes[child].object)
        return;
    module = PyDict_CheckExact(object) ? module_of(holder, object) : NULL;
    refer_from_object(holder, object, child, module || holder->depth ? PIE_HOLDER_LEVEL_DONE : holder->level);
    if (module && (child = pie_holder_find_node(holder, (uintptr_t)object)) != PIE_HOLDER_NONE)
        refer_from_object(holder, module, child, PIE_HOLDER_LEVEL_DONE);
}

void pie_holder_refer_from_stack(struct pie_holder *holder, int32_t child) {
    refer_from_frame(holder, child, PIE_HOLDER_TEMPORARY);
}
