/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/sink.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Needless copies: is the source or the copy written before one of them dies? If neither is, a view would do.
 *
 * Some sampled copies are followed until the allocator frees one of the two blocks. Then source and copy are compared:
 * a difference is a write, whoever made it (another thread, the kernel, another process). A write that does not show,
 * of the value that is there or undone later, is seen by a debug register: it watches one word of source or copy, drawn
 * by lot. So of a line's copies each write of a part p of the data, however it hides, is seen in p / 2 of the cases.
 *
 * An equal copy is not needless if it is a part of its block (a join, a concatenation), or if its source was the larger
 * block and went first: what was wanted then was to let the source go. */

struct pie_thread;

enum { PIE_COPY_ENDS_MIN_BYTES = 16384, PIE_COPY_ENDS = 16 };

/* The smallest block whose end is of interest; UINT64_MAX: no copy is followed. */
extern _Atomic uint64_t pie_copy_ends_bytes;

/* Context: hook (any). */
static inline bool pie_copy_ends_may_hold(size_t bytes) {
    return bytes >= atomic_load_explicit(&pie_copy_ends_bytes, memory_order_relaxed);
}

/* May this copy be followed? Large data of two places. Context: any. */
static inline bool pie_copy_ends_can_follow(const void *to, const void *from, size_t bytes) {
    uintptr_t a = (uintptr_t)to, b = (uintptr_t)from;

    return bytes >= PIE_COPY_ENDS_MIN_BYTES && (a > b ? a - b : b - a) >= bytes;
}

/* A copy that has just been made. Returns its ticket, from 1; 0: it is not followed. It is followed from start() on,
 * when its record has been pushed, or given up. Context: hook (inside). */
uint32_t pie_copy_ends_begin(struct pie_thread *thread, const void *to, const void *from, size_t bytes,
                             uint64_t random);
void pie_copy_ends_start(uint32_t ticket);
void pie_copy_ends_give_up(struct pie_thread *thread, uint32_t ticket);

/* A block is about to be freed, or resized. Context: hook (inside). */
void pie_copy_ends_freeing(struct pie_thread *thread, const void *block, size_t bytes);
void pie_copy_ends_resizing(struct pie_thread *thread, const void *block, size_t bytes);

/* The outcome of a ticket, 0: none yet. The ticket can be had again then. Context: drain. */
enum pie_copy_outcome pie_copy_ends_take(uint32_t ticket);

/* In a forked child, before its thread begins. */
void pie_copy_ends_forget(void);
