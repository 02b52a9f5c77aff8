/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/code/table.h"

#include "profiler/base/hash.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>

/* An entry of a key is in one of the WINDOW slots from the key's home on. An insertion takes the first free slot of
 * the window, a lookup ends at the first slot that was never used, and a removal looks through the whole window, so it
 * misses no entry, whatever order insertions and removals came in.
 *
 * A slot goes  empty or removed -> busy -> key -> removed.  Whoever wins the compare-and-swap to `busy` owns the slot
 * until it stores the key. A thread may be preempted, or die, in between: others step over a busy slot, so every
 * operation is wait-free (at most WINDOW steps), at the price of a second entry for a key that two threads insert at
 * once.
 *
 * Ordering. The store of value (release) follows the winning of the slot; a lookup loads key (acquire), value
 * (acquire), and key again: if the value it got is of a later owner of the slot, then that owner's `busy` is visible to
 * the second load and the lookup steps on. Without a removal and a new insertion of the same key in between, the id is
 * right; the users see to that (code/registry_sigsafe.c).
 *
 * Slots are hashes, so a hundred keys in all slots would touch a hundred pages. Hence only the first ones are homes
 * until an insertion finds them crowded. Then there are four times as many, up to all. A lookup knows only the homes of
 * now: what was inserted before is inserted again. A removal looks at the homes of all times.
 *
 * `entries` counts entries by their hash, upwards before the key is visible and downwards after it is gone, so a
 * removal which is ordered after an insertion finds a count above zero. */

enum {
    KEY_EMPTY = 0,
    KEY_REMOVED = 1,
    KEY_BUSY = 2,
    WINDOW = 32,
    GROUP_BITS = 14,
    FIRST_SLOTS = 1024,
    GROWTH_BITS = 2, /* four times as many slots */
    CROWDED = 8,     /* steps from a key's home to a free slot: a load of about a half */
};

static_assert(PIE_CODE_TABLE_GROUPS == 1 << GROUP_BITS, "the hash's upper bits choose the group");
static_assert(sizeof(struct pie_code_slot) == 16, "slots lie in shared memory");

size_t pie_code_table_bytes(uint32_t slots) {
    return sizeof(struct pie_code_table) + slots * sizeof(struct pie_code_slot);
}

static uint32_t first_mask(const struct pie_code_table *table) {
    return table->slot_mask < FIRST_SLOTS ? table->slot_mask : FIRST_SLOTS - 1;
}

static uint32_t larger(uint32_t mask) {
    return mask << GROWTH_BITS | ((1u << GROWTH_BITS) - 1);
}

void pie_code_table_init(struct pie_code_table *table, uint32_t slots) {
    table->slot_mask = slots - 1;
    atomic_init(&table->used, first_mask(table));
}

static uint64_t hash_key(uint64_t key) {
    return pie_hash_upper(key ^ key >> 32);
}

static uint32_t home_of(uint64_t key, uint32_t mask) {
    return (uint32_t)(hash_key(key) >> 32) & mask;
}

/* Of two that grow a table at once, one has no effect. */
static void grow(struct pie_code_table *table, uint32_t mask) {
    uint32_t more = larger(mask) & table->slot_mask;

    if (more > mask)
        (void)atomic_compare_exchange_strong_explicit(&table->used, &mask, more, memory_order_relaxed,
                                                      memory_order_relaxed);
}

static uint32_t group_of(uint64_t key) {
    return (uint32_t)(hash_key(key) >> (64 - GROUP_BITS));
}

uint32_t pie_code_table_find(const struct pie_code_table *table, uint64_t key, uint32_t check) {
    uint32_t mask = atomic_load_explicit(&table->used, memory_order_relaxed), home = home_of(key, mask);

    for (uint32_t i = 0; i < WINDOW; i++) {
        const struct pie_code_slot *slot = &table->slots[(home + i) & mask];
        uint64_t found = atomic_load_explicit(&slot->key, memory_order_acquire); /* pairs with publish() */

        if (found == KEY_EMPTY)
            return 0;
        if (found != key)
            continue;
        uint64_t value = atomic_load_explicit(&slot->value, memory_order_acquire); /* pairs with publish() */
        if (atomic_load_explicit(&slot->key, memory_order_relaxed) == key && value >> 32 == check)
            return (uint32_t)value;
    }
    return 0;
}

static bool claim(struct pie_code_slot *slot) {
    uint64_t found = atomic_load_explicit(&slot->key, memory_order_relaxed);

    /* acquire: what the removal of the earlier entry did comes before what the new owner does */
    return (found == KEY_EMPTY || found == KEY_REMOVED) &&
           atomic_compare_exchange_strong_explicit(&slot->key, &found, KEY_BUSY, memory_order_acquire,
                                                   memory_order_relaxed);
}

static void publish(struct pie_code_slot *slot, uint64_t key, uint64_t value) {
    atomic_store_explicit(&slot->value, value, memory_order_release);
    atomic_store_explicit(&slot->key, key, memory_order_release);
}

void pie_code_table_insert(struct pie_code_table *table, uint64_t key, uint32_t check, uint32_t id) {
    uint32_t mask = atomic_load_explicit(&table->used, memory_order_relaxed), home = home_of(key, mask);

    for (uint32_t i = 0; i < WINDOW; i++) {
        struct pie_code_slot *slot = &table->slots[(home + i) & mask];

        if (i == CROWDED)
            grow(table, mask);
        if (claim(slot)) {
            atomic_fetch_add_explicit(&table->entries[group_of(key)], 1, memory_order_relaxed);
            publish(slot, key, (uint64_t)check << 32 | id);
            return;
        }
    }
}

uint64_t pie_code_table_next(const struct pie_code_table *table, uint32_t *number) {
    while (*number <= atomic_load_explicit(&table->used, memory_order_relaxed)) {
        uint64_t key = atomic_load_explicit(&table->slots[(*number)++].key, memory_order_acquire);
        if (key > KEY_BUSY)
            return key;
    }
    return 0;
}

static void remove_from(struct pie_code_table *table, uint64_t key, uint32_t mask) {
    uint32_t home = home_of(key, mask);

    for (uint32_t i = 0; i < WINDOW; i++) {
        struct pie_code_slot *slot = &table->slots[(home + i) & mask];
        uint64_t found = key;

        if (atomic_load_explicit(&slot->key, memory_order_relaxed) == key &&
            atomic_compare_exchange_strong_explicit(&slot->key, &found, KEY_REMOVED, memory_order_release,
                                                    memory_order_relaxed))
            atomic_fetch_sub_explicit(&table->entries[group_of(key)], 1, memory_order_relaxed);
    }
}

void pie_code_table_remove(struct pie_code_table *table, uint64_t key) {
    if (atomic_load_explicit(&table->entries[group_of(key)], memory_order_relaxed) == 0)
        return;

    /* An insertion that is ordered before this removal had no greater mask. The table may be zeroed meanwhile, so each
     * step is a larger mask whatever is in it by now. */
    uint32_t now = atomic_load_explicit(&table->used, memory_order_relaxed);
    for (uint32_t mask = first_mask(table); mask < now; mask = larger(mask))
        remove_from(table, key, mask);
    remove_from(table, key, now);
}
