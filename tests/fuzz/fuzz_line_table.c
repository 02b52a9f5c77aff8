/* SPDX-License-Identifier: Apache-2.0 */

/* Location tables of code objects: two bytes choose the unit, the rest is the table. */

#include "runtime/code/line_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size >= 2)
        pie_line_table_find(data + 2, size - 2, 1, (uint32_t)data[0] << 8 | data[1]);
    return 0;
}
