/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Python's dicts read without the C-API, by fault-tolerant loads. Behind the indices of a dict's table its entries
 * follow, in the order in which they were put in. A dict of an instance has its values elsewhere, and is not read.
 * Context: signal, drain (all functions). */

struct pie_pydict {
    uintptr_t entries;
    uintptr_t used;  /* entries that are there */
    uintptr_t slots; /* … and those that were deleted since the table was made */
    uint8_t entry_bytes, key_at, value_at;
    bool is_split; /* the values are elsewhere */
};

/* False: unreadable. */
bool pie_pydict_locate(uintptr_t dict, struct pie_pydict *ret_dict);

/* Key and value of a slot; both 0 where it was deleted. False: unreadable. */
bool pie_pydict_entry(const struct pie_pydict *dict, uintptr_t slot, uintptr_t *ret_key,
                      uintptr_t *ret_value);
