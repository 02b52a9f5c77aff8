/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/holder/holder.h"

#include "profiler/base/clocks.h"
#include "profiler/base/own_memory.h"
#include "runtime/holder/graph.h"
#include "runtime/holder/layout.h"

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
static bool tick(struct pie_holder *holder) {
    if (--holder->until_clock)
        return holder->is_late;
    holder->until_clock = REFERENCES_PER_CLOCK;
    holder->is_late = holder->is_late || pie_thread_cpu_ns() >= holder->deadline_ns;
    return holder->is_late;
}

/* References to an object that have not been seen; 0 for one that lives for ever. */
static Py_ssize_t unseen(const struct pie_holder_node *node) {
    Py_ssize_t count = Py_REFCNT(node->object);

    return count < INT32_MAX / 4 ? count - (Py_ssize_t)node->references : 0;
}

/* --- the first pass --- */

static int visit_first(PyObject *object, void *arg);

/* An untracked object, once. Returns its node if it leads to a block. */
static int32_t look_into(struct pie_holder *holder, PyObject *object, int32_t node) {
    PyTypeObject *type = Py_TYPE(object);
    PyObject *above = holder->holder;
    int32_t found;

    if (node == PIE_HOLDER_NONE)
        node = pie_holder_find_node(holder, (uintptr_t)object);
    if (node != PIE_HOLDER_NONE && holder->nodes[node].is_looked_into)
        return node;
    found = pie_holder_look_at_memory(holder, object, PIE_HOLDER_LEVEL_DONE);
    node = found != PIE_HOLDER_NONE ? found : node;
    if (holder->depth < DEPTH_MAX) {
        holder->depth++;
        holder->holder = object;
        if (type == &PyTuple_Type || type == &PyDict_Type)
            type->tp_traverse(object, visit_first, holder);
        else if (holder->ndarray && (type == holder->ndarray || type->tp_base == holder->ndarray))
            pie_holder_visit_array(object, visit_first, holder);
        holder->holder = above;
        holder->depth--;
        if (node == PIE_HOLDER_NONE)
            node = pie_holder_find_node(holder, (uintptr_t)object);
    }
    if (node != PIE_HOLDER_NONE)
        holder->nodes[node].is_looked_into = true;
    return node;
}

static bool is_gc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);

    return PyType_IS_GC(type) && (!type->tp_is_gc || type->tp_is_gc(object));
}

static int32_t find_in_block(struct pie_holder *holder, PyObject *object, bool has_gc) {
    size_t header = has_gc ? pie_holder_header_bytes(Py_TYPE(object)) : 0;
    int block = pie_holder_find_block(holder, (uintptr_t)object - header);

    if (block == PIE_HOLDER_NONE)
        return PIE_HOLDER_NONE;
    return pie_holder_add_owner(holder, object, block, true, PIE_HOLDER_LEVEL_DONE);
}

static int visit_first(PyObject *object, void *arg) {
    struct pie_holder *holder = arg;
    bool has_gc = is_gc(object);
    int32_t node;

    if (tick(holder))
        return 1;
    node = find_in_block(holder, object, has_gc);
    if (!has_gc || !pie_holder_is_tracked(object))
        node = look_into(holder, object, node);
    if (node != PIE_HOLDER_NONE)
        pie_holder_refer(holder, node);
    return 0;
}

/* Has a tracked object visit all that it refers to. */
static void traverse(struct pie_holder *holder, PyObject *object, visitproc visit) {
    traverseproc tell = Py_TYPE(object)->tp_traverse;
    PyObject *dict = pie_holder_untraversed_dict(object);

    holder->holder = object;
    if (tell)
        tell(object, visit, holder);
    if (dict)
        visit(dict, holder);
}

static bool show_first(PyObject *object, void *arg) {
    struct pie_holder *holder = arg;

    find_in_block(holder, object, true);
    pie_holder_look_at_memory(holder, object, holder->level);
    traverse(holder, object, visit_first);
    return !tick(holder);
}

/* --- the later ones --- */

static int visit_later(PyObject *object, void *arg) {
    struct pie_holder *holder = arg;
    int32_t node;

    if (tick(holder))
        return 1;
    node = pie_holder_find_node(holder, (uintptr_t)object);
    if (node != PIE_HOLDER_NONE && holder->nodes[node].level == holder->level - 1)
        pie_holder_refer(holder, node);
    return 0;
}

static bool show_later(PyObject *object, void *arg) {
    struct pie_holder *holder = arg;

    traverse(holder, object, visit_later);
    return !tick(holder);
}

/* --- frames --- */

static void visit_locals(struct pie_holder *holder, const struct pie_holder_frame *frame, visitproc visit) {
    int n = ((const PyCodeObject *)frame->code)->co_nlocalsplus;

    if (frame->locals) {
        holder->slot = PIE_HOLDER_NONE;
        holder->frame_slot = (uintptr_t)frame->slots - sizeof(uintptr_t);
        visit(frame->locals, holder);
    }
    for (int i = 0; i < n; i++) {
        uintptr_t word = frame->slots[i];

        holder->slot = i;
        holder->frame_slot = (uintptr_t)&frame->slots[i];
        if ((word & ~frame->tag_mask) && (!frame->tag_mask || (word & frame->tag_mask) != INT_TAG))
            visit((PyObject *)(word & ~frame->tag_mask), holder);
    }
}

/* After all else of a pass, when the objects that it looks for are known, and most of their references. A word is stale
 * if there is no reference left that it could be. */
static void compare_stack(struct pie_holder *holder, const struct pie_holder_frame *frame) {
    const PyCodeObject *code = (const PyCodeObject *)frame->code;

    for (int i = code->co_nlocalsplus; i < code->co_nlocalsplus + code->co_stacksize; i++) {
        int32_t node = pie_holder_find_node(holder, frame->slots[i] & ~frame->tag_mask);

        holder->slot = i;
        holder->frame_slot = (uintptr_t)&frame->slots[i];
        if (node != PIE_HOLDER_NONE && !holder->nodes[node].root && unseen(&holder->nodes[node]) > 0 &&
            (holder->nodes[node].level == PIE_HOLDER_LEVEL_DONE || holder->nodes[node].level < holder->level))
            pie_holder_refer_from_stack(holder, node);
    }
}

static void visit_frames(struct pie_holder *holder, visitproc visit) {
    PyThreadState *tstate = PyInterpreterState_ThreadHead(PyInterpreterState_Main());

    holder->holder = NULL;
    for (; tstate; tstate = PyThreadState_Next(tstate)) {
        struct pie_holder_frame frame;

        for (const void *at = pie_holder_frame_first(tstate); at; at = frame.previous) {
            pie_holder_frame_read(at, &frame);
            if (!frame.code)
                continue;
            holder->frame_code = frame.code;
            holder->frame_function = frame.function;
            if (visit)
                visit_locals(holder, &frame, visit);
            else
                compare_stack(holder, &frame);
        }
    }
}

static void pass(struct pie_holder *holder, visitproc visit, bool (*show)(PyObject *, void *)) {
    holder->level++;
    pie_holder_heap_visit(show, holder);
    visit_frames(holder, visit);
    visit_frames(holder, NULL);
}

/* --- judging --- */

static int count_of(uint64_t blocks) {
    return __builtin_popcountll(blocks);
}

static uint64_t blocks_found(const struct pie_holder *holder) {
    uint64_t blocks = 0;

    for (int32_t i = 0; i < holder->n_nodes; i++)
        blocks |= holder->nodes[i].blocks;
    return blocks;
}

/* Half of what was found, then an end that lasts, then more of it, then the better end. */
static int score(const struct pie_holder_node *node, int found) {
    int count = count_of(node->blocks);

    return (2 * count >= found) << 24 | (node->root >= PIE_HOLDER_LASTING) << 16 | count << 8 | node->root;
}

static int32_t best_root(const struct pie_holder *holder, int found) {
    int32_t best = PIE_HOLDER_NONE;

    for (int32_t i = 0; i < holder->n_nodes; i++)
        if (holder->nodes[i].root &&
            (best == PIE_HOLDER_NONE || score(&holder->nodes[i], found) > score(&holder->nodes[best], found)))
            best = i;
    return best;
}

static bool is_good(const struct pie_holder *holder, int32_t node, int found) {
    return node != PIE_HOLDER_NONE && holder->nodes[node].root >= PIE_HOLDER_LASTING &&
           2 * count_of(holder->nodes[node].blocks) >= found;
}

/* Is there anything whose holders have not been looked for? */
static bool is_open(const struct pie_holder *holder) {
    for (int32_t i = 0; i < holder->n_nodes; i++)
        if (!holder->nodes[i].root && holder->nodes[i].level == holder->level)
            return true;
    return false;
}

/* The highest node that leads to the most blocks; of those with references that have not been seen if only_unseen. */
static int32_t best_top(const struct pie_holder *holder, bool only_unseen) {
    int32_t best = PIE_HOLDER_NONE;

    for (int32_t i = 0; i < holder->n_nodes; i++)
        if (!holder->nodes[i].root && (!only_unseen || unseen(&holder->nodes[i]) > 0) &&
            (best == PIE_HOLDER_NONE ||
             count_of(holder->nodes[i].blocks) >= count_of(holder->nodes[best].blocks)))
            best = i;
    return best;
}

static void put_native(struct pie_holder_text *text, const struct pie_holder_node *node) {
    char words[64];

    snprintf(words, sizeof words, ", held by native code (%zd reference%s)", unseen(node),
             unseen(node) == 1 ? "" : "s");
    pie_holder_put(text, words);
}

/* A frame that has a few of them at the moment says less than the holder of the others. */
static void tell(const struct pie_holder *holder, int32_t root, int found, struct pie_holder_text *text) {
    bool is_known = !holder->is_late && !holder->is_full && !is_open(holder);
    int32_t native = is_known ? best_top(holder, true) : PIE_HOLDER_NONE;
    bool is_weak = root == PIE_HOLDER_NONE || (holder->nodes[root].root < PIE_HOLDER_LASTING &&
                                               2 * count_of(holder->nodes[root].blocks) < found);

    if (is_weak && native != PIE_HOLDER_NONE) {
        pie_holder_describe(holder, native, text);
        put_native(text, &holder->nodes[native]);
    } else if (root != PIE_HOLDER_NONE) {
        pie_holder_describe(holder, root, text);
    } else if (is_known) {
        pie_holder_describe_cycle(holder, text);
    } else {
        pie_holder_describe(holder, best_top(holder, false), text);
        pie_holder_put(text, ", …");
    }
}

static int look(struct pie_holder *holder, struct pie_holder_text *text) {
    int32_t root = PIE_HOLDER_NONE;
    int found;

    pie_holder_set_modules(holder);
    pass(holder, visit_first, show_first);
    found = count_of(blocks_found(holder));
    root = best_root(holder, found);
    while (found && !holder->is_late && !is_good(holder, root, found) && is_open(holder) &&
           holder->level < LEVELS_MAX) {
        pass(holder, visit_later, show_later);
        root = best_root(holder, found);
    }
    if (found)
        tell(holder, root, found, text);
    return holder->is_late ? -ETIME : found ? 0 : -ENOENT;
}

int pie_holder_find(const uintptr_t *blocks, size_t count, uint64_t budget_ns, char *text, size_t size) {
    struct pie_holder_text writer = {.text = text, .size = size};
    struct pie_holder *holder;
    int r;

    text[0] = '\0';
    if (pie_holder_heap_is_collecting())
        return -EAGAIN;
    holder = pie_calloc(1, sizeof *holder);
    if (!holder)
        return -ENOMEM;
    pie_holder_set_blocks(holder, blocks, count);
    holder->until_clock = REFERENCES_PER_CLOCK;
    holder->deadline_ns = pie_thread_cpu_ns() + budget_ns;
    r = look(holder, &writer);
    pie_free(holder);
    return r;
}
