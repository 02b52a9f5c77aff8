/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/thread/part.h"

#include "profiler/thread/thread.h"

enum { PART_ALIGN = 16 };

/* Set before the first slot is taken, the same in a forked child. */
static struct pie_thread_part *const *parts;
static size_t n_parts, slot_bytes;

static size_t aligned(size_t bytes) {
    return (bytes + PART_ALIGN - 1) / PART_ALIGN * PART_ALIGN;
}

void pie_thread_parts_set(struct pie_thread_part *const *wanted, size_t count) {
    parts = wanted;
    n_parts = count;
    slot_bytes = aligned(sizeof(struct pie_thread));
    for (size_t i = 0; i < count; i++) {
        parts[i]->offset = slot_bytes;
        slot_bytes += aligned(parts[i]->bytes);
    }
}

size_t pie_thread_slot_bytes(void) {
    return slot_bytes ? slot_bytes : aligned(sizeof(struct pie_thread));
}

void pie_thread_parts_begin(struct pie_thread *thread) {
    for (size_t i = 0; i < n_parts; i++)
        if (parts[i]->begin)
            parts[i]->begin(thread);
}

void pie_thread_parts_enter(struct pie_thread *thread) {
    for (size_t i = 0; i < n_parts; i++)
        if (parts[i]->enter)
            parts[i]->enter(thread);
}

void pie_thread_parts_leave(struct pie_thread *thread) {
    for (size_t i = 0; i < n_parts; i++)
        if (parts[i]->leave)
            parts[i]->leave(thread);
}

void pie_thread_parts_end(struct pie_thread *thread) {
    for (size_t i = 0; i < n_parts; i++)
        if (parts[i]->end)
            parts[i]->end(thread);
}

void pie_thread_parts_finish(struct pie_thread *thread) {
    for (size_t i = 0; i < n_parts; i++)
        if (parts[i]->finish)
            parts[i]->finish(thread);
}

void pie_thread_parts_gone(struct pie_thread *thread) {
    for (size_t i = 0; i < n_parts; i++)
        if (parts[i]->gone)
            parts[i]->gone(thread);
}

bool pie_thread_parts_are_needed(const struct pie_thread *thread) {
    for (size_t i = 0; i < n_parts; i++)
        if (parts[i]->is_needed && parts[i]->is_needed(thread))
            return true;
    return false;
}
