/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

/* The table of profiler/block.h: the first bytes of its arena, open addressing, one writer (the collection thread), any
 * number of readers. A slot is filled offset first, then its key is published (release; acquire in find()).
 *
 * Blocks lie behind the table in two halves, of which one is in use; to forget everything is to change over, so that a
 * handler that has just found a block can read it to the end. What keeps a block longer asks whether the table is
 * still of the same generation. A reader that meets a slot while it is cleared and filled anew gets the accesses
 * of another block at worst, and an execute breakpoint where nobody expected one is harmless. */

enum {
    PIE_BLOCK_SLOTS = 1 << 16,
    PIE_BLOCK_SLOTS_FILLED_MAX = PIE_BLOCK_SLOTS / 4 * 3,
    PIE_BLOCK_PROBES_MAX = 64
};

struct pie_block_slot {
    _Atomic uint64_t ip;     /* 0: free */
    _Atomic uint64_t offset; /* of the struct pie_block, from the arena's start */
};

struct pie_block_table {
    uint32_t filled; /* of the writer */
    _Atomic uint32_t
        generation;      /* counts how often everything was forgotten; its last bit is the half in use */
    uint64_t half_bytes; /* of the writer */
    uint64_t used_bytes; /* of the half in use; of the writer */
    struct pie_block_slot slots[PIE_BLOCK_SLOTS];
};

/* Context: signal. */
struct pie_block_table *pie_block_table(void); /* NULL: not made yet */
uint32_t pie_block_hash(uint64_t ip);
