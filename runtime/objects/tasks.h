/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/pystack.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Event loops, their tasks and coroutines, read from the memory of asyncio and of the interpreter. Every load is
 * fault-tolerant, and every object's type is looked at before the rest of it is. Context: signal, drain (all functions
 * but pie_tasks_set_places()). */

/* What only asyncio itself knows; 0 each: not there, or not known yet. They may go away unannounced. */
struct pie_tasks_places {
    uintptr_t set;        /* of weak references to all tasks (3.11 to 3.13) */
    uintptr_t current;    /* dict of the task that each loop runs a step of (3.11 to 3.13) */
    uintptr_t task_bytes; /* of an _asyncio.Task (3.14 on) */
};

/* Context: gil. */
void pie_tasks_set_places(const struct pie_tasks_places *places);
bool pie_tasks_has_places(void);

/* --- asyncio_tasks.c --- */

/* Finds these places when the first event loop is made. Context: launcher (after Python's preinitialization). */
void pie_asyncio_install(void);

/* --- loop_*_sigsafe.c --- */

/* The event loop that runs on the thread of this Python thread state; 0: none. */
uintptr_t pie_tasks_loop(uintptr_t tstate);

/* --- tasks_*_sigsafe.c --- */

/* The task that the thread runs a step of, and its loop; 0: none. */
uintptr_t pie_tasks_current(uintptr_t tstate, uintptr_t *ret_loop);

/* Calls add() with tasks of the thread's loop, and maybe with others, from a place on that `random` chooses, until it
 * returns false. */
void pie_tasks_each(uintptr_t tstate, uint64_t random, bool (*add)(void *data, uintptr_t task), void *data);

/* The task that is noted as one that waits for this future or task; 0: none, or nobody notes it (until 3.13). */
uintptr_t pie_tasks_awaited_by(uintptr_t future);

/* --- task_sigsafe.c --- */

/* The coroutine of a task of this loop for which is_wanted(), and its name; 0: none. */
uintptr_t pie_task_coroutine(uintptr_t task, uintptr_t loop, bool (*is_wanted)(uintptr_t coroutine),
                             uintptr_t *ret_name);

/* Is it an _asyncio.Task, of no other type? */
bool pie_task_is(uintptr_t object);

/* See pie_pystack_ops.running_task and .foreign_loop. */
enum pie_task_found pie_task_running(uintptr_t tstate, struct pie_running_task *ret_task);
bool pie_task_in_foreign_loop(uintptr_t tstate);

/* --- coroutine_*_sigsafe.c --- */

/* Is it a coroutine or generator? */
bool pie_coroutine_is(uintptr_t object);
/* … that has begun and waits? */
bool pie_coroutine_is_suspended(uintptr_t object);
/* … that runs? */
bool pie_coroutine_is_running(uintptr_t object);

/* The code of a coroutine or generator; 0: unreadable. */
uintptr_t pie_coroutine_code(uintptr_t coroutine);
/* Its first local variable; 0: none. */
uintptr_t pie_coroutine_self(uintptr_t coroutine);

/* Writes the frame of a suspended coroutine; returns what it waits for, 0: not known. ret_frame is left alone if it
 * cannot be read. */
uintptr_t pie_coroutine_read(uintptr_t coroutine, struct pie_pyframe *ret_frame);

/* --- between these files --- */

bool pie_task_load(uintptr_t base, size_t offset, uintptr_t *ret);
/* The object's type; 0: it is none. */
uintptr_t pie_task_type(uintptr_t object);
/* Has a type this name? bytes: with the NUL, at most 32. */
bool pie_task_has_name(uintptr_t type, const char *name, size_t bytes);
#define PIE_TASK_HAS_NAME(type, name) pie_task_has_name(type, name, sizeof(name))
