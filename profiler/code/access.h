/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <assert.h>
#include <stdint.h>
#include <ucontext.h>

/* One memory access of one x86-64 instruction, as far as a handler needs to know it: where the instruction is, how the
 * address is computed from the registers, how many bytes are touched and how. Made by the decoder on the collection
 * thread (decode.h), read by handlers (basic_block.h). */

enum pie_access_register {
    PIE_ACCESS_RAX, /* the architecture's own numbering, up to R15 = 15 */
    PIE_ACCESS_RCX,
    PIE_ACCESS_RDX,
    PIE_ACCESS_RBX,
    PIE_ACCESS_RSP,
    PIE_ACCESS_RBP,
    PIE_ACCESS_RSI,
    PIE_ACCESS_RDI,
    PIE_ACCESS_R15 = 15,
    PIE_ACCESS_RIP,         /* base only: the address of the next instruction */
    PIE_ACCESS_NO_REGISTER, /* not there */
};

enum pie_access_flags {
    PIE_ACCESS_LOAD = 1,
    PIE_ACCESS_STORE = 2, /* both: read, modify, write */
    PIE_ACCESS_REP = 4,   /* repeated RCX times from RSI or to RDI: the base register moves */
    PIE_ACCESS_COUNTING =
        8, /* adds or subtracts one in place: a reference count, a statistic; never watched */
    PIE_ACCESS_LOOP =
        16, /* bulk work: in a loop of machine code, as far as its function's code shows; repeated; wide */
    PIE_ACCESS_GATHER = 32, /* one of several addresses (VSIB): never watched, matched without its address */
    PIE_ACCESS_STACK = 64,  /* relative to RSP: never watched */
    PIE_ACCESS_TLS = 128,   /* relative to FS or GS: never watched */
};

struct pie_access {
    uint64_t ip;  /* of the instruction */
    int32_t disp; /* bytes */
    uint16_t
        size_bytes; /* of one element, 1 to 64 (more for state-saving instructions, which are never listed) */
    uint8_t length; /* of the instruction, bytes */
    uint8_t base, index; /* pie_access_register */
    uint8_t scale;       /* 1, 2, 4, 8 */
    uint8_t flags;       /* pie_access_flags */
    uint8_t reserved[5];
};
static_assert(sizeof(struct pie_access) == 24, "accesses lie in the region");

enum { PIE_ACCESS_REGISTERS = 16 };

/* The address that it touches with these registers (RAX … R15 in the architecture's order), when RIP is at the
 * instruction. For PIE_ACCESS_REP of the first element. Context: signal. */
uint64_t pie_access_address(const struct pie_access *access, const uint64_t registers[PIE_ACCESS_REGISTERS]);

/* The general registers of interrupted code, in the architecture's order. Context: signal. */
void pie_access_registers(const ucontext_t *interrupted, uint64_t ret_registers[PIE_ACCESS_REGISTERS]);
