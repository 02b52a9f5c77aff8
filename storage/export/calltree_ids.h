/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The keys of a table's rows, in the order of (process, id) in which they are read: which row has a key? Processes
 * give ids of 32 bits, from 1 on (contexts.h); a row with another one counts as not there. Context: cli. */
struct pie_calltree_ids {
    uint32_t *ids;
    uint32_t count;
    struct pie_calltree_process *processes; /* whose rows stand together */
    uint32_t process_count;
};

struct pie_calltree_process {
    int64_t process;
    uint32_t first; /* of its rows; they end where the next process's begin */
};

/* The id, or 0 where it is none. */
uint32_t pie_calltree_id(int64_t id);

/* Adds a row that follows the others; id is not 0. Returns 0, -ENOMEM or -EOVERFLOW. */
int pie_calltree_ids_add(struct pie_calltree_ids *ids, int64_t process, uint32_t id);
/* The row's number from 1 on; 0: there is none. */
uint32_t pie_calltree_ids_find(const struct pie_calltree_ids *ids, int64_t process, int64_t id);
void pie_calltree_ids_finish(struct pie_calltree_ids *ids);

/* `references` has an id in each of these rows, of a row of the same process in `into`, which may be the same table.
 * They become the numbers of these rows. */
void pie_calltree_ids_resolve(const struct pie_calltree_ids *rows, const struct pie_calltree_ids *into,
                              uint32_t *references);
