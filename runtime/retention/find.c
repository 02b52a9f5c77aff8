/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/retention/retention.h"

#include "profiler/base/clocks.h"
#include "profiler/base/own_memory.h"
#include "runtime/retention/graph.h"
#include "runtime/retention/layout.h"

#include <errno.h>

/* Nothing in Python says who refers to an object, so all objects are asked what they refer to (tp_traverse), once for
 * each step of the path. The first pass knows addresses only: it finds the objects that are in the blocks or point to
 * them, and what refers to the former. It looks into what the garbage collector does not track as well, which hangs off
 * tracked objects: numbers, strings and bytes, tuples and dictionaries of those, arrays. What is untracked is held by
 * tracked objects through untracked ones only, so the later passes need not touch more than the tracked objects.
 *
 * Frames of running functions are no objects; those of all threads are gone through in each pass. Their evaluation
 * stacks are compared as words only, since what lies above the top is stale.
 *
 * The passes end at a module, class or function that leads to at least half of the blocks, or when nothing new is
 * found. A frame does not end them: a local variable that has the object for a moment may not be what keeps it. What
 * then has more references than have been seen is held by native code; where all have been seen, and nothing but the
 * found objects refers to them, they are garbage that has not been collected.
 *
 * The clock is read once in a number of references. */

enum {
    LEVELS_MAX = 40,
    DEPTH_MAX = 8, /* of untracked containers in each other */
    REFERENCES_PER_CLOCK = 4096,
    INT_TAG = 3, /* in a slot: a number, no address (3.14) */
};

/* True when the time is over. */
static bool tick(struct pie_retention_search *search) {
    if (--search->until_clock)
        return search->is_late;
    search->until_clock = REFERENCES_PER_CLOCK;
    search->is_late = search->is_late || pie_thread_cpu_ns() >= search->deadline_ns;
    return search->is_late;
}

/* References to an object that have not been seen; 0 for one that lives for ever. */
static Py_ssize_t unseen(const struct pie_retention_node *node) {
    Py_ssize_t count = Py_REFCNT(node->object);

    return count < INT32_MAX / 4 ? count - (Py_ssize_t)node->references : 0;
}

/* --- the first pass --- */

static int visit_first(PyObject *object, void *arg);

/* An untracked object, once. Returns its node if it leads to a block. */
static int32_t look_into(struct pie_retention_search *search, PyObject *object, int32_t node) {
    PyTypeObject *type = Py_TYPE(object);
    PyObject *above = search->referrer;
    int32_t found;

    if (node == PIE_RETENTION_NONE)
        node = pie_retention_find_node(search, (uintptr_t)object);
    if (node != PIE_RETENTION_NONE && search->nodes[node].is_looked_into)
        return node;
    found = pie_retention_look_at_memory(search, object, PIE_RETENTION_LEVEL_DONE);
    node = found != PIE_RETENTION_NONE ? found : node;
    if (search->depth < DEPTH_MAX) {
        search->depth++;
        search->referrer = object;
        if (type == &PyTuple_Type || type == &PyDict_Type)
            type->tp_traverse(object, visit_first, search);
        else if (search->ndarray && (type == search->ndarray || type->tp_base == search->ndarray))
            pie_retention_visit_array(object, visit_first, search);
        search->referrer = above;
        search->depth--;
        if (node == PIE_RETENTION_NONE)
            node = pie_retention_find_node(search, (uintptr_t)object);
    }
    if (node != PIE_RETENTION_NONE)
        search->nodes[node].is_looked_into = true;
    return node;
}

static bool is_gc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);

    return PyType_IS_GC(type) && (!type->tp_is_gc || type->tp_is_gc(object));
}

static int32_t find_in_block(struct pie_retention_search *search, PyObject *object, bool has_gc) {
    size_t header = has_gc ? pie_retention_header_bytes(Py_TYPE(object)) : 0;
    int block = pie_retention_find_block(search, (uintptr_t)object - header);

    if (block == PIE_RETENTION_NONE)
        return PIE_RETENTION_NONE;
    return pie_retention_add_owner(search, object, block, true, PIE_RETENTION_LEVEL_DONE);
}

static int visit_first(PyObject *object, void *arg) {
    struct pie_retention_search *search = arg;
    bool has_gc = is_gc(object);
    int32_t node;

    if (tick(search))
        return 1;
    node = find_in_block(search, object, has_gc);
    if (!has_gc || !pie_retention_is_tracked(object))
        node = look_into(search, object, node);
    if (node != PIE_RETENTION_NONE)
        pie_retention_refer(search, node);
    return 0;
}

/* Has a tracked object visit all that it refers to. */
static void traverse(struct pie_retention_search *search, PyObject *object, visitproc visit) {
    traverseproc tell = Py_TYPE(object)->tp_traverse;
    PyObject *dict = pie_retention_untraversed_dict(object);

    search->referrer = object;
    if (tell)
        tell(object, visit, search);
    if (dict)
        visit(dict, search);
}

static bool show_first(PyObject *object, void *arg) {
    struct pie_retention_search *search = arg;

    find_in_block(search, object, true);
    pie_retention_look_at_memory(search, object, search->level);
    traverse(search, object, visit_first);
    return !tick(search);
}

/* --- the later ones --- */

static int visit_later(PyObject *object, void *arg) {
    struct pie_retention_search *search = arg;
    int32_t node;

    if (tick(search))
        return 1;
    node = pie_retention_find_node(search, (uintptr_t)object);
    if (node != PIE_RETENTION_NONE && search->nodes[node].level == search->level - 1)
        pie_retention_refer(search, node);
    return 0;
}

static bool show_later(PyObject *object, void *arg) {
    struct pie_retention_search *search = arg;

    traverse(search, object, visit_later);
    return !tick(search);
}

/* --- frames --- */

static void visit_locals(struct pie_retention_search *search, const struct pie_retention_frame *frame,
                         visitproc visit) {
    int n = ((const PyCodeObject *)frame->code)->co_nlocalsplus;

    if (frame->locals) {
        search->slot = PIE_RETENTION_NONE;
        search->frame_slot = (uintptr_t)frame->slots - sizeof(uintptr_t);
        visit(frame->locals, search);
    }
    for (int i = 0; i < n; i++) {
        uintptr_t word = frame->slots[i];

        search->slot = i;
        search->frame_slot = (uintptr_t)&frame->slots[i];
        if ((word & ~frame->tag_mask) && (!frame->tag_mask || (word & frame->tag_mask) != INT_TAG))
            visit((PyObject *)(word & ~frame->tag_mask), search);
    }
}

/* After all else of a pass, when the objects that it looks for are known, and most of their references. A word is stale
 * if there is no reference left that it could be. */
static void compare_stack(struct pie_retention_search *search, const struct pie_retention_frame *frame) {
    const PyCodeObject *code = (const PyCodeObject *)frame->code;

    for (int i = code->co_nlocalsplus; i < code->co_nlocalsplus + code->co_stacksize; i++) {
        int32_t node = pie_retention_find_node(search, frame->slots[i] & ~frame->tag_mask);

        search->slot = i;
        search->frame_slot = (uintptr_t)&frame->slots[i];
        if (node != PIE_RETENTION_NONE && !search->nodes[node].root && unseen(&search->nodes[node]) > 0 &&
            (search->nodes[node].level == PIE_RETENTION_LEVEL_DONE ||
             search->nodes[node].level < search->level))
            pie_retention_refer_from_stack(search, node);
    }
}

static void visit_frames(struct pie_retention_search *search, visitproc visit) {
    PyThreadState *tstate = PyInterpreterState_ThreadHead(PyInterpreterState_Main());

    search->referrer = NULL;
    for (; tstate; tstate = PyThreadState_Next(tstate)) {
        struct pie_retention_frame frame;

        for (const void *at = pie_retention_frame_first(tstate); at; at = frame.previous) {
            pie_retention_frame_read(at, &frame);
            if (!frame.code)
                continue;
            search->frame_code = frame.code;
            search->frame_function = frame.function;
            if (visit)
                visit_locals(search, &frame, visit);
            else
                compare_stack(search, &frame);
        }
    }
}

static void pass(struct pie_retention_search *search, visitproc visit, bool (*show)(PyObject *, void *)) {
    search->level++;
    pie_retention_heap_visit(show, search);
    visit_frames(search, visit);
    visit_frames(search, NULL);
}

/* --- judging --- */

static int count_of(uint64_t blocks) {
    return __builtin_popcountll(blocks);
}

static uint64_t blocks_found(const struct pie_retention_search *search) {
    uint64_t blocks = 0;

    for (int32_t i = 0; i < search->n_nodes; i++)
        blocks |= search->nodes[i].blocks;
    return blocks;
}

/* Half of what was found, then an end that lasts, then more of it, then the better end. */
static int score(const struct pie_retention_node *node, int found) {
    int count = count_of(node->blocks);

    return (2 * count >= found) << 24 | (node->root >= PIE_RETENTION_LASTING) << 16 | count << 8 | node->root;
}

static int32_t best_root(const struct pie_retention_search *search, int found) {
    int32_t best = PIE_RETENTION_NONE;

    for (int32_t i = 0; i < search->n_nodes; i++)
        if (search->nodes[i].root && (best == PIE_RETENTION_NONE ||
                                      score(&search->nodes[i], found) > score(&search->nodes[best], found)))
            best = i;
    return best;
}

static bool is_good(const struct pie_retention_search *search, int32_t node, int found) {
    return node != PIE_RETENTION_NONE && search->nodes[node].root >= PIE_RETENTION_LASTING &&
           2 * count_of(search->nodes[node].blocks) >= found;
}

/* Is there anything whose referrers have not been looked for? */
static bool is_open(const struct pie_retention_search *search) {
    for (int32_t i = 0; i < search->n_nodes; i++)
        if (!search->nodes[i].root && search->nodes[i].level == search->level)
            return true;
    return false;
}

/* The highest node that leads to the most blocks; of those with references that have not been seen if only_unseen. */
static int32_t best_top(const struct pie_retention_search *search, bool only_unseen) {
    int32_t best = PIE_RETENTION_NONE;

    for (int32_t i = 0; i < search->n_nodes; i++)
        if (!search->nodes[i].root && (!only_unseen || unseen(&search->nodes[i]) > 0) &&
            (best == PIE_RETENTION_NONE ||
             count_of(search->nodes[i].blocks) >= count_of(search->nodes[best].blocks)))
            best = i;
    return best;
}

static void put_native(struct pie_retention_text *text, const struct pie_retention_node *node) {
    char words[64];

    snprintf(words, sizeof words, ", held by native code (%zd reference%s)", unseen(node),
             unseen(node) == 1 ? "" : "s");
    pie_retention_put(text, words);
}

/* A frame that has a few of them at the moment says less than the path to the others. */
static void tell(const struct pie_retention_search *search, int32_t root, int found,
                 struct pie_retention_text *text) {
    bool is_known = !search->is_late && !search->is_full && !is_open(search);
    int32_t native = is_known ? best_top(search, true) : PIE_RETENTION_NONE;
    bool is_weak = root == PIE_RETENTION_NONE || (search->nodes[root].root < PIE_RETENTION_LASTING &&
                                                  2 * count_of(search->nodes[root].blocks) < found);

    if (is_weak && native != PIE_RETENTION_NONE) {
        pie_retention_describe(search, native, text);
        put_native(text, &search->nodes[native]);
    } else if (root != PIE_RETENTION_NONE) {
        pie_retention_describe(search, root, text);
    } else if (is_known) {
        pie_retention_describe_cycle(search, text);
    } else {
        pie_retention_describe(search, best_top(search, false), text);
        pie_retention_put(text, ", …");
    }
}

static int look(struct pie_retention_search *search, struct pie_retention_text *text) {
    int32_t root = PIE_RETENTION_NONE;
    int found;

    pie_retention_set_modules(search);
    pass(search, visit_first, show_first);
    found = count_of(blocks_found(search));
    root = best_root(search, found);
    while (found && !search->is_late && !is_good(search, root, found) && is_open(search) &&
           search->level < LEVELS_MAX) {
        pass(search, visit_later, show_later);
        root = best_root(search, found);
    }
    if (found)
        tell(search, root, found, text);
    return search->is_late ? -ETIME : found ? 0 : -ENOENT;
}

int pie_retention_find(const uintptr_t *blocks, size_t count, uint64_t budget_ns, char *text, size_t size) {
    struct pie_retention_text writer = {.text = text, .size = size};
    struct pie_retention_search *search;
    int r;

    text[0] = '\0';
    if (pie_retention_heap_is_collecting())
        return -EAGAIN;
    search = pie_calloc(1, sizeof *search);
    if (!search)
        return -ENOMEM;
    pie_retention_set_blocks(search, blocks, count);
    search->until_clock = REFERENCES_PER_CLOCK;
    search->deadline_ns = pie_thread_cpu_ns() + budget_ns;
    r = look(search, &writer);
    pie_free(search);
    return r;
}
