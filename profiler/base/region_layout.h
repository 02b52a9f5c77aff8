/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/base/region.h"

/* Shared by region.c, which maps the region, and region_sigsafe.c, which allocates from it; for no other file. */

/* First page of the mapping: a fresh one begins with empty arenas. */
struct pie_region_header {
    _Atomic uint64_t used_bytes[PIE_ARENA_COUNT];
    _Atomic uint64_t
        open_bytes[PIE_ARENA_COUNT]; /* can be written; not less than what is used, but for stacks */
    _Atomic uint32_t openers; /* threads that open memory now: the memory that they found must stay mapped */
};

struct pie_region_layout {
    struct pie_region_header *header; /* NULL: not mapped */
    char *base[PIE_ARENA_COUNT];
    /* Become less when the region is trimmed; seq_cst there and in pie_region_alloc(). */
    _Atomic size_t bytes[PIE_ARENA_COUNT];
    bool is_trimmed; /* the holes between the arenas may belong to others */
};

/* Set once by pie_region_init() before any handler is installed; changed afterwards by pie_region_trim() only, in
 * forked children too. */
extern struct pie_region_layout pie_region_layout;
