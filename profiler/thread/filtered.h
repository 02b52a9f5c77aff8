/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* Is this thread under a seccomp filter that the program has set? Then a system call of ours could end the process, and
 * the profiler does nothing there (runtime/libc/filter.h). Threads and children that a filtered thread makes are
 * filtered too: a forked child keeps the thread's storage, a new thread gets it from its creator. */

/* Context: signal. */
bool pie_filtered(void);
/* For the calling thread. Context: hook. */
void pie_filtered_set(bool is_filtered);
/* All threads of the process are, and those that will be. Context: hook. */
void pie_filtered_set_all(void);
