/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/code/basic_block.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The table of profiler/code/basic_block.h: the first bytes of its arena, open addressing, one writer (the collection
 * thread), any number of readers. Instructions are found by the line of 64 bytes of code that they begin in. A slot is
 * one word, the line's address and the place of its record, so a line is never seen with the record of another. A
 * record and the blocks that it names are written before the slot that names it (release; acquire in find()). More
 * about a line is a new record, and the slot goes over to it. Libraries that take turns at an address have a slot each.
 *
 * Guarantees: what find() returns is the block that was learned for the address, or, if the table was forgotten since,
 * the one of before. Progress: wait-free. Reclamation: records and blocks lie behind the table in two halves, of which
 * one is in use; to forget everything is to change over, so that a handler that has just found a block can read it to
 * the end. What keeps a block longer asks whether the table is still of the same generation. A handler that is
 * interrupted for two changes, each of which takes a tick of the collection thread, finds nothing, or reads another
 * block's accesses at worst; an execute breakpoint where nobody expected one is harmless. */

enum {
    PIE_BASIC_BLOCK_LINE_BITS = 6,
    PIE_BASIC_BLOCK_LINE_BYTES = 1 << PIE_BASIC_BLOCK_LINE_BITS,
    PIE_BASIC_BLOCK_SLOTS_BITS = 17,
    PIE_BASIC_BLOCK_SLOTS = 1 << PIE_BASIC_BLOCK_SLOTS_BITS,
    PIE_BASIC_BLOCK_SLOTS_FILLED_MAX = PIE_BASIC_BLOCK_SLOTS / 4 * 3,
    PIE_BASIC_BLOCK_PROBES_MAX = 64,
    PIE_BASIC_BLOCK_IP_BITS = 47, /* all that an address in user space has */
    PIE_BASIC_BLOCK_PLACE_BITS = 64 - (PIE_BASIC_BLOCK_IP_BITS - PIE_BASIC_BLOCK_LINE_BITS),
    PIE_BASIC_BLOCK_ALIGN = 8, /* bytes; places count these */
};
static_assert(PIE_BASIC_BLOCK_LINE_BYTES == 64, "a line has a bit of a word for each byte");

/* What is known of a line. Atomics, relaxed: only a handler that was interrupted for two changes meets a writer. */
struct pie_basic_block_line {
    _Atomic uint64_t
        known; /* a bit for each byte where an instruction begins, or was asked for without result */
    _Atomic uint64_t first; /* those of them whose block is not that of the one before in the line */
    _Atomic uint32_t module;
    _Atomic uint32_t
        generation;            /* of code, when it was learned: what a module without a number is good for */
    _Atomic uint32_t places[]; /* of these blocks, in order */
};

struct pie_basic_block_table {
    uint32_t filled; /* of the writer */
    _Atomic uint32_t
        generation; /* counts how often everything was forgotten; its last bit is the half in use */
    _Atomic uint32_t rewrites; /* pie_code_modules_rewrites() that all of it is good for */
    uint32_t since;            /* pie_code_generation() when it was empty; of the writer */
    uint64_t half_bytes;       /* set once */
    uint64_t used_bytes;       /* of the half in use; of the writer */
    uint64_t full_ns;          /* CLOCK_MONOTONIC, when it was last emptied for being full; 0: never */
    const struct pie_basic_block
        *silent; /* the block without accesses in the half in use; NULL: none; of the writer */
    /* (address >> PIE_BASIC_BLOCK_LINE_BITS) << PIE_BASIC_BLOCK_PLACE_BITS | place; 0: free */
    _Atomic uint64_t slots[PIE_BASIC_BLOCK_SLOTS];
};

/* Context: signal. */
struct pie_basic_block_table *pie_basic_block_table(void); /* NULL: not made yet */
uint32_t pie_basic_block_hash(uint64_t line); /* the first slot of a line: an address >> LINE_BITS */
/* Is the slot that of the line, of the module that lies there now? */
bool pie_basic_block_slot_is_of(const struct pie_basic_block_table *table, uint64_t slot, uint64_t line,
                                unsigned module);
/* The record of a slot that is not free. */
struct pie_basic_block_line *pie_basic_block_line(const struct pie_basic_block_table *table, uint64_t slot);
/* No library's code was changed since it was emptied. */
bool pie_basic_block_table_is_current(const struct pie_basic_block_table *table);

/* The rest: context drain. */

/* Bytes in the half in use, of any content; NULL: there is no room. */
void *pie_basic_block_room(struct pie_basic_block_table *table, size_t bytes);
/* Gives back all that was taken since used_bytes of it were in use. No slot may name it. */
void pie_basic_block_room_back(struct pie_basic_block_table *table, uint64_t used_bytes);
/* A block in the half in use; NULL: there is no room. */
struct pie_basic_block *pie_basic_block_make(struct pie_basic_block_table *table,
                                             const struct pie_access *accesses, size_t count);
/* The block without accesses; NULL: there is no room. */
const struct pie_basic_block *pie_basic_block_silent(struct pie_basic_block_table *table);
/* Makes the table if there is none; NULL: its arena is too small. */
struct pie_basic_block_table *pie_basic_block_table_make(void);
