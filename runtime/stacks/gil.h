/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/pystack.h"

/* The GIL of a thread's interpreter, read from outside: see pie_pystack_ops.gil. gil_311.c: there is one for all
 * interpreters; gil_312.c: each may have its own; gil_none.c: threads run side by side. Context: drain. */
bool pie_gil_read(uintptr_t tstate, struct pie_gil *ret_gil);

/* False: this Python is built to run without one, and nothing is ever read. */
extern const bool pie_gil_is_there;

/* From now on nothing is read: it is not where it was looked for. Context: gil. */
void pie_gil_disable(void);
