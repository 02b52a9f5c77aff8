/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#if PY_VERSION_HEX >= 0x030d0000
#define Py_BUILD_CORE 1
#include <internal/pycore_pyhash.h>
#include <internal/pycore_setobject.h>
#undef Py_BUILD_CORE
#endif
#include <datetime.h>

#include "runtime/confirm/digest.h"

#include <string.h>

#include "profiler/base/hash.h"

/* Equality by content, for types whose content can be read in C: no __eq__, __hash__ or __buffer__ of the program's
 * runs. A type must be exactly one of these; a subclass may mean something else by the same content. Short
 * bytes are hashed by Python's own hash of bytes, which is keyed anew in each process. */

enum { DEPTH_MAX = 32, ITEM_BUDGET = 64 };

/* Long content is hashed in lanes, whose multiplications go on at the same time. */
enum { LANES = 4, LONG_BYTES = 1024 };
static const uint64_t LANE_FACTOR =
    UINT64_C(0x9e3779b97f4a7c15); /* the golden ratio: odd, bits of no pattern */

static void mix(struct pie_confirm_digest *digest, uint64_t word) {
    digest->hash = pie_hash_mix(digest->hash, word);
}

static bool spend(struct pie_confirm_digest *digest, size_t amount) {
    if (amount > digest->budget) {
        digest->budget = 0;
        digest->is_value = false;
        return false;
    }
    digest->budget -= amount;
    return true;
}

/* Every step is one-to-one, so one word that differs changes its lane for certain. Returns the bytes that were hashed:
 * the rest is less than a round. */
static size_t add_lanes(struct pie_confirm_digest *digest, const unsigned char *bytes, size_t size) {
    uint64_t lanes[LANES] = {1, 2, 3, 4};
    size_t at = 0;

    for (; at + sizeof lanes <= size; at += sizeof lanes) {
        uint64_t words[LANES];
        memcpy(words, bytes + at, sizeof words);
        for (int i = 0; i < LANES; i++) {
            lanes[i] = (lanes[i] ^ words[i]) * LANE_FACTOR;
            lanes[i] ^= lanes[i] >> 29;
        }
    }
    for (int i = 0; i < LANES; i++)
        mix(digest, lanes[i]);
    return at;
}

#if PY_VERSION_HEX < 0x030e0000
#define Py_HashBuffer _Py_HashBytes
#endif

void pie_confirm_digest_add_bytes(struct pie_confirm_digest *digest, const void *bytes, size_t size) {
    mix(digest, size);
    digest->size_bytes += size;
    if (!spend(digest, size))
        return;
    size_t done = size >= LONG_BYTES ? add_lanes(digest, bytes, size) : 0;
    mix(digest, (uint64_t)Py_HashBuffer((const char *)bytes + done, (Py_ssize_t)(size - done)));
}

void pie_confirm_digest_begin(struct pie_confirm_digest *digest, size_t budget) {
    *digest = (struct pie_confirm_digest){.is_value = true, .is_single = true, .budget = budget};
}

/* Objects that cannot change: the same one is the same value. */
static void add_constant(struct pie_confirm_digest *digest, PyObject *object) {
    mix(digest, (uintptr_t)object);
}

void pie_confirm_digest_add_identity(struct pie_confirm_digest *digest, PyObject *object) {
    mix(digest, (uintptr_t)object);
    digest->is_value = false;
}

/* --- Numbers --- */

/* The hash of an int is its remainder, which with the lower bits and the length leaves no likely twin. */
static void add_int(struct pie_confirm_digest *digest, PyObject *object) {
    mix(digest, (uint64_t)PyLong_Type.tp_hash(object));
    mix(digest, PyLong_AsUnsignedLongLongMask(object));
    mix(digest, _PyLong_NumBits(object));
}

static void add_double(struct pie_confirm_digest *digest, double value) {
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    mix(digest, bits);
}

static bool add_number(struct pie_confirm_digest *digest, PyObject *object) {
    if (PyLong_CheckExact(object)) {
        add_int(digest, object);
    } else if (PyFloat_CheckExact(object)) {
        add_double(digest, PyFloat_AS_DOUBLE(object));
    } else if (PyComplex_CheckExact(object)) {
        add_double(digest, ((PyComplexObject *)object)->cval.real);
        add_double(digest, ((PyComplexObject *)object)->cval.imag);
    } else {
        return false;
    }
    return true;
}

/* --- Text and bytes --- */

/* An object of bytes keeps its hash, so one that is passed again and again is read once. */
static void add_kept_bytes(struct pie_confirm_digest *digest, PyObject *object) {
    size_t size = (size_t)PyBytes_GET_SIZE(object);
    _Py_COMP_DIAG_PUSH _Py_COMP_DIAG_IGNORE_DEPR_DECLS bool is_known =
        ((PyBytesObject *)object)->ob_shash != -1;
    _Py_COMP_DIAG_POP

        mix(digest, size);
    digest->size_bytes += size;
    if (is_known || spend(digest, size))
        mix(digest, (uint64_t)PyBytes_Type.tp_hash(object));
}

/* A str keeps it too. But one that has it is never made longer in place, so it is only used where the program has asked
 * for it. */
static void add_str(struct pie_confirm_digest *digest, PyObject *object) {
    size_t size = (size_t)PyUnicode_GET_LENGTH(object) * PyUnicode_KIND(object);
    Py_hash_t known = ((PyASCIIObject *)object)->hash;

    mix(digest, PyUnicode_KIND(object));
    if (known == -1) {
        pie_confirm_digest_add_bytes(digest, PyUnicode_DATA(object), size);
        return;
    }
    mix(digest, size);
    digest->size_bytes += size;
    mix(digest, (uint64_t)known);
}

static bool add_text(struct pie_confirm_digest *digest, PyObject *object) {
    size_t before_bytes = digest->size_bytes;

    if (PyBytes_CheckExact(object)) {
        add_kept_bytes(digest, object);
    } else if (PyByteArray_CheckExact(object)) {
        pie_confirm_digest_add_bytes(digest, PyByteArray_AS_STRING(object),
                                     (size_t)PyByteArray_GET_SIZE(object));
    } else if (PyUnicode_CheckExact(object) && PyUnicode_IS_READY(object)) {
        add_str(digest, object);
    } else {
        return false;
    }
    digest->text_bytes += digest->size_bytes - before_bytes;
    digest->is_single = false;
    return true;
}

static void add_items(struct pie_confirm_digest *digest, PyObject **items, Py_ssize_t count) {
    mix(digest, (uint64_t)count);
    digest->size_bytes += (size_t)count * sizeof *items;
    for (Py_ssize_t i = 0; i < count && digest->budget; i++)
        pie_confirm_digest_add(digest, items[i]);
}

/* --- Buffers --- */

static bool is_named(PyObject *object, const char *name) {
    return strcmp(Py_TYPE(object)->tp_name, name) == 0;
}

/* A scalar type of NumPy itself: numpy.float64. */
static bool is_numpy_scalar(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);

    return strncmp(type->tp_name, "numpy.", 6) == 0 && !PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) &&
           type->tp_as_buffer && type->tp_as_buffer->bf_getbuffer && !is_named(object, "numpy.ndarray") &&
           !is_named(object, "numpy.void") && !is_named(object, "numpy.object_");
}

static bool is_buffer(PyObject *object) {
    bool is_static = !PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE);

    return PyMemoryView_Check(object) || (is_static && is_named(object, "numpy.ndarray")) ||
           is_named(object, "array.array") || is_numpy_scalar(object);
}

/* Elements that are pointers say nothing by their bytes. */
static bool has_values(const Py_buffer *view) {
    return !view->format || !strchr(view->format, 'O');
}

static bool has_only_objects(const Py_buffer *view) {
    return view->format && strcmp(view->format, "O") == 0 && view->itemsize == sizeof(PyObject *) &&
           PyBuffer_IsContiguous(view, 'C');
}

/* What lies in pieces is copied together. */
static void add_pieces(struct pie_confirm_digest *digest, Py_buffer *view) {
    void *copy = (size_t)view->len <= digest->budget ? PyMem_RawMalloc((size_t)view->len + 1) : NULL;

    if (copy && PyBuffer_ToContiguous(copy, view, view->len, 'C') == 0) {
        pie_confirm_digest_add_bytes(digest, copy, (size_t)view->len);
    } else {
        PyErr_Clear();
        digest->size_bytes += (size_t)view->len;
        digest->is_value = false;
    }
    PyMem_RawFree(copy);
}

static void add_view(struct pie_confirm_digest *digest, Py_buffer *view) {
    for (int i = 0; i < view->ndim && view->shape; i++)
        mix(digest, (uint64_t)view->shape[i]);
    if (view->format)
        pie_confirm_digest_add_bytes(digest, view->format, strlen(view->format));
    if (has_values(view) && view->itemsize > 0 && (size_t)(view->len / view->itemsize) > digest->elements)
        digest->elements = (size_t)(view->len / view->itemsize);
    if (has_only_objects(view))
        add_items(digest, view->buf, view->len / view->itemsize);
    else if (!has_values(view))
        digest->is_value = false;
    else if (PyBuffer_IsContiguous(view, 'C'))
        pie_confirm_digest_add_bytes(digest, view->buf, (size_t)view->len);
    else
        add_pieces(digest, view);
}

static bool add_buffer(struct pie_confirm_digest *digest, PyObject *object) {
    Py_buffer view;

    if (!is_buffer(object))
        return false;
    if (PyObject_GetBuffer(object, &view, PyBUF_FULL_RO) < 0) { /* dates, and a released view */
        PyErr_Clear();
        pie_confirm_digest_add_identity(digest, object);
        return true;
    }
    digest->is_single = digest->is_single && view.itemsize == view.len && view.ndim == 0;
    add_view(digest, &view);
    PyBuffer_Release(&view);
    return true;
}

/* --- Containers --- */

static void add_dict(struct pie_confirm_digest *digest, PyObject *dict) {
    PyObject *key, *value;
    Py_ssize_t at = 0;

    mix(digest, (uint64_t)PyDict_GET_SIZE(dict));
    digest->size_bytes += 2 * sizeof dict * (size_t)PyDict_GET_SIZE(dict);
    while (digest->budget && PyDict_Next(dict, &at, &key, &value)) {
        pie_confirm_digest_add(digest, key);
        pie_confirm_digest_add(digest, value);
    }
}

/* In any order. */
static void add_set(struct pie_confirm_digest *digest, PyObject *set) {
    Py_ssize_t at = 0;
    Py_hash_t hash;
    uint64_t sum = 0;
    PyObject *item;

    mix(digest, (uint64_t)PySet_GET_SIZE(set));
    digest->size_bytes += sizeof set * (size_t)PySet_GET_SIZE(set);
    while (digest->budget && _PySet_NextEntry(set, &at, &item, &hash)) {
        struct pie_confirm_digest one = *digest;
        one.hash = 0;
        pie_confirm_digest_add(&one, item);
        sum += one.hash;
        digest->budget = one.budget;
        digest->is_value = one.is_value;
        digest->size_bytes = one.size_bytes;
        digest->text_bytes = one.text_bytes;
    }
    mix(digest, sum);
}

/* How an iterator over a list or tuple is laid out (Objects/listobject.c, tupleobject.c). */
struct iterator {
    PyObject head;
    Py_ssize_t index;
    PyObject *sequence; /* NULL: it is over */
};

/* What is still to come. */
static void add_iterator(struct pie_confirm_digest *digest, PyObject *object) {
    const struct iterator *iterator = (const struct iterator *)object;
    PyObject *sequence = iterator->sequence;
    Py_ssize_t count = sequence ? Py_SIZE(sequence) - iterator->index : 0;

    if (count > 0)
        add_items(digest, PySequence_Fast_ITEMS(sequence) + iterator->index, count);
}

static bool is_dict(PyObject *object) {
    return PyDict_CheckExact(object) || PyODict_CheckExact(object) ||
           (PyDict_Check(object) && is_named(object, "collections.defaultdict"));
}

static bool add_container(struct pie_confirm_digest *digest, PyObject *object) {
    if (PyTuple_CheckExact(object))
        add_items(digest, ((PyTupleObject *)object)->ob_item, PyTuple_GET_SIZE(object));
    else if (PyList_CheckExact(object))
        add_items(digest, ((PyListObject *)object)->ob_item, PyList_GET_SIZE(object));
    else if (is_dict(object))
        add_dict(digest, object);
    else if (Py_IS_TYPE(object, &PyListIter_Type) || Py_IS_TYPE(object, &PyTupleIter_Type))
        add_iterator(digest, object);
    else if (PyAnySet_CheckExact(object))
        add_set(digest, object);
    else
        return false;
    digest->is_single = false;
    return true;
}

/* --- Others --- */

static bool is_being_read(const struct pie_confirm_digest *digest, const PyObject *function) {
    for (unsigned i = 0; i < digest->n_functions; i++)
        if (digest->functions[i] == function)
            return true;
    return false;
}

static void add_function(struct pie_confirm_digest *digest, PyObject *object) {
    PyFunctionObject *function = (PyFunctionObject *)object;

    add_constant(digest, function->func_code);
    add_constant(digest, function->func_globals);
    if (is_being_read(digest, object))
        return;
    if (digest->n_functions >= sizeof digest->functions / sizeof *digest->functions) {
        digest->is_value = false;
        return;
    }
    digest->functions[digest->n_functions++] = object;
    pie_confirm_digest_add(digest, function->func_defaults);
    pie_confirm_digest_add(digest, function->func_kwdefaults);
    for (Py_ssize_t i = 0; function->func_closure && i < PyTuple_GET_SIZE(function->func_closure); i++)
        pie_confirm_digest_add(digest, PyCell_GET(PyTuple_GET_ITEM(function->func_closure, i)));
    digest->n_functions--;
}

static void add_slice(struct pie_confirm_digest *digest, PyObject *object) {
    PySliceObject *slice = (PySliceObject *)object;

    pie_confirm_digest_add(digest, slice->start);
    pie_confirm_digest_add(digest, slice->stop);
    pie_confirm_digest_add(digest, slice->step);
    digest->is_single = false;
}

/* Without a time zone: that one may be of any class. */
static bool add_date(struct pie_confirm_digest *digest, PyObject *object) {
    if (is_named(object, "datetime.timedelta")) {
        PyDateTime_Delta *delta = (PyDateTime_Delta *)object;
        mix(digest, (uint64_t)delta->days << 32 | (uint32_t)delta->seconds);
        mix(digest, (uint64_t)delta->microseconds);
    } else if (is_named(object, "datetime.date")) {
        pie_confirm_digest_add_bytes(digest, ((PyDateTime_Date *)object)->data, _PyDateTime_DATE_DATASIZE);
    } else if (is_named(object, "datetime.datetime") && !((PyDateTime_DateTime *)object)->hastzinfo) {
        pie_confirm_digest_add_bytes(digest, ((PyDateTime_DateTime *)object)->data,
                                     _PyDateTime_DATETIME_DATASIZE);
        mix(digest, ((PyDateTime_DateTime *)object)->fold);
    } else {
        return false;
    }
    digest->is_single = false;
    return true;
}

/* Its layout is its own affair, but its hash is kept in it and runs no code of the program's. That of two different
 * numbers is never the same by chance. */
static bool add_decimal(struct pie_confirm_digest *digest, PyObject *object) {
    Py_hash_t hash = is_named(object, "decimal.Decimal") ? Py_TYPE(object)->tp_hash(object) : -1;

    if (hash == -1) { /* a NaN that signals has none */
        PyErr_Clear();
        return false;
    }
    mix(digest, (uint64_t)hash);
    return true;
}

/* A class written in Python whose instances have nothing but attributes in a dict. */
static bool has_only_dict(PyTypeObject *type) {
    for (PyTypeObject *at = type; at != &PyBaseObject_Type; at = at->tp_base)
        if (!at || !PyType_HasFeature(at, Py_TPFLAGS_HEAPTYPE) || ((PyHeapTypeObject *)at)->ht_slots)
            return false;
    size_t weak_bytes = type->tp_weaklistoffset > 0 ? sizeof(PyObject *) : 0;
    size_t dict_bytes = type->tp_dictoffset > 0 ? sizeof(PyObject *) : 0;
    return type->tp_dictoffset != 0 && type->tp_itemsize == 0 &&
           (size_t)type->tp_basicsize == sizeof(PyObject) + weak_bytes + dict_bytes;
}

static bool add_instance(struct pie_confirm_digest *digest, PyObject *object) {
    PyObject **dict = has_only_dict(Py_TYPE(object)) ? _PyObject_GetDictPtr(object) : NULL;

    if (!dict)
        return false;
    pie_confirm_digest_add(digest, *dict);
    digest->is_single = false;
    return true;
}

/* A member of an enumeration is made once, with its class. */
static bool is_member(PyObject *object) {
    const char *name = Py_TYPE(Py_TYPE(object))->tp_name;

    return strcmp(name, "EnumType") == 0 || strcmp(name, "EnumMeta") == 0;
}

static bool is_constant(PyObject *object) {
    return is_member(object) || object == Py_None || object == Py_Ellipsis || object == Py_NotImplemented ||
           PyModule_CheckExact(object) || PyCode_Check(object) || PyType_Check(object) ||
           Py_IS_TYPE(object, &PyMethodDescr_Type) || Py_IS_TYPE(object, &PyWrapperDescr_Type) ||
           Py_IS_TYPE(object, &PyClassMethodDescr_Type) || is_named(object, "re.Pattern") ||
           is_named(object, "numpy.ufunc") || is_named(object, "cython_function_or_method") ||
           is_named(object, "numpy._ArrayFunctionDispatcher") || is_named(object, "torch.dtype") ||
           is_named(object, "torch.layout");
}

void pie_confirm_digest_add_callee(struct pie_confirm_digest *digest, PyObject *callee) {
    bool is_single = digest->is_single;

    if (PyMethod_Check(callee)) {
        pie_confirm_digest_add_callee(digest, PyMethod_GET_FUNCTION(callee));
        pie_confirm_digest_add(digest, PyMethod_GET_SELF(callee));
        return;
    }
    if (PyFunction_Check(callee)) {
        add_function(digest, callee);
    } else if (PyCFunction_Check(callee)) {
        add_constant(digest, (PyObject *)((PyCFunctionObject *)callee)->m_ml);
        PyObject *self = PyCFunction_GET_SELF(callee);
        if (self && !PyModule_Check(self)) {
            pie_confirm_digest_add(digest, self);
            return;
        }
    } else if (is_constant(callee)) {
        add_constant(digest, callee);
    } else {
        pie_confirm_digest_add_identity(digest, callee);
    }
    digest->is_single = is_single;
}

static bool is_callee(PyObject *object) {
    return PyMethod_Check(object) || PyFunction_Check(object) || PyCFunction_Check(object);
}

static void add_other(struct pie_confirm_digest *digest, PyObject *object) {
    digest->is_single = digest->is_single && object == Py_None;
    if (is_constant(object))
        add_constant(digest, object);
    else if (is_callee(object))
        pie_confirm_digest_add_callee(digest, object);
    else if (Py_IS_TYPE(object, &PySlice_Type))
        add_slice(digest, object);
    else if (!add_date(digest, object) && !add_decimal(digest, object) &&
             !pie_confirm_digest_add_table(digest, object) && !add_instance(digest, object))
        pie_confirm_digest_add_identity(digest, object);
}

void pie_confirm_digest_add(struct pie_confirm_digest *digest, PyObject *object) {
    mix(digest, object ? (uintptr_t)Py_TYPE(object) : 0);
    if (!object || !spend(digest, ITEM_BUDGET))
        return;
    if (digest->depth >= DEPTH_MAX) { /* also of what holds itself */
        digest->is_value = false;
        return;
    }
    digest->depth++;
    if (PyBool_Check(object))
        add_constant(digest, object);
    else if (!add_number(digest, object) && !add_text(digest, object) && !add_buffer(digest, object) &&
             !add_container(digest, object) && !pie_confirm_digest_add_tensor(digest, object))
        add_other(digest, object);
    digest->depth--;
}
