/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <Python.h>

/* Built-in functions of Python's that are watched: what they call is exchanged in their method tables. So whoever holds
 * the function, however it was imported, calls ours; its identity, name and signature stay, and all other functions
 * cost what they did. Audit hooks would see as much, but with one of them each event of the process builds its
 * arguments: id(), which pprint and copy.deepcopy() call for each object, takes three times as long. */

/* Puts `with` in the place of what the method `name` calls. methods: a table that ends with an empty entry. flags:
 * METH_..., which say what kind of function it is. Returns what it called before, or NULL: there is no such method of
 * this kind. Context: gil, launcher (before Python starts). */
PyCFunction pie_method_exchange(PyMethodDef *methods, const char *name, int flags, PyCFunction with);

/* The same of a function object. */
PyCFunction pie_function_exchange(PyObject *function, const char *name, int flags, PyCFunction with);
