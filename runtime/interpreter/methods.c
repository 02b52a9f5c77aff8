/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/interpreter/methods.h"

#include <stdbool.h>
#include <string.h>

static PyCFunction exchange(PyMethodDef *method, PyCFunction with) {
    PyCFunction own = method->ml_meth;

    method->ml_meth = with;
    return own;
}

PyCFunction pie_method_exchange(PyMethodDef *methods, const char *name, int flags, PyCFunction with) {
    for (PyMethodDef *method = methods; method && method->ml_name; method++)
        if (method->ml_flags == flags && strcmp(method->ml_name, name) == 0)
            return exchange(method, with);
    return NULL;
}

PyCFunction pie_function_exchange(PyObject *function, const char *name, int flags, PyCFunction with) {
    if (!function || !PyCFunction_CheckExact(function))
        return NULL;
    PyMethodDef *method = ((PyCFunctionObject *)function)->m_ml;
    bool is_it = method->ml_flags == flags && strcmp(method->ml_name, name) == 0;
    return is_it ? exchange(method, with) : NULL; /* else something of the program's */
}
