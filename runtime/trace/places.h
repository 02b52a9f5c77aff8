/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* --learn: loops that are traced without a change to the program. `FILE:LINE` is the loop that begins there, `FUNC`
 * are the loops of a function.
 *
 * An audit event announces code before its first run. If it has such a loop, its source is compiled once more, with the
 * loop's iterable wrapped in pieprof.loop() on the same line. The function's new code then replaces the old one. Files
 * of compiled code are not touched. A loop at the level of a module cannot be replaced, since that code is about to run
 * already. */

/* places: NULL-terminated, lives as long as the process. Context: launcher (before Python is initialised). Returns 0,
 * or -1. */
int pie_trace_places_install(const char *const *places);

/* Why a place is not traced: one line for people, without the place's name; "" if there is nothing to say. Context:
 * launcher (at the end). */
void pie_trace_places_tell(size_t place, char *text, size_t size);
