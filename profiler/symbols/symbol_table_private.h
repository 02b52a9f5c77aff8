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

struct pie_symbol_table {
    struct pie_symbol_segment *segments;
    size_t count;
    char *names;
    size_t names_size;
    uint64_t left_offset, left_bytes; /* in the module's file */
    void *block; /* where the segments and the names lie, unless each has memory of its own */
};

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
