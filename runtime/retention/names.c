/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/retention/graph.h"

#include <structmember.h>

#include "runtime/objects/pystr.h"
#include "runtime/retention/layout.h"

#include <string.h>

/* Names without asking the objects: dictionaries are gone through and compared by identity, and strings are copied by
 * pystr.h, since both lookups and PyUnicode_AsUTF8() may run code or allocate. */

enum {
    NAME_UNITS_MAX = 120, /* characters of a name */
    BASES_MAX = 64,       /* ends a walk over a type's bases */
};

/* --- text --- */

void pie_retention_put(struct pie_retention_text *text, const char *words) {
    size_t n = strlen(words), room = text->size - text->used - 1;

    if (n > room) { /* full from now on; not inside a character */
        n = room;
        while (n > 0 && ((unsigned char)words[n] & 0xc0) == 0x80)
            n--;
        memcpy(text->text + text->used, words, n);
        text->text[text->used + n] = '\0';
        text->used = text->size - 1;
        return;
    }
    memcpy(text->text + text->used, words, n + 1);
    text->used += n;
}

/* One line it is to be. */
static void blank_controls(char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
}

void pie_retention_put_string(struct pie_retention_text *text, PyObject *string) {
    char utf8[4 * NAME_UNITS_MAX + 4];
    struct pie_pystr located;

    if (!string || !pie_pystr_locate((uintptr_t)string, NAME_UNITS_MAX, &located) ||
        pie_pystr_to_utf8(&located, utf8) == SIZE_MAX) {
        pie_retention_put(text, "?");
        return;
    }
    blank_controls(utf8);
    pie_retention_put(text, utf8);
}

/* --- dictionaries --- */

PyObject *pie_retention_get(PyObject *dict, const char *name) {
    PyObject *key, *value;
    Py_ssize_t at = 0;

    if (!dict || !PyDict_Check(dict))
        return NULL;
    while (PyDict_Next(dict, &at, &key, &value))
        if (PyUnicode_CheckExact(key) && PyUnicode_CompareWithASCIIString(key, name) == 0)
            return value;
    return NULL;
}

PyObject *pie_retention_name_in(PyObject *dict, PyObject *wanted) {
    PyObject *key, *value;
    Py_ssize_t at = 0;

    while (PyDict_Next(dict, &at, &key, &value))
        if (value == wanted && PyUnicode_Check(key))
            return key;
    return NULL;
}

/* --- attributes --- */

/* The dictionary whose place a type gives as an offset. */
static PyObject *dict_at_offset(PyObject *object) {
    Py_ssize_t offset = Py_TYPE(object)->tp_dictoffset;

    return offset > 0 ? *(PyObject **)((char *)object + offset) : NULL;
}

PyObject *pie_retention_namespace(PyObject *object) {
    PyObject *dict;

    if (PyModule_Check(object))
        return PyModule_GetDict(object);
    if (PyType_Check(object))
        return ((PyTypeObject *)object)->tp_dict;
    dict = pie_retention_managed_dict(object);
    if (!dict)
        dict = dict_at_offset(object);
    return dict && PyDict_Check(dict) ? dict : NULL;
}

/* Members that a type and its bases declare: slots, and those of types in C. Not of the interpreter's own types, whose
 * names have no module: "in method" says more than a member's name. */
static const char *member_with(PyObject *object, const PyObject *value) {
    const PyTypeObject *type = Py_TYPE(object);

    if (!PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE) && !strchr(type->tp_name, '.'))
        return NULL;
    for (int i = 0; type && i < BASES_MAX; i++, type = type->tp_base)
        for (const PyMemberDef *member = type->tp_members; member && member->name; member++)
            if ((member->type == T_OBJECT || member->type == T_OBJECT_EX) && member->offset > 0 &&
                *(PyObject **)((char *)object + member->offset) == value)
                return member->name;
    return NULL;
}

bool pie_retention_attribute(PyObject *object, PyObject *value, PyObject **ret_name, const char **ret_words) {
    PyObject *dict = pie_retention_namespace(object);
    struct pie_retention_values values;

    *ret_words = NULL;
    *ret_name = dict ? pie_retention_name_in(dict, value) : NULL;
    if (!*ret_name && pie_retention_values(object, &values))
        for (size_t i = 0; i < values.count && !*ret_name; i++)
            if (values.values[i] == value)
                *ret_name = pie_retention_values_name(object, i);
    if (!*ret_name)
        *ret_words = member_with(object, value);
    return *ret_name || *ret_words;
}

/* --- of what has a name --- */

static bool is_builtins(PyObject *module) {
    return PyUnicode_CompareWithASCIIString(module, "builtins") == 0;
}

static void put_qualified(struct pie_retention_text *text, PyObject *module, PyObject *qualname) {
    if (module && PyUnicode_Check(module) && !is_builtins(module)) {
        pie_retention_put_string(text, module);
        pie_retention_put(text, ".");
    }
    pie_retention_put_string(text, qualname);
}

void pie_retention_put_type(struct pie_retention_text *text, PyTypeObject *type) {
    if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE))
        put_qualified(text, pie_retention_get(type->tp_dict, "__module__"),
                      ((PyHeapTypeObject *)type)->ht_qualname);
    else
        pie_retention_put(text, type->tp_name);
}

void pie_retention_put_function(struct pie_retention_text *text, PyObject *object) {
    if (PyFunction_Check(object)) {
        const PyFunctionObject *function = (const PyFunctionObject *)object;

        put_qualified(text, function->func_module, function->func_qualname);
        return;
    }
    PyObject *dict = pie_retention_namespace(object);
    put_qualified(text, pie_retention_get(dict, "__module__"), pie_retention_get(dict, "__qualname__"));
}

void pie_retention_put_module(struct pie_retention_text *text, PyObject *module) {
    pie_retention_put_string(text, pie_retention_get(PyModule_GetDict(module), "__name__"));
}

PyObject *pie_retention_local_name(PyObject *object, Py_ssize_t i) {
    const PyCodeObject *code = (const PyCodeObject *)object;
    PyObject *names = code->co_localsplusnames;

    return names && i >= 0 && i < PyTuple_GET_SIZE(names) ? PyTuple_GET_ITEM(names, i) : NULL;
}

bool pie_retention_is_lru_cache(PyObject *object) {
    return strcmp(Py_TYPE(object)->tp_name, "functools._lru_cache_wrapper") == 0;
}
