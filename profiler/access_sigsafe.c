/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/access.h"

/* All of it modulo 2^64, as the processor computes. */
uint64_t pie_access_address(const struct pie_access *access, const uint64_t registers[PIE_ACCESS_REGISTERS]) {
    uint64_t address = (uint64_t)(int64_t)access->disp;

    if (access->base == PIE_ACCESS_RIP)
        address += access->ip + access->length;
    else if (access->base < PIE_ACCESS_REGISTERS)
        address += registers[access->base];
    if (access->index < PIE_ACCESS_REGISTERS)
        address += registers[access->index] * access->scale;
    return address;
}
