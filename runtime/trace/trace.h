/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/trace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct _object;

/* Traced loops in Python: `for x in pieprof.loop(iterable):`. All of it is called with the GIL held. */

/* Makes the module `pieprof` importable, which has loop(). Context: launcher (before Python is initialised). */
int pie_trace_module_install(void);

/* Where the loop's code stands: file, function and line of a frame that runs. The file and the function are borrowed
 * from the code object, "?" if they are no UTF-8. */
struct pie_trace_place {
    const char *file, *function;
    int32_t line;
};

/* --- Observing one iteration: trace/calls_311.c or trace/calls_312.c. One at a time in the process; others wait for
 * their turn. --- */

/* Begins in the frame that runs Python just now. False: not now. *ret_why: one sentence (static) if somebody else
 * traces, else NULL. */
bool pie_trace_observe_begin(struct pie_trace_loop *loop, const char **ret_why);

/* Ends it. True: all calls were handed on (pie_trace_call()). False: they could not be, *ret_why says why. */
bool pie_trace_observe_end(const char **ret_why, struct pie_trace_observed *ret_observed);

/* No iteration that follows at once will be observed. */
void pie_trace_observe_rest(void);

#define PIE_TRACE_WHY_OTHERS "another profiler or debugger traces the program: pieprof steps aside"
#define PIE_TRACE_WHY_YIELDS                                                                                 \
    "the function yields or awaits in the loop's body: such iterations are not observed"

/* The place of the frame that runs Python just now. False: there is none. */
bool pie_trace_here(struct pie_trace_place *ret_place);

/* --- Between the files of this room: trace/callee.c --- */

/* The text of a string; NULL: it is none, or has no UTF-8. An exception that is pending stays so. */
const char *pie_trace_text(struct _object *string);

/* The name of a callable: co_qualname of a Python function, "module.name" or "type.name" of native ones. Runs no code
 * of the program's. Returns the length; *ret_is_native. */
size_t pie_trace_callee(struct _object *callee, char *text, size_t size, bool *ret_is_native);
