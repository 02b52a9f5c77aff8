/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/base/u64map.h"

/* Entries of one size by 32-bit ids, which count up for ever while few are in use. An entry never moves as long as it
 * is kept; one that was never made is all zeros. Memory is for as many as there ever were at once. Context: drain. */
struct pie_sparse {
    size_t entry_size;
    struct pie_u64map slot_of; /* id -> slot + 1 */
    void **chunks;             /* of entries, by slot */
    uint32_t *ids;             /* by slot */
    bool *is_used;             /* by slot */
    uint32_t *unused;          /* slots */
    size_t slots, n_unused;
};

/* One whose bytes are all 0 but for the size of entries is empty. */
void pie_sparse_init(struct pie_sparse *sparse, size_t entry_size);
/* drop: called with each entry that may have something to give back; NULL: none has. */
void pie_sparse_finish(struct pie_sparse *sparse, void (*drop)(void *entry));

/* The entry of an id, NULL if it was not made. */
void *pie_sparse_get(const struct pie_sparse *sparse, uint32_t id);
/* The same, made if need be; NULL: short of memory. */
void *pie_sparse_make(struct pie_sparse *sparse, uint32_t id);

/* Calls see() with each entry. */
void pie_sparse_each(const struct pie_sparse *sparse, void (*see)(void *data, uint32_t id, void *entry),
                     void *data);

/* Entries that are not kept are no more; drop as above. */
void pie_sparse_forget(struct pie_sparse *sparse, bool (*keeps)(void *data, uint32_t id), void *data,
                       void (*drop)(void *entry));
