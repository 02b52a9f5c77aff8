/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The items of a list or a set, whatever their order. Context: signal. */

enum { PIE_ITEMS_MAX = 4096 }; /* of one that are looked at: some 5 us */

struct pie_items {
    uintptr_t address;   /* of the first slot, whose first word is an item; 0: the slot is empty */
    uint64_t slots;      /* of which PIE_ITEMS_MAX are looked at */
    uint32_t slot_words; /* 1 or 2 */
};

struct pie_items_sketch {
    uint64_t least; /* hash of any item: where some items come and go, it is mostly the same */
    uint64_t sum;   /* of the hashes: where an item comes or goes, it is another */
};

/* False: some slot is unreadable, or the loads took longer than 25 us: its pages or caches are cold. */
bool pie_items_sketch_take(const struct pie_items *items, struct pie_items_sketch *ret_sketch);
