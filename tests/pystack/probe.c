/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/pystack/probe.h"

#include <stddef.h>
#include <string.h>

struct probe {
    PyObject_HEAD PyObject *last;
};

static int take(PyObject *self) {
    PyObject *sample = walk_host_sample();

    if (!sample)
        return -1;
    Py_XSETREF(((struct probe *)self)->last, sample);
    return 0;
}

static PyObject *take_and_return(PyObject *self, PyObject *result) {
    return take(self) < 0 ? NULL : Py_NewRef(result);
}

static PyObject *probe_add(PyObject *left, PyObject *right) {
    return take_and_return(left, left);
}

static PyObject *probe_negative(PyObject *self) {
    return take_and_return(self, self);
}

static PyObject *probe_call(PyObject *self, PyObject *args, PyObject *kwargs) {
    return take_and_return(self, self);
}

static PyObject *probe_method(PyObject *self, PyObject *none) {
    return take_and_return(self, self);
}

static PyObject *probe_subscript(PyObject *self, PyObject *key) {
    return take_and_return(self, self);
}

static int probe_store_subscript(PyObject *self, PyObject *key, PyObject *value) {
    return take(self);
}

static int probe_contains(PyObject *self, PyObject *value) {
    return take(self) < 0 ? -1 : 1;
}

static PyObject *probe_str(PyObject *self) {
    return take(self) < 0 ? NULL : PyUnicode_FromString("probe");
}

static PyObject *probe_compare(PyObject *self, PyObject *other, int op) {
    return take_and_return(self, Py_True);
}

static PyObject *probe_next(PyObject *self) {
    take(self);
    return NULL; /* exhausted */
}

static int probe_bool(PyObject *self) {
    return take(self) < 0 ? -1 : 1;
}

static Py_ssize_t probe_length(PyObject *self) {
    return take(self) < 0 ? -1 : 1;
}

static PyObject *probe_getattr(PyObject *self, PyObject *name) {
    if (PyUnicode_CompareWithASCIIString(name, "sampled") == 0)
        return take_and_return(self, self);
    return PyObject_GenericGetAttr(self, name);
}

static int probe_setattr(PyObject *self, PyObject *name, PyObject *value) {
    return take(self);
}

static PyObject *probe_last(PyObject *self, void *closure) {
    PyObject *last = ((struct probe *)self)->last;

    return Py_NewRef(last ? last : Py_None);
}

static void probe_dealloc(PyObject *self) {
    Py_XDECREF(((struct probe *)self)->last);
    PyObject_Free(self);
}

static PyNumberMethods number = {.nb_add = probe_add,
                                 .nb_bool = probe_bool,
                                 .nb_negative = probe_negative,
                                 .nb_positive = probe_negative,
                                 .nb_invert = probe_negative};
static PySequenceMethods sequence = {.sq_contains = probe_contains};
static PyMappingMethods mapping = {
    .mp_length = probe_length, .mp_subscript = probe_subscript, .mp_ass_subscript = probe_store_subscript};
static PyMethodDef methods[] = {{"method", probe_method, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyGetSetDef attributes[] = {{"last", probe_last, NULL, NULL, NULL}, {NULL, NULL, NULL, NULL, NULL}};

static PyTypeObject probe_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_walk.Probe",
    .tp_basicsize = sizeof(struct probe),
    .tp_dealloc = probe_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = PyType_GenericNew,
    .tp_as_number = &number,
    .tp_as_sequence = &sequence,
    .tp_as_mapping = &mapping,
    .tp_call = probe_call,
    .tp_str = probe_str,
    .tp_richcompare = probe_compare,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = probe_next,
    .tp_getattro = probe_getattr,
    .tp_setattro = probe_setattr,
    .tp_methods = methods,
    .tp_getset = attributes,
};

int probe_add_type(PyObject *module) {
    return PyModule_AddType(module, &probe_type);
}
