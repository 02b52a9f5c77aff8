/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <Python.h>

/* Watched built-in functions of Python: we replace the C function in their method tables. So every caller reaches ours,
 * however it imported the function. The function's identity, name and signature stay, and all other functions cost the
 * same as before. Audit hooks would see as much, but with one of them each event of the process builds its arguments.
 * id(), which pprint and copy.deepcopy() call for each object, then takes three times as long. */

/* Replaces the C function of the method `name` by `with`. methods: a table that ends with an empty entry. flags:
 * METH_..., the kind of function. Returns the C function before, or NULL: there is no such method of this kind.
 * Context: gil, launcher (before Python starts). */
PyCFunction pie_method_exchange(PyMethodDef *methods, const char *name, int flags, PyCFunction with);

/* The same of a function object. */
PyCFunction pie_function_exchange(PyObject *function, const char *name, int flags, PyCFunction with);
