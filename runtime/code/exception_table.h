/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* The exception table of a code object (CPython's InternalDocs/exception_handling.md) is a run of entries of four
 * varints: first unit, number of units, handler, depth. Varints have 6 bits a byte, most significant first. Bit 6 says
 * that another byte follows, bit 7 marks the first byte of an entry. */

enum { PIE_VARINT_BITS = 6, PIE_VARINT_CONTINUES = 1 << PIE_VARINT_BITS };

/* The next number, and *table behind it; it ends with the table. Context: any. */
static inline uint32_t pie_exception_table_read(const uint8_t **table, const uint8_t *end) {
    uint32_t value = 0;

    while (*table < end) {
        uint8_t byte = *(*table)++;

        value = value << PIE_VARINT_BITS | (byte & (PIE_VARINT_CONTINUES - 1));
        if (!(byte & PIE_VARINT_CONTINUES))
            break;
    }
    return value;
}
