/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/code/basic_block_table.h"

/* Instructions get their blocks, line by line. Context: drain (all functions). */

struct pie_basic_block_lines {
    struct pie_basic_block_table *table;
    unsigned module;     /* all of it is of */
    uint32_t generation; /* of code */
    uint64_t line;       /* being gathered: an address >> PIE_BASIC_BLOCK_LINE_BITS; 0: none */
    uint64_t known;
    uint32_t places[PIE_BASIC_BLOCK_LINE_BYTES]; /* of the blocks of the known ones, by byte */
    int error;                                   /* -ENOMEM: a line had no room */
};

void pie_basic_block_lines_begin(struct pie_basic_block_lines *lines, struct pie_basic_block_table *table,
                                 unsigned module, uint32_t generation);
/* An instruction begins at ip, of this block of the table. Handlers find it when an instruction of another line is
 * named, or at the end. */
void pie_basic_block_lines_name(struct pie_basic_block_lines *lines, uint64_t ip,
                                const struct pie_basic_block *block);
/* Returns 0; -ENOMEM: some of what was named had no room. */
int pie_basic_block_lines_end(struct pie_basic_block_lines *lines);
