/* SPDX-License-Identifier: Apache-2.0 */

/* Tracked blocks. Buckets of eight slots, one cache line each, behind a filter that counts addresses by a part of them.
 * A slot is one word, the block's address and the ticket under which the collection thread knows it; a ticket's own
 * word says what became of it. A block that has grown was sampled several times: its tickets are a chain, of which the
 * slot names the last one. They end together. What is guaranteed is said in profiler/heap/engine.h. */

#include "profiler/heap/engine.h"

#include "profiler/base/hash.h"
#include "profiler/base/region.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

enum {
    BUCKETS = 1 << PIE_HEAP_BUCKET_BITS,
    BUCKET_SLOTS = 8,
    RESERVE_TRIES = 16,
};

static const uint64_t SLOT_EMPTY = 0;
/* In a ticket's word, instead of a time. */
static const uint64_t TICKET_FREE = 0, TICKET_ALIVE = 1, TICKET_LOST = 2;

struct table {
    /* address << PIE_HEAP_TICKET_BITS | ticket: release in put(), acquire in find_slot() and block() */
    _Atomic uint64_t slots[BUCKETS][BUCKET_SLOTS];
    _Atomic uint64_t
        fates[PIE_HEAP_TICKETS]; /* state, or CLOCK_MONOTONIC when freed (release; acquire in fate()) */
    /* The ticket that the block had before, or 0. Written before the ticket is in a slot, and not again until it is
     * reserved anew: whoever finds the slot (acquire) may follow. */
    _Atomic uint16_t before[PIE_HEAP_TICKETS];
    _Atomic uint32_t next_ticket;
    /* Bits of tickets that ended and were not told of yet (release; acquire in take_ended()). */
    _Atomic uint64_t ended[PIE_HEAP_TICKET_WORDS];
};

uint32_t pie_heap_table_bucket(const void *block) {
    return (uint32_t)(pie_hash_upper((uintptr_t)block >> 4) >> (64 - PIE_HEAP_BUCKET_BITS));
}

static uint64_t word_of(const void *block, uint32_t ticket) {
    return (uint64_t)(uintptr_t)block << PIE_HEAP_TICKET_BITS | ticket;
}

static uint64_t address_in(uint64_t word) {
    return word >> PIE_HEAP_TICKET_BITS;
}

static uint32_t ticket_in(uint64_t word) {
    return (uint32_t)word & (PIE_HEAP_TICKETS - 1);
}

/* Never down from the greatest value: it may stand for more. */
static void count_in_filter(const void *block, int step) {
    _Atomic uint8_t *count = &pie_heap_filter[pie_heap_filter_index(block)];
    uint8_t now = atomic_load_explicit(count, memory_order_relaxed);

    while (now != UINT8_MAX &&
           !atomic_compare_exchange_weak_explicit(count, &now, (uint8_t)(now + step), memory_order_relaxed,
                                                  memory_order_relaxed))
        continue;
}

static struct table *table; /* in the region: the same address in a forked child */

_Atomic uint8_t pie_heap_filter[PIE_HEAP_FILTER_BYTES]; /* pie_heap_table_init() clears it */

/* The first table of a process finds the filter untouched, and leaves its pages so. */
int pie_heap_table_init(void) {
    for (size_t i = 0; table && i < PIE_HEAP_FILTER_BYTES; i++)
        atomic_store_explicit(&pie_heap_filter[i], 0, memory_order_relaxed);
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

static uint32_t before(uint32_t ticket) {
    return atomic_load_explicit(&table->before[ticket], memory_order_relaxed);
}

void pie_heap_table_tell_again(uint32_t ticket) {
    atomic_fetch_or_explicit(&table->ended[ticket / 64], UINT64_C(1) << ticket % 64, memory_order_release);
}

/* A ticket and those before it. Once its fate is known, a ticket may be another block's. */
static void end_tickets(uint32_t ticket, uint64_t fate) {
    while (ticket) {
        uint32_t next = before(ticket);
        atomic_store_explicit(&table->fates[ticket], fate, memory_order_release);
        pie_heap_table_tell_again(ticket);
        ticket = next;
    }
}

/* The slot of a block and what it said; NULL: it is not tracked. */
static _Atomic uint64_t *find_slot(const void *block, uint64_t *ret_word) {
    uint32_t bucket = pie_heap_table_bucket(block);

    for (int i = 0; table && i < BUCKET_SLOTS; i++) {
        uint64_t word = atomic_load_explicit(&table->slots[bucket][i], memory_order_acquire);
        if (word != SLOT_EMPTY && address_in(word) == (uintptr_t)block) {
            *ret_word = word;
            return &table->slots[bucket][i];
        }
    }
    return NULL;
}

/* Whoever frees the block got it after this, and so finds it in the filter. */
static bool take_slot(uint32_t ticket, const void *block) {
    uint32_t bucket = pie_heap_table_bucket(block);

    count_in_filter(block, 1);
    for (int i = 0; (uintptr_t)block >> PIE_HEAP_ADDRESS_BITS == 0 && i < BUCKET_SLOTS; i++) {
        uint64_t expected = SLOT_EMPTY;
        if (atomic_compare_exchange_strong_explicit(&table->slots[bucket][i], &expected,
                                                    word_of(block, ticket), memory_order_release,
                                                    memory_order_relaxed))
            return true;
    }
    count_in_filter(block, -1);
    return false;
}

bool pie_heap_table_move(uint32_t ticket, const void *block) {
    if (take_slot(ticket, block))
        return true;
    end_tickets(ticket, TICKET_LOST);
    return false;
}

/* Only the collection thread takes tickets away meanwhile, one at a time. */
bool pie_heap_table_put(uint32_t ticket, const void *block) {
    _Atomic uint64_t *slot;
    uint64_t word;

    while ((slot = find_slot(block, &word)) != NULL) {
        atomic_store_explicit(&table->before[ticket], (uint16_t)ticket_in(word), memory_order_relaxed);
        if (atomic_compare_exchange_strong_explicit(slot, &word, word_of(block, ticket), memory_order_acq_rel,
                                                    memory_order_relaxed))
            return true;
    }
    atomic_store_explicit(&table->before[ticket], 0, memory_order_relaxed);
    return pie_heap_table_move(ticket, block);
}

/* False: the slot says something else by now, if only another ticket for the same address. */
static bool empty_slot(_Atomic uint64_t *slot, uint64_t word) {
    if (!atomic_compare_exchange_strong_explicit(slot, &word, SLOT_EMPTY, memory_order_acq_rel,
                                                 memory_order_relaxed))
        return false;
    count_in_filter((const void *)(uintptr_t)address_in(word), -1);
    return true;
}

uint32_t pie_heap_table_remove(const void *block) {
    _Atomic uint64_t *slot;
    uint64_t word;

    while ((slot = find_slot(block, &word)) != NULL)
        if (empty_slot(slot, word)) /* else the collection thread has just dropped the last ticket */
            return ticket_in(word);
    return 0;
}

void pie_heap_table_free(uint32_t ticket, uint64_t now_ns) {
    end_tickets(ticket, now_ns > TICKET_LOST ? now_ns : TICKET_LOST + 1);
}

void pie_heap_table_lose(uint32_t ticket) {
    atomic_store_explicit(&table->before[ticket], 0, memory_order_relaxed);
    end_tickets(ticket, TICKET_LOST);
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

uint64_t pie_heap_table_take_ended(size_t word) {
    if (!table || !atomic_load_explicit(&table->ended[word], memory_order_relaxed))
        return 0;
    return atomic_exchange_explicit(&table->ended[word], 0, memory_order_acquire);
}

/* A chain may be freed while it is followed; its tickets are no others before the collection thread has said so. */
void pie_heap_table_blocks(const void *ret_blocks[PIE_HEAP_TICKETS]) {
    memset(ret_blocks, 0, PIE_HEAP_TICKETS * sizeof *ret_blocks);
    for (int i = 0; table && i < BUCKETS; i++)
        for (int j = 0; j < BUCKET_SLOTS; j++) {
            uint64_t word = atomic_load_explicit(&table->slots[i][j], memory_order_acquire);
            uint32_t ticket = word == SLOT_EMPTY ? 0 : ticket_in(word);
            for (int n = 0; ticket && n < PIE_HEAP_TICKETS; n++, ticket = before(ticket))
                ret_blocks[ticket] = (const void *)(uintptr_t)address_in(word);
        }
}

bool pie_heap_table_is_last(uint32_t ticket, const void *block) {
    uint64_t word;

    return find_slot(block, &word) && ticket_in(word) == ticket;
}

bool pie_heap_table_drop(uint32_t ticket, const void *block) {
    uint64_t word;
    _Atomic uint64_t *slot = find_slot(block, &word);

    if (!slot || ticket_in(word) != ticket)
        return false;
    if (before(ticket) ? !atomic_compare_exchange_strong_explicit(slot, &word, word_of(block, before(ticket)),
                                                                  memory_order_acq_rel, memory_order_relaxed)
                       : !empty_slot(slot, word))
        return false;
    pie_heap_table_recycle(ticket);
    return true;
}
