/* SPDX-License-Identifier: Apache-2.0 */

/* Packed rows: a byte chooses the kind, four bytes the block, the rest are the rows. Rows that can be unpacked are the
 * same after they have been packed again, in no more bytes. */

#include "storage/file/packing.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD_BYTES = 5, ROWS_MAX = 4096 };

static struct pie_packed_row rows[ROWS_MAX], again[ROWS_MAX];
static unsigned char bytes[PIE_PACKING_HEAD_BYTES + PIE_PACKING_ROW_BYTES * ROWS_MAX];

/* Returns how many rows there are; a negative number: they are damaged, or too many. */
static int unpack(const struct pie_packing *packing, uint32_t block, const uint8_t *data, size_t size,
                  struct pie_packed_row *ret_rows) {
    struct pie_unpacking unpacking;
    int count = 0, found, r = pie_unpacking_begin(&unpacking, packing, block, data, size);

    while (r == 0 && count < ROWS_MAX && (found = pie_unpacking_next(&unpacking, &ret_rows[count])) != 0) {
        r = found < 0 ? found : 0;
        count += found > 0;
    }
    return r < 0 || count == ROWS_MAX ? -1 : count;
}

static void require(int is_so) {
    if (!is_so)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint32_t block;

    if (size < HEAD_BYTES)
        return 0;
    const struct pie_packing *packing = pie_packing_of(1 + data[0] % PIE_PACKING_KINDS);
    memcpy(&block, data + 1, sizeof block);
    int count = unpack(packing, block, data + HEAD_BYTES, size - HEAD_BYTES, rows);
    if (count < 0)
        return 0;
    require(pie_packing_sort(packing, rows, (size_t)count) == (size_t)count);
    size_t packed = pie_packing_encode(packing, rows, (size_t)count, bytes);
    require(packed <= size - HEAD_BYTES);
    require(unpack(packing, block, bytes, packed, again) == count);
    for (int i = 0; i < count; i++) {
        require(rows[i].part == again[i].part && rows[i].node == again[i].node);
        require(memcmp(rows[i].values, again[i].values, packing->value_count * sizeof rows[i].values[0]) ==
                0);
        require(memcmp(&rows[i].squares, &again[i].squares, sizeof rows[i].squares) == 0);
    }
    return 0;
}
