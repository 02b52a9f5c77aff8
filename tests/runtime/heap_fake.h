/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/heap/heap.h"

/* The engine's side of profiler/heap/heap.h for programs that look at the exported functions alone: it writes down what
 * it gets. Not for several threads at once, except for the counts themselves. */

enum heap_fake_call { HEAP_FAKE_ALLOCATED, HEAP_FAKE_FREEING, HEAP_FAKE_RESIZING, HEAP_FAKE_RESIZED };

struct heap_fake_note {
    enum heap_fake_call call;
    enum pie_heap_domain domain;
    void *block;
    size_t old_bytes, bytes;
    uint32_t token;
    const void *caller;
};

enum { HEAP_FAKE_NOTES = 4096 };
extern struct heap_fake_note heap_fake_notes[HEAP_FAKE_NOTES];
extern size_t heap_fake_count; /* may be larger than what is kept */

/* The calling thread is counted from now on. is_slow: every call goes the slow way and leaves a note. */
void heap_fake_begin(struct pie_heap_thread *heap, bool is_slow);
void heap_fake_end(void);
void heap_fake_forget(void);

/* All blocks may be tracked ones. */
void heap_fake_track_all(bool are_tracked);

/* Allocated and not freed, of both domains together. */
int64_t heap_fake_live(const struct pie_heap_thread *heap);

/* Copies that crossed pie_copy_left, and what the counter is set to then. */
extern uint64_t heap_fake_copies, heap_fake_copied_bytes, heap_fake_shifts;
extern const void *heap_fake_copy_caller;
extern int64_t heap_fake_copy_distance;

/* Where the program may have written code. */
extern uint64_t heap_fake_rewritten_bytes;
