/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Shared by symbol_table.c, symbol_table_builder.c and symbol_table_pack.c. */

/* 16 bytes, for there may be a million of them. A segment ends where the next one starts or at start + size. */
struct pie_symbol_segment {
    uint64_t start;
    uint32_t size;
    uint32_t name; /* offset in names, or with PIE_NAME_LEFT in those that were left in the file */
};

#define PIE_NAME_LEFT 0x80000000U

/* Where a block of a packed table lies, see symbol_table_pack.c. */
struct pie_symbol_place {
    uint64_t start; /* of its first segment */
    uint64_t check;
    uint32_t at, bytes;
};

/* Either all segments and names, or the places of packed blocks and those blocks that were reached. */
struct pie_symbol_table {
    struct pie_symbol_segment *segments;
    size_t count;
    char *names;
    size_t names_size;
    uint64_t left_offset, left_bytes; /* in the module's file */
    struct pie_symbol_place *places;  /* in block; NULL: nothing is packed */
    size_t n_places;
    char **loaded; /* by block: its segments and their names; NULL: not reached */
    size_t loaded_bytes, n_loaded;
    const char *blocks; /* to be read with safe loads */
    void *block, *mapping;
    size_t mapping_bytes;
};

/* Of a packed table: the block that an address is in, from 1 on; 0: it lies before all. */
size_t pie_symbol_table_block_at(const struct pie_symbol_table *table, uint64_t address);
/* Its segments, which their names follow; NULL: it was not reached. */
const struct pie_symbol_segment *pie_symbol_table_loaded(const struct pie_symbol_table *table,
                                                         uint64_t address, size_t *ret_count);

struct pie_raw_symbol {
    uint64_t start, size; /* start + size does not overflow; size 0: unknown */
    uint64_t limit;       /* where it ends at the latest */
    const char *name;     /* NULL: left in the file */
    uint32_t name_offset; /* in the table, valid with has_offset; with PIE_NAME_LEFT in the file */
    bool has_offset;
    unsigned char info; /* st_info */
};

struct pie_symbol_table_builder {
    struct pie_raw_symbol *symbols;
    size_t count, capacity;
    const Elf *left_elf; /* with names that stay in the file, and these */
    uint64_t left_offset, left_bytes;
};
