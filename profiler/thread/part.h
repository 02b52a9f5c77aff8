/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What a collector keeps for each thread. All parts lie in the thread's slot, behind struct pie_thread, which so needs
 * to know none of them; a part is zero when its slot is first used, and belongs to the slot: begin() resets what is the
 * thread's. */

struct pie_thread;

struct pie_thread_part {
    size_t bytes;
    /* Each may be NULL. */
    void (*begin)(
        struct pie_thread *thread); /* before a handler finds the slot. Context: hook (on the thread) */
    void (*enter)(
        struct pie_thread *thread); /* handlers find it from now on. Context: hook (on the thread) */
    void (*leave)(struct pie_thread *thread); /* they find it still. Context: hook (on the thread) */
    void (*end)(struct pie_thread *thread);   /* they do not any more. Context: hook (on the thread) */
    void (*gone)(struct pie_thread *thread);  /* it went without leave() and end(). Context: drain */
    /* When it ended, and its CPU time, are known now; nodes may be read. Context: hook, drain */
    void (*finish)(struct pie_thread *thread);
    /* After end(): is something left that the collection thread has to give back? Context: hook (on the thread) */
    bool (*is_needed)(const struct pie_thread *thread);
    size_t offset; /* in a slot; set by pie_thread_parts_set() */
};

/* Lays the parts out, which live as long as the process. Context: engine start (before the first slot is taken). */
void pie_thread_parts_set(struct pie_thread_part *const *parts, size_t count);

/* Bytes of a slot with all parts. Context: any. */
size_t pie_thread_slot_bytes(void);

/* Context: any. */
static inline void *pie_thread_part_of(const struct pie_thread *thread, const struct pie_thread_part *part) {
    return (char *)(void *)thread + part->offset;
}

/* Zeroes memory of a part, whole words of it. Pages that no former thread of the slot has written to stay untouched.
 * Context: hook. */
static inline void pie_thread_part_clear(void *memory, size_t bytes) {
    const uint64_t *words = memory;

    for (size_t i = 0; i < bytes / sizeof *words; i++)
        if (words[i]) {
            memset(memory, 0, bytes);
            return;
        }
}

/* Each calls that member of all parts, in their order. */
void pie_thread_parts_begin(struct pie_thread *thread);
void pie_thread_parts_enter(struct pie_thread *thread);
void pie_thread_parts_leave(struct pie_thread *thread);
void pie_thread_parts_end(struct pie_thread *thread);
void pie_thread_parts_finish(struct pie_thread *thread);
void pie_thread_parts_gone(struct pie_thread *thread);
/* Is any needed? */
bool pie_thread_parts_are_needed(const struct pie_thread *thread);
