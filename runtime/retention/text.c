/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/retention/graph.h"

#include "runtime/retention/layout.h"

#include <string.h>

/* A path as one line, from the block to its end. What people do not think of as an object of its own is passed over:
 * the dictionary of an instance, class or module, a cell, the tuple of a function's defaults or closure; the names in
 * these are named with their owner. */

enum {
    PATH_MAX_NODES = 48,
    TYPES_MAX = 3,  /* told of a cycle */
    PERIOD_MAX = 3, /* of a repetition */
};

/* nodes[0] is the end, nodes[n - 1] the object at the block. */
struct path {
    const struct pie_retention_node *nodes[PATH_MAX_NODES];
    int n;
};

static bool is_frame(const struct pie_retention_node *node) {
    return node->root == PIE_RETENTION_LOCAL || node->root == PIE_RETENTION_TEMPORARY;
}

/* Is the i-th node of the path a part of the one before? */
static bool is_part(const struct path *path, int i) {
    PyObject *part = path->nodes[i]->object, *whole = path->nodes[i - 1]->object;

    if (PyCell_Check(part) || strcmp(Py_TYPE(part)->tp_name, "functools._lru_list_elem") == 0)
        return true;
    if (is_frame(path->nodes[i - 1]))
        return PyDict_CheckExact(part) && path->nodes[i - 1]->slot == PIE_RETENTION_NONE;
    if (PyFunction_Check(whole)) {
        const PyFunctionObject *function = (const PyFunctionObject *)whole;
        return part == function->func_closure || part == function->func_defaults ||
               part == function->func_kwdefaults || part == function->func_dict ||
               part == function->func_globals;
    }
    if (!PyDict_Check(part))
        return false;
    return pie_retention_is_lru_cache(whole) || part == pie_retention_namespace(whole);
}

/* " `name`" and what follows; without a name only `otherwise`. */
static void put_named(struct pie_retention_text *text, PyObject *name, const char *then,
                      const char *otherwise) {
    if (!name) {
        pie_retention_put(text, otherwise);
        return;
    }
    pie_retention_put(text, " `");
    pie_retention_put_string(text, name);
    pie_retention_put(text, "`");
    pie_retention_put(text, then);
}

/* The name under which the i-th node's part, a dictionary, has the node below. */
static PyObject *name_in_part(const struct path *path, int i) {
    PyObject *part = path->nodes[i + 1]->object;

    return i + 2 < path->n && PyDict_Check(part) ? pie_retention_name_in(part, path->nodes[i + 2]->object)
                                                 : NULL;
}

static Py_ssize_t index_in(PyObject *tuple, const PyObject *item) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++)
        if (PyTuple_GET_ITEM(tuple, i) == item)
            return i;
    return -1;
}

static void put_function_root(struct pie_retention_text *text, const struct path *path, int i) {
    const PyFunctionObject *function = (const PyFunctionObject *)path->nodes[i]->object;
    const PyCodeObject *code = (const PyCodeObject *)function->func_code;
    PyObject *part = path->nodes[i + 1]->object;
    const PyObject *below = i + 2 < path->n ? path->nodes[i + 2]->object : NULL;
    Py_ssize_t at = PyTuple_Check(part) ? index_in(part, below) : -1;

    if (part == function->func_closure)
        put_named(text,
                  pie_retention_local_name((PyObject *)code, code->co_nlocalsplus - code->co_nfreevars + at),
                  ", closure variable of ", " in the closure of ");
    else if (part == function->func_defaults)
        put_named(text,
                  pie_retention_local_name((PyObject *)code, code->co_argcount - PyTuple_GET_SIZE(part) + at),
                  ", default argument of ", " in the defaults of ");
    else if (part == function->func_kwdefaults)
        put_named(text, name_in_part(path, i), ", default argument of ", " in the defaults of ");
    else if (part == function->func_globals)
        put_named(text, name_in_part(path, i), ", global of ", " in the globals of ");
    else
        put_named(text, name_in_part(path, i), " of function ", " of function ");
    pie_retention_put_function(text, path->nodes[i]->object);
}

static void put_frame(struct pie_retention_text *text, const struct path *path, int i) {
    const struct pie_retention_node *node = path->nodes[i];
    const PyCodeObject *code = (const PyCodeObject *)node->object;

    if (node->root == PIE_RETENTION_TEMPORARY)
        pie_retention_put(text, ", a temporary value of ");
    else
        put_named(text,
                  node->slot == PIE_RETENTION_NONE ? name_in_part(path, i)
                                                   : pie_retention_local_name(node->object, node->slot),
                  ", local of ", ", local of ");
    if (node->function)
        pie_retention_put_function(text, node->function);
    else
        pie_retention_put_string(text, code->co_qualname);
}

/* The local variable of a suspended generator, coroutine or kept frame that has the node below. */
static PyObject *local_below(const struct path *path, int i, const struct pie_retention_frame *frame) {
    uintptr_t below = (uintptr_t)path->nodes[i + 1]->object;
    Py_ssize_t n = ((const PyCodeObject *)frame->code)->co_nlocalsplus;

    for (Py_ssize_t slot = 0; slot < n; slot++)
        if ((frame->slots[slot] & ~frame->tag_mask) == below)
            return pie_retention_local_name(frame->code, slot);
    return NULL;
}

static const char *kind_of_suspended(PyObject *object) {
    if (PyFrame_Check(object))
        return "frame ";
    return PyGen_CheckExact(object) ? "generator " : "coroutine ";
}

static bool put_suspended(struct pie_retention_text *text, const struct path *path, int i) {
    PyObject *object = path->nodes[i]->object;
    const void *at = pie_retention_frame_of(object);
    struct pie_retention_frame frame;

    if (!at)
        return false;
    pie_retention_frame_read(at, &frame);
    if (!frame.code)
        return false;
    put_named(text, local_below(path, i, &frame), ", local of ", " in ");
    pie_retention_put(text, kind_of_suspended(object));
    if (frame.function)
        pie_retention_put_function(text, frame.function);
    else
        pie_retention_put_string(text, ((const PyCodeObject *)frame.code)->co_qualname);
    return true;
}

static bool is_plain_container(PyObject *object) {
    return PyList_CheckExact(object) || PyTuple_CheckExact(object) || PyDict_CheckExact(object) ||
           PyAnySet_CheckExact(object);
}

/* " of app.Service object", or the root's own words. */
static void put_owner(struct pie_retention_text *text, const struct pie_retention_node *node) {
    if (node->root == PIE_RETENTION_MODULE) {
        pie_retention_put(text, "module ");
        pie_retention_put_module(text, node->object);
    } else if (node->root == PIE_RETENTION_CLASS) {
        pie_retention_put(text, "class ");
        pie_retention_put_type(text, (PyTypeObject *)node->object);
    } else {
        pie_retention_put_type(text, Py_TYPE(node->object));
    }
}

static void put_object(struct pie_retention_text *text, const struct path *path, int i) {
    const struct pie_retention_node *node = path->nodes[i];
    PyObject *part = path->nodes[i + 1]->object, *name = NULL;
    const char *words = NULL;
    bool is_namespace = part == pie_retention_namespace(node->object);

    if (is_namespace)
        name = name_in_part(path, i);
    else if (!is_plain_container(node->object))
        pie_retention_attribute(node->object, part, &name, &words);
    if (words) {
        pie_retention_put(text, " `");
        pie_retention_put(text, words);
        pie_retention_put(text, "` of ");
    } else {
        put_named(text, name, " of ", is_namespace ? " of " : " in ");
    }
    put_owner(text, node);
    if ((words || name || is_namespace) && !node->root)
        pie_retention_put(text, " object");
}

static void put_retention_path(struct pie_retention_text *text, const struct path *path, int i) {
    const struct pie_retention_node *node = path->nodes[i];

    if (is_frame(node)) {
        put_frame(text, path, i);
    } else if (pie_retention_is_lru_cache(node->object)) {
        pie_retention_put(text, " in lru_cache of ");
        pie_retention_put_function(text, node->object);
    } else if (PyFunction_Check(node->object) && node->root) {
        put_function_root(text, path, i);
    } else if (!put_suspended(text, path, i)) {
        put_object(text, path, i);
    }
}

static void put_bottom(struct pie_retention_text *text, const struct pie_retention_node *node) {
    if (node->is_block) {
        pie_retention_put_type(text, Py_TYPE(node->object));
    } else if (PyLong_CheckExact(node->object)) {
        pie_retention_put(text, "memory whose address is an int");
    } else {
        pie_retention_put(text, "memory of ");
        put_owner(text, node);
    }
}

/* What has been written after the object at the block: where each part begins, and the last one's end. */
struct parts {
    size_t at[PATH_MAX_NODES + 1];
    int n;
};

static bool is_repeated(const struct pie_retention_text *text, const struct parts *parts, int period) {
    if (parts->n < 2 * period)
        return false;
    const size_t *end = &parts->at[parts->n];
    size_t first = end[-2 * period], second = end[-period];
    return second - first == *end - second &&
           memcmp(text->text + first, text->text + second, second - first) == 0;
}

/* Says things once: a chain of a thousand nodes is "Node in Node", a tree of lists "Node in list `children` of
 * Node". */
static void put_unless_repeated(struct pie_retention_text *text, const struct path *path, int i,
                                struct parts *parts) {
    parts->at[parts->n++] = text->used;
    put_retention_path(text, path, i);
    parts->at[parts->n] = text->used;
    if (text->used == text->size - 1) /* cut */
        return;
    for (int period = 1; period <= PERIOD_MAX; period++)
        if (is_repeated(text, parts, period)) {
            parts->n -= period;
            text->used = parts->at[parts->n];
            text->text[text->used] = '\0';
        }
}

void pie_retention_describe(const struct pie_retention_search *search, int32_t node,
                            struct pie_retention_text *text) {
    struct path path = {.n = 0};
    struct parts parts = {.n = 0};

    for (; node != PIE_RETENTION_NONE && path.n < PATH_MAX_NODES; node = search->nodes[node].child)
        path.nodes[path.n++] = &search->nodes[node];
    if (!path.n)
        return;
    put_bottom(text, path.nodes[path.n - 1]);
    for (int i = path.n - 2; i >= 0; i--)
        if (i == 0 || !is_part(&path, i))
            put_unless_repeated(text, &path, i, &parts);
}

void pie_retention_describe_cycle(const struct pie_retention_search *search,
                                  struct pie_retention_text *text) {
    PyTypeObject *types[TYPES_MAX];
    int n = 0;
    bool more = false, first = true;

    for (int32_t i = 0; i < search->n_nodes; i++) {
        PyTypeObject *type = Py_TYPE(search->nodes[i].object);
        int at = 0;

        if (first && search->nodes[i].child == PIE_RETENTION_NONE) {
            put_bottom(text, &search->nodes[i]);
            first = false;
        }
        while (at < n && types[at] != type)
            at++;
        if (at == TYPES_MAX)
            more = true;
        else if (at == n)
            types[n++] = type;
    }
    pie_retention_put(text, " in a reference cycle of ");
    for (int i = 0; i < n; i++) {
        if (i)
            pie_retention_put(text, i == n - 1 && !more ? " and " : ", ");
        pie_retention_put_type(text, types[i]);
    }
    pie_retention_put(text, more ? " and others" : "");
    pie_retention_put(text, PyGC_IsEnabled() ? ", not freed yet by the garbage collector"
                                             : ", not freed: the garbage collector is disabled");
}
