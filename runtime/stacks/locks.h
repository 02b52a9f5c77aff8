/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/pystack.h"

/* The locks of the interpreter, read from outside without any of them. */

/* See pie_pystack_ops.gil (gil_311.c: one for all interpreters; gil_312.c: each may have its own). Context: drain. */
bool pie_gil_read(uintptr_t tstate, struct pie_gil *ret_gil);

/* See pie_pystack_ops.lock_owner (rlock_311.c; rlock_none.c from 3.14 on, where a lock is no semaphore). Context:
 * drain. */
uintptr_t pie_rlock_owner(uintptr_t tstate, uintptr_t futex);
