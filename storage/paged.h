/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An array by 32-bit ids, whose memory is taken in pages where ids are used and given back where none is kept. An entry that was
 * never made is all zeros. Context: drain. */
struct pie_paged {
    void **pages; /* reserved address space, of which the kernel backs only the parts that are written */
    size_t entry_size;
    size_t used; /* pages beyond this index have never been touched */
};

/* Returns 0 or -ENOMEM. */
int pie_paged_init(struct pie_paged *paged, size_t entry_size);
/* One whose bytes are all 0 is allowed, too. drop: called with each entry that may have something to give back; NULL: none has. */
void pie_paged_finish(struct pie_paged *paged, void (*drop)(void *entry));

/* The entry of an id, NULL if none near it was made. */
void *pie_paged_get(const struct pie_paged *paged, uint32_t id);
/* The same, made if need be; NULL: short of memory. */
void *pie_paged_make(struct pie_paged *paged, uint32_t id);

/* Calls see() with each entry of the pages that there are. */
void pie_paged_each(const struct pie_paged *paged, void (*see)(void *data, uint32_t id, void *entry),
                    void *data);

/* Entries that are not kept become zeros again; drop as above. */
void pie_paged_forget(struct pie_paged *paged, bool (*keeps)(void *data, uint32_t id), void *data,
                      void (*drop)(void *entry));
