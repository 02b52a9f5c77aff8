/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

struct _object;
struct PyCodeObject;

enum { PIE_TRACE_LINES_MAX = 64 };

/* Compiles a module's source with the iterables of the for statements that begin in these lines (from 1) wrapped in
 * pieprof.loop(). NULL: *ret_why says why, in one sentence. No exception is left. The GIL is held. */
struct _object *pie_trace_compile(struct PyCodeObject *module, int *lines, size_t count,
                                  const char **ret_why);
