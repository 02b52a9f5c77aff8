/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <Python.h>

/* Objects that are the program's alone to keep: a module that pieprof held would outlive the interpreter's own end, and
 * `python3 -v` would not say that it was destroyed. */

/* New reference to a weak reference, which no program meets among the objects of its collector; NULL with an error set.
 * Context: gil. */
PyObject *pie_weak_new(PyObject *object);

/* New reference to its object; NULL without an error: it is gone, or weak is NULL. Context: gil. */
PyObject *pie_weak_get(PyObject *weak);
