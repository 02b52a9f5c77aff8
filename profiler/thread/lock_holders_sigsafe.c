/* SPDX-License-Identifier: Apache-2.0 */

/* One word for each of the locks that share a hash: its address and the thread. So a reader never has the thread of
 * another lock. All loads and stores are relaxed: a word stands for itself. */

#include "profiler/thread/lock_holders.h"

#include "profiler/base/hash.h"
#include "profiler/thread/thread.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { LOCKS_BITS = 12, LOCKS = 1 << LOCKS_BITS, HOLDER_MASK = (1 << PIE_LOCK_HOLDER_BITS) - 1 };

/* Fork child: pie_lock_holders_reset(). */
static _Atomic uint64_t holders[LOCKS];

static _Atomic uint64_t *slot_of(uintptr_t lock) {
    return &holders[pie_hash_upper(lock) >> (64 - LOCKS_BITS)];
}

void pie_lock_wait(uintptr_t semaphore) {
    struct pie_thread *thread = pie_thread_self();

    if (thread)
        atomic_store_explicit(&thread->semaphore, semaphore, memory_order_relaxed);
}

uintptr_t pie_lock_wait_for(uintptr_t lock) {
    struct pie_thread *thread = pie_thread_self();

    if (!thread)
        return 0;
    uintptr_t before = atomic_load_explicit(&thread->lock, memory_order_relaxed); /* nobody else writes it */
    atomic_store_explicit(&thread->lock, lock, memory_order_relaxed);
    return before;
}

void pie_lock_taken(uintptr_t lock) {
    const struct pie_thread *thread = pie_thread_self();

    if (!thread)
        return;
    atomic_store_explicit(slot_of(lock), (uint64_t)lock << PIE_LOCK_HOLDER_BITS | (thread->id & HOLDER_MASK),
                          memory_order_relaxed);
}

uint32_t pie_lock_holder(uintptr_t lock) {
    uint64_t word = atomic_load_explicit(slot_of(lock), memory_order_relaxed);

    return word >> PIE_LOCK_HOLDER_BITS == ((uint64_t)lock << PIE_LOCK_HOLDER_BITS) >> PIE_LOCK_HOLDER_BITS
               ? (uint32_t)(word & HOLDER_MASK)
               : 0;
}

uint32_t pie_lock_holder_for(const struct pie_thread *waiting, uintptr_t futex) {
    uintptr_t lock = atomic_load_explicit(&waiting->lock, memory_order_relaxed);
    bool is_own = lock && atomic_load_explicit(&waiting->semaphore, memory_order_relaxed) == futex;

    return pie_lock_holder(is_own ? lock : futex);
}

void pie_lock_holders_reset(void) {
    for (size_t i = 0; i < LOCKS; i++) /* pages that nobody wrote to stay as they are */
        if (atomic_load_explicit(&holders[i], memory_order_relaxed))
            atomic_store_explicit(&holders[i], 0, memory_order_relaxed);
}
