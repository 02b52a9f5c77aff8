/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/sink.h"

#include <stdbool.h>

/* The exported malloc() family: it counts the calls (profiler/heap/heap.h) and leaves the work to the allocator that
 * the process would have without pieprof. */

/* Whose memory the calling thread's next calls are about: hooks of Python's allocators say PIE_HEAP_PYTHON around
 * theirs. */
extern __thread enum pie_heap_domain pie_allocator_domain __attribute__((tls_model("initial-exec")));

/* Finds out how blocks are measured, and whether there is anything to count. Until then, and if it returns false,
 * nothing is counted, whatever pie_heap_self says; pie_allocator_refusal() then says why. Allocates and frees a few
 * blocks. Context: launcher (one thread). */
bool pie_allocator_check(void);

/* The result of the last check. Context: any. */
bool pie_allocator_is_counted(void);

/* Why not, for people; NULL if it is counted. Context: any. */
const char *pie_allocator_refusal(void);

/* "glibc", "jemalloc", or the path of the library that malloc() comes from. Context: launcher. */
const char *pie_allocator_name(void);
