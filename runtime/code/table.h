/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A map from 64-bit keys to 32-bit ids that handlers may insert into: open addressing, lock-free, in memory of the
 * caller. Its first slots are used alone until they are crowded, so a table of few keys touches few pages. Zeroed
 * memory is an empty table. It may forget an entry, and it may hold two entries of one key. But it never returns an id
 * under another key than its own, and none that was removed before the call.
 *
 * Context: any (all functions). */

struct pie_code_slot {
    _Atomic uint64_t key;   /* 0: never used */
    _Atomic uint64_t value; /* check in the upper half, id in the lower */
};

enum { PIE_CODE_TABLE_GROUPS = 1 << 14 };

struct pie_code_table {
    uint32_t slot_mask;    /* number of slots - 1, a power of two */
    _Atomic uint32_t used; /* the mask of the slots that are in use so far */
    /* How many entries share some bits of their hash: most removals of a key that was never inserted end here. */
    _Atomic uint16_t entries[PIE_CODE_TABLE_GROUPS];
    struct pie_code_slot slots[];
};

/* Bytes of a table of `slots` slots (a power of two, at least 64). */
size_t pie_code_table_bytes(uint32_t slots);

/* Makes zeroed memory a table. */
void pie_code_table_init(struct pie_code_table *table, uint32_t slots);

/* The id inserted under key with the same check, or 0. key is above 2. */
uint32_t pie_code_table_find(const struct pie_code_table *table, uint64_t key, uint32_t check);

/* Inserts; does nothing if the slots where key may be are taken. id is not 0. */
void pie_code_table_insert(struct pie_code_table *table, uint64_t key, uint32_t check, uint32_t id);

/* The next key in a slot from *number on, which is behind it then; 0: there are no more. A key may come twice. */
uint64_t pie_code_table_next(const struct pie_code_table *table, uint32_t *number);

/* Removes every entry of key. */
void pie_code_table_remove(struct pie_code_table *table, uint64_t key);
