/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/code/decode_function.h"

#include <stddef.h>

/* Jump tables: where a `switch` goes. Context: drain (all functions). */

enum { PIE_DECODE_TABLES_MAX = 256, PIE_DECODE_TABLE_ENTRIES_MAX = 1024 };

struct pie_decode_table {
    uint64_t address;
    uint32_t jump;    /* offset of the jump */
    bool is_relative; /* entries: 32 bits, from the table's address; else addresses of 64 bits */
};

/* What the instructions before a jump said. Zeroed at the beginning. */
struct pie_decode_tables {
    uint64_t bases[16]; /* by register: address that was computed from RIP last */
    uint64_t indexed;   /* table from which an entry was loaded last, and how long ago */
    unsigned age_instructions;
    bool is_relative;
    size_t n;
    struct pie_decode_table found[PIE_DECODE_TABLES_MAX];
};

/* Looks at each instruction in the order of addresses. */
void pie_decode_tables_see(struct pie_decode_tables *tables, const uint8_t *code, size_t length, uint64_t ip);
/* The instruction is an indirect jump: notes its table, if one shows. offset: of the jump in its function. */
void pie_decode_tables_jump(struct pie_decode_tables *tables, const uint8_t *code, size_t length,
                            uint32_t offset);
/* Offsets in the function of the first entries, at most max; an entry may lead elsewhere (to a cold part) and is left
 * out. The table ends where another begins or where an entry is none. */
size_t pie_decode_tables_read(const struct pie_decode_tables *tables, size_t which,
                              const struct pie_decode_function *function,
                              uint32_t offsets[PIE_DECODE_TABLE_ENTRIES_MAX]);
