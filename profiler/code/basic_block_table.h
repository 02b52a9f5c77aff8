/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The table of profiler/code/basic_block.h: the first bytes of its arena, open addressing, one writer (the collection
 * thread), any number of readers. A slot is one word, the instruction's address and the number of its block, so an
 * address is never seen with the block of another; a block and its offset are written before the slot that names them
 * (release; acquire in find()). Libraries that take turns at an address have a slot each. Blocks are numbered by half,
 * so that a number of the half that was in use before stays what it was.
 *
 * Guarantees: what find() returns is the block that was learned for the address, or, if the table was forgotten since,
 * the one of before. Progress: wait-free. Reclamation: blocks lie behind the table in two halves, of which one is in
 * use; to forget everything is to change over, so that a handler that has just found a block can read it to the end.
 * What keeps a block longer asks whether the table is still of the same generation. A handler that is interrupted for
 * two changes, each of which takes a tick of the collection thread, reads another block's accesses at worst, and an
 * execute breakpoint where nobody expected one is harmless. */

enum {
    PIE_BASIC_BLOCK_SLOTS_BITS = 16,
    PIE_BASIC_BLOCK_SLOTS = 1 << PIE_BASIC_BLOCK_SLOTS_BITS,
    PIE_BASIC_BLOCK_SLOTS_FILLED_MAX = PIE_BASIC_BLOCK_SLOTS / 4 * 3,
    PIE_BASIC_BLOCK_PROBES_MAX = 64,
    PIE_BASIC_BLOCK_NUMBER_BITS = 17,                           /* the half, and which of its blocks */
    PIE_BASIC_BLOCK_IP_BITS = 64 - PIE_BASIC_BLOCK_NUMBER_BITS, /* all that an address in user space has */
};
static_assert(PIE_BASIC_BLOCK_SLOTS_BITS + 1 <= PIE_BASIC_BLOCK_NUMBER_BITS,
              "each slot may have a block of its own");

struct pie_basic_block_table {
    uint32_t filled; /* of the writer */
    _Atomic uint32_t
        generation; /* counts how often everything was forgotten; its last bit is the half in use */
    _Atomic uint32_t rewrites; /* pie_code_modules_rewrites() that all of it is good for */
    uint32_t since;            /* pie_code_generation() when it was empty; of the writer */
    uint64_t half_bytes;       /* of the writer */
    uint64_t used_bytes;       /* of the half in use; of the writer */
    uint32_t blocks;           /* in the half in use; of the writer */
    _Atomic uint64_t
        slots[PIE_BASIC_BLOCK_SLOTS]; /* address << PIE_BASIC_BLOCK_NUMBER_BITS | number; 0: free */
    /* Of each struct pie_basic_block, from the arena's start, by number. */
    _Atomic uint32_t offsets[2][PIE_BASIC_BLOCK_SLOTS];
};

struct pie_basic_block;

/* Context: signal. */
struct pie_basic_block_table *pie_basic_block_table(void); /* NULL: not made yet */
uint32_t pie_basic_block_hash(uint64_t ip);
/* Numbers a block that was written behind the table, in the half in use; names it by its number at ip. Returns 0, or
 * -ENOMEM: there is no slot near by. Context: drain. */
uint32_t pie_basic_block_enter(struct pie_basic_block_table *table, const struct pie_basic_block *block);
int pie_basic_block_publish(struct pie_basic_block_table *table, uint64_t ip, uint32_t number);
/* The number of a module's block at ip, or -1. Context: signal. */
int32_t pie_basic_block_number(uint64_t ip, unsigned module);
/* No library's code was changed since it was emptied. Context: signal. */
bool pie_basic_block_table_is_current(const struct pie_basic_block_table *table);
