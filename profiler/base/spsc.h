/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* PIE_SPSC_RING(name, type, capacity) defines `struct name`, a ring of records with one producer (the handlers or hooks
 * of one thread; none interrupts another of its kind) and one consumer (the collection thread), and name_push(),
 * name_pop() and name_fill().
 *
 * Guarantees: records are popped in the order in which they were pushed, each once and whole. A full ring refuses, and
 * the caller counts. Order: push() writes a record before it publishes `head` (release), which pop() reads first
 * (acquire); pop() has copied a record before it publishes `tail` (release), which push() reads before it writes there
 * again (acquire). Progress: wait-free on both sides. Reclamation: none; the ring lies in its thread's slot, and
 * positions count up for ever (2^64 records). A zeroed ring is empty. Contexts: push: signal, hook; pop: drain. */
#define PIE_SPSC_RING(name, type, capacity)                                                                  \
    struct name {                                                                                            \
        _Atomic uint64_t head; /* records pushed so far */                                                   \
        _Atomic uint64_t tail; /* records popped so far */                                                   \
        type records[capacity];                                                                              \
    };                                                                                                       \
                                                                                                             \
    /* False: full. */                                                                                       \
    static inline bool name##_push(struct name *ring, const type *record) {                                  \
        uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);                             \
                                                                                                             \
        if (head - atomic_load_explicit(&ring->tail, memory_order_acquire) >= (capacity))                    \
            return false;                                                                                    \
        ring->records[head % (capacity)] = *record;                                                          \
        atomic_store_explicit(&ring->head, head + 1, memory_order_release);                                  \
        return true;                                                                                         \
    }                                                                                                        \
                                                                                                             \
    /* Records that wait, at most. Context: signal, hook. */                                                 \
    static inline uint64_t name##_fill(const struct name *ring) {                                            \
        return atomic_load_explicit(&ring->head, memory_order_relaxed) -                                     \
               atomic_load_explicit(&ring->tail, memory_order_relaxed);                                      \
    }                                                                                                        \
                                                                                                             \
    /* False: empty. */                                                                                      \
    static inline bool name##_pop(struct name *ring, type *ret_record) {                                     \
        uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);                             \
                                                                                                             \
        if (tail == atomic_load_explicit(&ring->head, memory_order_acquire))                                 \
            return false;                                                                                    \
        *ret_record = ring->records[tail % (capacity)];                                                      \
        atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);                                  \
        return true;                                                                                         \
    }                                                                                                        \
    struct name
