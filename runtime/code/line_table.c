/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/code/line_table.h"

/* The location table (CPython's Objects/locations.md): a run of entries, each for 1 to 8 code units.
 *
 *     first byte:  1 kkkk nnn   kind k, n + 1 units; all other bytes have the top bit clear
 *     kind 0-9     same line, 1 byte of columns        13   line delta (svarint), no columns
 *     kind 10-12   line delta k - 10, 2 bytes           14   line delta (svarint), end line and columns (varints)
 *                                                       15   no line
 *
 * Varints have 6 bits a byte, least significant first, bit 6 says that another byte follows; a signed one keeps its
 * sign in bit 0. The columns are stepped over by looking for the next first byte. Most entries are of kind 0 to 9. */

enum {
    KIND_ONE_LINE_0 = 10,
    KIND_ONE_LINE_2 = 12,
    KIND_NO_COLUMNS = 13,
    KIND_LONG = 14,
    KIND_NONE = 15,
};

static uint32_t read_varint(const uint8_t *table, size_t size, size_t at) {
    uint32_t value = 0;

    for (unsigned shift = 0; at < size && shift < 32; shift += 6, at++) {
        value |= (uint32_t)(table[at] & 63) << shift;
        if (!(table[at] & 64))
            break;
    }
    return value;
}

static int32_t read_svarint(const uint8_t *table, size_t size, size_t at) {
    uint32_t value = read_varint(table, size, at);

    return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

static int32_t line_delta(const uint8_t *table, size_t size, size_t at, unsigned kind) {
    if (kind >= KIND_ONE_LINE_0 && kind <= KIND_ONE_LINE_2)
        return (int32_t)kind - KIND_ONE_LINE_0;
    if (kind == KIND_NO_COLUMNS || kind == KIND_LONG)
        return read_svarint(table, size, at);
    return 0;
}

static inline bool next(const uint8_t *table, size_t size, struct pie_line_entry *entry) {
    size_t at = entry->at;

    if (at >= size)
        return false;
    unsigned kind = table[at] >> 3 & 15;
    entry->first_unit += entry->units;
    entry->units = (table[at] & 7u) + 1;
    at++;
    entry->current += (uint32_t)line_delta(table, size, at, kind);
    entry->line = kind == KIND_NONE || (int32_t)entry->current < 0 ? 0 : (int32_t)entry->current;
    while (at < size && !(table[at] & 128))
        at++;
    entry->at = at;
    return true;
}

bool pie_line_table_next(const uint8_t *table, size_t size, struct pie_line_entry *entry) {
    return next(table, size, entry);
}

int32_t pie_line_table_find(const uint8_t *table, size_t size, int32_t first_line, uint32_t unit) {
    struct pie_line_entry entry = {.current = (uint32_t)first_line};

    while (next(table, size, &entry))
        if (unit - entry.first_unit < entry.units)
            return entry.line;
    return 0;
}
