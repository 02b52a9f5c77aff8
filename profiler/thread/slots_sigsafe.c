/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/thread/slots.h"

#include "profiler/base/region.h"
#include "profiler/thread/part.h"
#include "profiler/thread/thread.h"

/* A word: the stage in its lower bits, above them the generation. */
enum { STAGE_BITS = 3, STAGE_MASK = (1 << STAGE_BITS) - 1 };
static const uint64_t GENERATION = 1 << STAGE_BITS;

/* The stack of free slots: number of the uppermost (index + 1, 0: none) in the lower half, above it a count of changes.
 * Release in push(), acquire in pop(): the slot's next one. Fork child: pie_thread_slots_reset(). */
static _Atomic uint64_t free_slots;

size_t pie_thread_count(void) {
    return pie_region_used(PIE_ARENA_THREADS) / pie_thread_slot_bytes();
}

struct pie_thread *pie_thread_at(size_t index) {
    return (struct pie_thread *)((char *)pie_region_base(PIE_ARENA_THREADS) +
                                 index * pie_thread_slot_bytes());
}

size_t pie_thread_index(const struct pie_thread *thread) {
    return (size_t)((const char *)thread - (const char *)pie_region_base(PIE_ARENA_THREADS)) /
           pie_thread_slot_bytes();
}

uint64_t pie_thread_word(const struct pie_thread *thread) {
    return atomic_load_explicit(&thread->word, memory_order_acquire);
}

enum pie_thread_state pie_thread_stage(uint64_t word) {
    return (enum pie_thread_state)(word & STAGE_MASK);
}

enum pie_thread_state pie_thread_state(const struct pie_thread *thread) {
    return pie_thread_stage(pie_thread_word(thread));
}

uint64_t pie_thread_with(uint64_t word, enum pie_thread_state stage) {
    return (word & ~(uint64_t)STAGE_MASK) | stage;
}

bool pie_thread_move(struct pie_thread *thread, uint64_t seen, enum pie_thread_state to) {
    return atomic_compare_exchange_strong_explicit(&thread->word, &seen, pie_thread_with(seen, to),
                                                   memory_order_acq_rel, memory_order_relaxed);
}

/* Its head may be taken by another while the next one is read: that is a slot still, and the count has changed then. */
static struct pie_thread *pop(void) {
    uint64_t head = atomic_load_explicit(&free_slots, memory_order_acquire), rest;
    struct pie_thread *thread;

    do {
        if (!(uint32_t)head)
            return NULL;
        thread = pie_thread_at((uint32_t)head - 1);
        rest = ((head >> 32) + 1) << 32 | atomic_load_explicit(&thread->next_free, memory_order_relaxed);
    } while (!atomic_compare_exchange_weak_explicit(&free_slots, &head, rest, memory_order_acquire,
                                                    memory_order_acquire));
    return thread;
}

static void push(struct pie_thread *thread) {
    uint32_t number = (uint32_t)pie_thread_index(thread) + 1;
    uint64_t head = atomic_load_explicit(&free_slots, memory_order_relaxed);

    do
        atomic_store_explicit(&thread->next_free, (uint32_t)head, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&free_slots, &head, ((head >> 32) + 1) << 32 | number,
                                                  memory_order_release, memory_order_relaxed));
}

static struct pie_thread *new_slot(void) {
    struct pie_thread *thread = pie_region_alloc(PIE_ARENA_THREADS, pie_thread_slot_bytes());

    if (thread)
        thread->stack = pie_region_stack(PIE_ALTSTACK_BYTES, &thread->stack_bytes);
    return thread;
}

struct pie_thread *pie_thread_take_slot(void) {
    struct pie_thread *thread = pop();

    if (!thread)
        thread = new_slot();
    if (thread) {
        uint64_t word = atomic_load_explicit(&thread->word, memory_order_relaxed);
        atomic_store_explicit(&thread->word, pie_thread_with(word + GENERATION, PIE_THREAD_CLAIMED),
                              memory_order_relaxed);
    }
    return thread;
}

void pie_thread_give_back(struct pie_thread *thread) {
    uint64_t word = atomic_load_explicit(&thread->word, memory_order_relaxed);

    /* release: pairs with the acquire of who looks at the slot; push() with that of the thread that takes it */
    atomic_store_explicit(&thread->word, pie_thread_with(word, PIE_THREAD_FREE), memory_order_release);
    push(thread);
}

/* The collection thread knows that threads have changed. seq_cst in both directions: either the look that follows
 * pie_threads_begin_look() sees the slot, or the thread sees false and wakes it.
 * Fork child: pie_thread_slots_reset(). */
static _Atomic bool is_change_known;

bool pie_threads_changed(void) {
    return !atomic_exchange(&is_change_known, true);
}

void pie_threads_begin_look(void) {
    atomic_store(&is_change_known, false);
    atomic_thread_fence(memory_order_seq_cst);
}

void pie_threads_end_look(void) {
    atomic_store(&is_change_known, true);
}

size_t pie_thread_in_use(void) {
    size_t in_use = 0;

    for (size_t i = 0; i < pie_thread_count(); i++)
        in_use += pie_thread_state(pie_thread_at(i)) != PIE_THREAD_FREE;
    return in_use;
}

void pie_thread_slots_reset(void) {
    atomic_store_explicit(&free_slots, 0, memory_order_relaxed);
    atomic_store_explicit(&is_change_known, false, memory_order_relaxed);
}
