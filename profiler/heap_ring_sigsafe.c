/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/heap_engine.h"

bool pie_heap_ring_push(struct pie_heap_ring *ring, const struct pie_heap_record *record) {
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire); /* release in pop() */

    if (head - tail >= PIE_HEAP_RING_RECORDS)
        return false;
    ring->records[head % PIE_HEAP_RING_RECORDS] = *record;
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
    return true;
}

bool pie_heap_ring_pop(struct pie_heap_ring *ring, struct pie_heap_record *ret_record) {
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire); /* release in push() */

    if (tail == head)
        return false;
    *ret_record = ring->records[tail % PIE_HEAP_RING_RECORDS];
    atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
    return true;
}
