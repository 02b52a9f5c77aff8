/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/retention/graph.h"

#include "profiler/base/safe_load.h"
#include "runtime/objects/kind.h"
#include "runtime/retention/layout.h"

#include <string.h>

/* Which blocks an object points to without their being objects: a list's items, a dictionary's table, an array's data,
 * the structure behind an extension's handle. The kinds of which there are millions have a line each here. For the
 * others each word of the fixed part is compared, by fault-tolerant loads, since some objects are allocated shorter
 * than their type says (a datetime without time zone). Nothing is followed but deques' chains of blocks. */

enum {
    SCANNED_BYTES_MAX = 1024, /* of an object */
    DEQUE_BLOCKS_MAX = 1 << 20,
    DEQUE_ITEMS = 64, /* in a block (Modules/_collectionsmodule.c) */
};

struct look {
    struct pie_retention_search *search;
    PyObject *object;
    int32_t node;
    uint8_t level;
};

static void compare(struct look *look, uintptr_t word) {
    int block = word ? pie_retention_find_block(look->search, word) : PIE_RETENTION_NONE;

    if (block != PIE_RETENTION_NONE)
        look->node = pie_retention_add_owner(look->search, look->object, block, false, look->level);
}

static void scan(struct look *look, size_t from, size_t to) {
    uintptr_t at = (uintptr_t)look->object, word;

    for (; from + sizeof word <= to; from += sizeof word)
        if (pie_safe_load((const void *)(at + from), &word))
            compare(look, word);
}

static void look_at_string(struct look *look) {
    if (PyUnicode_IS_COMPACT_ASCII(look->object))
        return;
    scan(look, sizeof(PyASCIIObject),
         PyUnicode_IS_COMPACT(look->object) ? sizeof(PyCompactUnicodeObject) : sizeof(PyUnicodeObject));
}

/* ctypes gives addresses as numbers. Small numbers are none, and are by far the most. */
static void look_at_number(struct look *look) {
    int overflow;
    long value = PyLong_AsLongAndOverflow(look->object, &overflow);

    if (!overflow && value > UINT16_MAX)
        compare(look, (uintptr_t)value);
}

static void look_at_dict(struct look *look) {
    compare(look, (uintptr_t)((PyDictObject *)look->object)->ma_keys);
    compare(look, pie_retention_dict_values_block(look->object));
}

/* Its head has the first and the last block; each begins with the one to its left and ends with the one to its
 * right. */
static void look_at_deque(struct look *look) {
    const size_t first_at = sizeof(PyVarObject);
    Py_ssize_t n = Py_SIZE(look->object) / DEQUE_ITEMS + 2;
    uintptr_t block;

    if (!pie_safe_load((const char *)look->object + first_at, &block))
        return;
    for (Py_ssize_t i = 0; block && i < n && i < DEQUE_BLOCKS_MAX; i++) {
        compare(look, block);
        if (!pie_safe_load((const void *)(block + (DEQUE_ITEMS + 1) * sizeof(void *)), &block))
            return;
    }
}

static void look_at_others(struct look *look, PyTypeObject *type) {
    size_t end = (size_t)type->tp_basicsize;
    struct pie_retention_values values;

    if (PyType_Check(look->object) && !PyType_HasFeature((PyTypeObject *)look->object, Py_TPFLAGS_HEAPTYPE))
        return;
    if (type != look->search->ordinary && strcmp(type->tp_name, "functools._lru_list_elem") == 0)
        return; /* a part of the cache, which visits its own references */
    scan(look, sizeof(PyObject), end < SCANNED_BYTES_MAX ? end : SCANNED_BYTES_MAX);
    if (pie_retention_values(look->object, &values))
        compare(look, values.block);
    if (type != look->search->ordinary && strcmp(type->tp_name, "collections.deque") == 0)
        look_at_deque(look);
    else
        look->search->ordinary = type;
}

int32_t pie_retention_look_at_memory(struct pie_retention_search *search, PyObject *object, uint8_t level) {
    struct look look = {.search = search, .object = object, .node = PIE_RETENTION_NONE, .level = level};
    PyTypeObject *type = Py_TYPE(object);

    if (type == &PyList_Type)
        compare(&look, (uintptr_t)((PyListObject *)object)->ob_item);
    else if (type == &PyDict_Type)
        look_at_dict(&look);
    else if (type == &PySet_Type || type == &PyFrozenSet_Type)
        compare(&look, (uintptr_t)((PySetObject *)object)->table);
    else if (type == &PyLong_Type)
        look_at_number(&look);
    else if (type == &PyUnicode_Type)
        look_at_string(&look);
    else if (type != &PyTuple_Type && type != &PyBytes_Type && type != &PyFloat_Type &&
             type != &PyBool_Type && type != &PyFunction_Type && type != &PyCell_Type &&
             type != &PyMethod_Type)
        look_at_others(&look, type);
    return look.node;
}

/* The base of a view, and the elements of an array of objects that owns them. NumPy's ABI fixes the order of the
 * members (ndarraytypes.h). */
int pie_retention_visit_array(PyObject *array, visitproc visit, void *arg) {
    const struct {
        PyObject head;
        PyObject *const *data;
        int n_dimensions;
        void *dimensions, *strides;
        PyObject *base, *dtype;
    } *members = (const void *)array;
    const size_t character_at = sizeof(PyObject) + sizeof(void *) + 1;
    uintptr_t low, high;

    if (members->base)
        return visit(members->base, arg);
    if (!members->dtype || ((const char *)members->dtype)[character_at] != 'O' ||
        !pie_object_array_data((uintptr_t)array, &low, &high))
        return 0;
    for (; low + sizeof(PyObject *) <= high; low += sizeof(PyObject *)) {
        PyObject *element = *(PyObject *const *)low;
        int r = element ? visit(element, arg) : 0;
        if (r)
            return r;
    }
    return 0;
}
