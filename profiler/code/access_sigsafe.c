/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/code/access.h"

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

void pie_access_registers(const ucontext_t *ucontext, uint64_t ret_registers[PIE_ACCESS_REGISTERS]) {
    static const uint8_t order[PIE_ACCESS_REGISTERS] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                                        REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                                        REG_R12, REG_R13, REG_R14, REG_R15};

    for (int i = 0; i < PIE_ACCESS_REGISTERS; i++)
        ret_registers[i] = (uint64_t)ucontext->uc_mcontext.gregs[order[i]];
}
