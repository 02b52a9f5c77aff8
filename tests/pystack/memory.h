/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <Python.h>

/* Adds to the module _walk what is asked about addresses: object_kind, array_data, is_frame_memory, and addresses to
 * ask about. */
int memory_add_functions(PyObject *module);
