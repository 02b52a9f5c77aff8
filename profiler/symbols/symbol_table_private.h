/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Shared by symbol_table.c and symbol_table_builder.c. */
struct pie_raw_symbol {
    uint64_t start, size; /* start + size does not overflow; size 0: unknown */
    uint64_t limit;       /* where it ends at the latest */
    const char *name;
    uint32_t name_offset; /* in the table, valid with has_offset */
    bool has_offset;
    unsigned char info; /* st_info */
};

struct pie_symbol_table_builder {
    struct pie_raw_symbol *symbols;
    size_t count, capacity;
};
