/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/watch.h"

bool pie_watch_ring_push(struct pie_watch_ring *ring, const struct pie_watch_record *record) {
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire); /* release in pop() */

    if (head - tail >= PIE_WATCH_RING_RECORDS)
        return false;
    ring->records[head % PIE_WATCH_RING_RECORDS] = *record;
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
    return true;
}

bool pie_watch_ring_pop(struct pie_watch_ring *ring, struct pie_watch_record *ret_record) {
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire); /* release in push() */

    if (tail == head)
        return false;
    *ret_record = ring->records[tail % PIE_WATCH_RING_RECORDS];
    atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
    return true;
}

bool pie_watch_wish(struct pie_watch_wishes *wishes, uint64_t ip) {
    uint64_t head = atomic_load_explicit(&wishes->head, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(&wishes->tail, memory_order_acquire); /* release in wishes_pop() */

    if (head - tail >= PIE_WATCH_WISHES)
        return false;
    wishes->ips[head % PIE_WATCH_WISHES] = ip;
    atomic_store_explicit(&wishes->head, head + 1, memory_order_release);
    return true;
}

bool pie_watch_wishes_pop(struct pie_watch_wishes *wishes, uint64_t *ret_ip) {
    uint64_t tail = atomic_load_explicit(&wishes->tail, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&wishes->head, memory_order_acquire); /* release in wish() */

    if (tail == head)
        return false;
    *ret_ip = wishes->ips[tail % PIE_WATCH_WISHES];
    atomic_store_explicit(&wishes->tail, tail + 1, memory_order_release);
    return true;
}
