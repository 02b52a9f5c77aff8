/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/confirm/digest.h"

#include <string.h>

#include "profiler/base/hash.h"

/* Frames, series and indexes of pandas by their content: the arrays of their blocks and the labels of their axes. What
 * they keep only for speed, such as columns that were taken out before, is left out. Attributes are read where they
 * lie: in the object's dict, or by a getter in C. */

/* New reference; NULL: there is none such. */
static PyObject *part_of(PyObject *object, const char *name) {
    PyObject *key = PyUnicode_FromString(name);
    PyObject *getter = key ? _PyType_Lookup(Py_TYPE(object), key) : NULL; /* borrowed, as is the dict */
    PyObject **dict = _PyObject_GetDictPtr(object);
    PyObject *part = NULL;

    if (getter && (Py_IS_TYPE(getter, &PyGetSetDescr_Type) || Py_IS_TYPE(getter, &PyMemberDescr_Type)))
        part = Py_TYPE(getter)->tp_descr_get(getter, object, (PyObject *)Py_TYPE(object));
    else if (key && dict && *dict)
        part = Py_XNewRef(PyDict_GetItemWithError(*dict, key));
    Py_XDECREF(key);
    PyErr_Clear();
    return part;
}

/* False: there is none such. */
static bool add_part(struct pie_confirm_digest *digest, PyObject *object, const char *name) {
    PyObject *part = part_of(object, name);

    if (!part)
        return false;
    pie_confirm_digest_add(digest, part);
    Py_DECREF(part);
    return true;
}

static bool is_of_module(PyTypeObject *type, const char *beginning) {
    PyObject *module = PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) && type->tp_dict
                           ? PyDict_GetItemString(type->tp_dict, "__module__")
                           : NULL; /* borrowed */
    const char *text = module && PyUnicode_CheckExact(module) ? PyUnicode_AsUTF8(module) : NULL;

    PyErr_Clear();
    return text && strncmp(text, beginning, strlen(beginning)) == 0;
}

/* --- Blocks --- */

/* Values that are no array of NumPy's, such as dates with a time zone, are known by identity. */
static bool add_block(struct pie_confirm_digest *digest, PyObject *block) {
    PyObject *place = part_of(block, "_mgr_locs");
    bool done = place && add_part(digest, place, "indexer") && add_part(digest, block, "values");

    Py_XDECREF(place);
    return done;
}

static bool add_blocks(struct pie_confirm_digest *digest, PyObject *manager) {
    PyObject *blocks = part_of(manager, "blocks");
    bool done = blocks && PyTuple_CheckExact(blocks);

    for (Py_ssize_t i = 0; done && i < PyTuple_GET_SIZE(blocks); i++)
        done = add_block(digest, PyTuple_GET_ITEM(blocks, i));
    Py_XDECREF(blocks);
    return done;
}

/* --- Objects --- */

/* What could not be read makes the object one that is known by identity. */
static void add_frame(struct pie_confirm_digest *digest, PyObject *object) {
    PyObject *manager = part_of(object, "_mgr");

    if (!manager || !add_part(digest, manager, "axes") || !add_blocks(digest, manager))
        pie_confirm_digest_add_identity(digest, object);
    (void)add_part(digest, object, "_name"); /* of a series */
    Py_XDECREF(manager);
}

static void add_index(struct pie_confirm_digest *digest, PyObject *object) {
    if (!add_part(digest, object, "_range") && !add_part(digest, object, "_data"))
        pie_confirm_digest_add_identity(digest, object);
    (void)add_part(digest, object, "_name");
}

/* Its content is in the digest already: only its number is added. */
static bool was_read(struct pie_confirm_digest *digest, PyObject *object) {
    for (unsigned i = 0; i < digest->n_tables; i++)
        if (digest->tables[i] == object) {
            digest->hash = pie_hash_mix(digest->hash, i);
            return true;
        }
    return false;
}

static void note_read(struct pie_confirm_digest *digest, PyObject *object) {
    if (digest->n_tables < sizeof digest->tables / sizeof *digest->tables)
        digest->tables[digest->n_tables++] = object;
}

bool pie_confirm_digest_add_table(struct pie_confirm_digest *digest, PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);

    if (was_read(digest, object))
        return true;
    if (Py_IS_TYPE(object, &PyRange_Type)) {
        (void)(add_part(digest, object, "start") && add_part(digest, object, "stop") &&
               add_part(digest, object, "step"));
        return true;
    }
    if (strcmp(type->tp_name, "DataFrame") == 0 && is_of_module(type, "pandas.core.frame"))
        add_frame(digest, object);
    else if (strcmp(type->tp_name, "Series") == 0 && is_of_module(type, "pandas.core.series"))
        add_frame(digest, object);
    else if (is_of_module(type, "pandas.core.indexes."))
        add_index(digest, object);
    else
        return false;
    note_read(digest, object);
    digest->is_single = false;
    return true;
}
