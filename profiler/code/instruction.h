/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/code/access.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One x86-64 instruction, as far as decode.h needs it: the only place where a library for decoding shows
 * (decode_zydis.c, or decode_none.c without one). */

enum pie_instruction_flow {
    PIE_FLOW_NEXT,
    PIE_FLOW_BRANCH, /* to the target or to the next instruction */
    PIE_FLOW_CALL,   /* and back to the next instruction, as far as can be known; target 0: indirect */
    PIE_FLOW_JUMP,   /* to the target */
    PIE_FLOW_SWITCH, /* to an address in a register or in an indexed table */
    PIE_FLOW_END,    /* out of the function: return, tail call through a pointer, trap */
};

struct pie_instruction {
    uint64_t target; /* of direct jumps and calls, else 0 */
    uint8_t length;  /* bytes */
    uint8_t flow;    /* pie_instruction_flow */
    bool is_padding; /* NOP or INT3 */
    bool may_list;   /* false: none of its operands is PIE_OPERAND_LISTED */
};

enum pie_operand_traits {
    PIE_OPERAND_LISTED = 1, /* may be watched */
    PIE_OPERAND_STRING = 2, /* the base register has moved past it: up after CLD, down after STD */
    PIE_OPERAND_NARROW = 4, /* the address is cut to 32 bits */
    PIE_OPERAND_HIDDEN_ADDRESS =
        8, /* the registers after the instruction do not tell the address: overwritten, a segment's base, a vector */
};

/* An operand in memory that is really read or written. */
struct pie_operand {
    struct pie_access access; /* address from the registers before the instruction; without LOOP */
    int32_t after_disp;       /* address from those after it: after_base + index * scale + after_disp */
    uint16_t reach_bytes; /* how far the touched bytes may reach from there: upwards, STRING: either way */
    uint8_t after_base;   /* pie_access_register */
    uint8_t traits;       /* pie_operand_traits */
};

enum { PIE_OPERANDS_MAX = 4, PIE_INSTRUCTION_BYTES_MAX = 15 };

/* Decodes the instruction in the first of `size` bytes, which stands at ip. Returns how many operands in memory it has
 * (operands NULL: 0, and it is faster); -EILSEQ: not an instruction, or it is longer than size; -ENOSYS. Context:
 * drain. */
int pie_instruction_decode(const uint8_t *code, size_t size, uint64_t ip,
                           struct pie_instruction *ret_instruction,
                           struct pie_operand operands[PIE_OPERANDS_MAX]);
