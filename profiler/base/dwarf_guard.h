/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* libdw has no way to fail where memory is short: it writes through NULL, asserts, or calls exit(). The process is
 * the user's program, so the first failed allocation leaves the work that called libdw. So does an assertion, which
 * damaged debug information may cause. Context: drain, cli. */

/* Calls work(data). Returns false if the work was given up. Locks may be held then, so the libdw objects involved
 * must not be used again. Not nested. */
bool pie_dwarf_guarded(void (*work)(void *data), void *data);

/* Gives up and does not return if this thread is in such work. For replacements of malloc() and __assert_fail(). */
void pie_dwarf_give_up(void);

/* Is this thread inside work()? */
extern __thread struct pie_dwarf_way_out *pie_dwarf_way_out __attribute__((tls_model("initial-exec")));
