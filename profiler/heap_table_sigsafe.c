/* SPDX-License-Identifier: Apache-2.0 */

/* Tracked blocks. Buckets of eight addresses, one cache line each, behind a filter that counts addresses by a part of them;
 * beside each address the ticket under which the collection thread knows the block. A ticket's word says what became of it.
 *
 * Guarantees: a block that was put is found by the one free() of its address. Progress: lock-free, every step bounded.
 * Reclamation: a bucket's slot at once, a ticket when the collection thread has taken its fate. */

#include "profiler/heap_engine.h"

#include "profiler/region.h"

#include <errno.h>
#include <stddef.h>

enum {
    BUCKETS = 2048,
    BUCKET_SLOTS = 8,
    RESERVE_TRIES = 16,
};

/* In a slot, instead of an address. */
static const uintptr_t SLOT_EMPTY = 0, SLOT_TAKEN = 1;
/* In a ticket's word, instead of a time. */
static const uint64_t TICKET_FREE = 0, TICKET_ALIVE = 1, TICKET_LOST = 2;

struct table {
    _Atomic uintptr_t blocks[BUCKETS][BUCKET_SLOTS];
    _Atomic uint16_t tickets[BUCKETS]
                            [BUCKET_SLOTS]; /* written before the block (release), read after (acquire) */
    _Atomic uint64_t
        fates[PIE_HEAP_TICKETS]; /* state, or CLOCK_MONOTONIC when freed (release; acquire in fate()) */
    _Atomic uint32_t next_ticket;
    _Atomic uint64_t version;
};

static uint32_t bucket_of(const void *block) {
    return (uint32_t)(((uintptr_t)block >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 53); /* 11 bits */
}

/* Never down from the greatest value: it may stand for more. */
static void count_in_filter(const void *block, int step) {
    uint8_t *count = &pie_heap_filter[pie_heap_filter_index(block)],
            now = __atomic_load_n(count, __ATOMIC_RELAXED);

    while (now != UINT8_MAX && !__atomic_compare_exchange_n(count, &now, (uint8_t)(now + step), false,
                                                            __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        continue;
}

static struct table *table; /* in the region: the same address in a forked child */

uint8_t pie_heap_filter[PIE_HEAP_FILTER_BYTES]; /* pie_heap_table_init() clears it */

int pie_heap_table_init(void) {
    for (size_t i = 0; i < PIE_HEAP_FILTER_BYTES; i++)
        __atomic_store_n(&pie_heap_filter[i], 0, __ATOMIC_RELAXED);
    table = pie_region_alloc(PIE_ARENA_HEAP, sizeof *table);
    return table ? 0 : -ENOMEM;
}

uint32_t pie_heap_table_reserve(void) {
    for (int i = 0; table && i < RESERVE_TRIES; i++) {
        uint32_t ticket =
            atomic_fetch_add_explicit(&table->next_ticket, 1, memory_order_relaxed) % PIE_HEAP_TICKETS;
        uint64_t expected = TICKET_FREE;
        if (ticket != 0 &&
            atomic_compare_exchange_strong_explicit(&table->fates[ticket], &expected, TICKET_ALIVE,
                                                    memory_order_acquire, memory_order_relaxed))
            return ticket;
    }
    return 0;
}

static void end_ticket(uint32_t ticket, uint64_t fate) {
    atomic_store_explicit(&table->fates[ticket], fate, memory_order_release);
    atomic_fetch_add_explicit(&table->version, 1, memory_order_release);
}

bool pie_heap_table_put(uint32_t ticket, const void *block) {
    uint32_t bucket = bucket_of(block);

    for (int i = 0; i < BUCKET_SLOTS; i++) {
        uintptr_t expected = SLOT_EMPTY;
        if (!atomic_compare_exchange_strong_explicit(&table->blocks[bucket][i], &expected, SLOT_TAKEN,
                                                     memory_order_acquire, memory_order_relaxed))
            continue;
        count_in_filter(block, 1);
        atomic_store_explicit(&table->tickets[bucket][i], (uint16_t)ticket, memory_order_relaxed);
        atomic_store_explicit(&table->blocks[bucket][i], (uintptr_t)block, memory_order_release);
        return true;
    }
    end_ticket(ticket, TICKET_LOST);
    return false;
}

/* wanted: only under this ticket; 0: any. */
static uint32_t remove_block(const void *block, uint32_t wanted) {
    uint32_t bucket = bucket_of(block);

    for (int i = 0; table && i < BUCKET_SLOTS; i++) {
        uintptr_t expected = (uintptr_t)block;
        if (atomic_load_explicit(&table->blocks[bucket][i], memory_order_acquire) != expected)
            continue;
        uint32_t ticket = atomic_load_explicit(&table->tickets[bucket][i], memory_order_relaxed);
        if (wanted && ticket != wanted)
            return 0;
        if (!atomic_compare_exchange_strong_explicit(&table->blocks[bucket][i], &expected, SLOT_EMPTY,
                                                     memory_order_acq_rel, memory_order_relaxed))
            return 0; /* the collection thread has just dropped it */
        count_in_filter(block, -1);
        return ticket;
    }
    return 0;
}

uint32_t pie_heap_table_remove(const void *block) {
    return remove_block(block, 0);
}

void pie_heap_table_free(uint32_t ticket, uint64_t now_ns) {
    end_ticket(ticket, now_ns > TICKET_LOST ? now_ns : TICKET_LOST + 1);
}

void pie_heap_table_lose(uint32_t ticket) {
    end_ticket(ticket, TICKET_LOST);
}

enum pie_heap_fate pie_heap_table_fate(uint32_t ticket, uint64_t *ret_freed_ns) {
    uint64_t fate = atomic_load_explicit(&table->fates[ticket], memory_order_acquire);

    if (fate == TICKET_ALIVE || fate == TICKET_FREE)
        return PIE_HEAP_ALIVE;
    *ret_freed_ns = fate;
    return fate == TICKET_LOST ? PIE_HEAP_LOST : PIE_HEAP_FREED;
}

void pie_heap_table_recycle(uint32_t ticket) {
    atomic_store_explicit(&table->fates[ticket], TICKET_FREE, memory_order_release);
}

uint64_t pie_heap_table_version(void) {
    return table ? atomic_load_explicit(&table->version, memory_order_acquire) : 0;
}

const void *pie_heap_table_block(uint32_t ticket) {
    for (int i = 0; table && i < BUCKETS; i++)
        for (int j = 0; j < BUCKET_SLOTS; j++) {
            uintptr_t block = atomic_load_explicit(&table->blocks[i][j], memory_order_acquire);
            if (block > SLOT_TAKEN &&
                atomic_load_explicit(&table->tickets[i][j], memory_order_relaxed) == ticket)
                return (const void *)block;
        }
    return NULL;
}

bool pie_heap_table_drop(uint32_t ticket, const void *block) {
    if (!remove_block(block, ticket))
        return false;
    pie_heap_table_recycle(ticket);
    return true;
}
