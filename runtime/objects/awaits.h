/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/pystack.h"

/* Where the tasks of an event loop that waits are suspended, read from the memory of asyncio and of coroutines without
 * the GIL (awaits_311.c; awaits_none.c from 3.14 on, where tasks are in lists of another kind). */

/* See pie_pystack_ops.awaits. Context: drain. */
size_t pie_awaits_find(uintptr_t tstate, uintptr_t loop_code, uint64_t random, struct pie_pyframe *frames,
                       size_t max_frames, struct pie_await *awaits, size_t max);

/* The set of weak references to all tasks; it may go away unannounced. Context: gil. */
void pie_awaits_set_tasks(uintptr_t set);
bool pie_awaits_has_tasks(void);

/* --- asyncio_tasks.c --- */

/* Finds the set when the first event loop is made. Context: launcher (after Python's preinitialization). */
void pie_asyncio_install(void);
