/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* libdw has no way to fail where memory is short: it writes through NULL, asserts, or calls exit(). The process is the
 * user's program, so the first allocation that fails leads out of the work that asked libdw, and so do assertions that
 * damaged debug information may bring about. Context: drain, cli. */

/* Calls work(data). Returns false if somebody gave up meanwhile: locks may be held then, so nothing may use again what
 * libdw was working on. Not nested. */
bool pie_dwarf_guarded(void (*work)(void *data), void *data);

/* Does not return if this thread is in such work. For who stands in for malloc() and __assert_fail(). */
void pie_dwarf_give_up(void);

/* Is this thread in such work? */
extern __thread struct pie_dwarf_way_out *pie_dwarf_way_out __attribute__((tls_model("initial-exec")));
