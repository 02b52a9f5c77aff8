/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

static PyObject *twice(PyObject *Py_UNUSED(module), PyObject *number) {
    return PyNumber_Add(number, number);
}

static PyMethodDef methods[] = {{"twice", twice, METH_O, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "installed_native", .m_size = -1,
                                    .m_methods = methods};

PyMODINIT_FUNC PyInit_installed_native(void) {
    return PyModule_Create(&module);
}
