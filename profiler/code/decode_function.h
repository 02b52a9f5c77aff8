/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/code/decode.h"
#include "profiler/code/instruction.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The result of a sweep over the machine code of one function; kept for the functions requested last. Context: drain
 * (all functions). */

enum { PIE_DECODE_FUNCTION_BYTES_MAX = 256 * 1024, PIE_DECODE_CACHE_BYTES_MAX = 2 * 1024 * 1024 };

enum pie_decode_mark {
    PIE_DECODE_START,  /* an instruction begins here */
    PIE_DECODE_LEADER, /* … and a basic block */
    PIE_DECODE_LOOP,   /* … of a loop */
    PIE_DECODE_LISTED, /* an instruction begins here that may have operands to be watched */
    PIE_DECODE_MARKS,
};

struct pie_decode_function {
    uint64_t begin;   /* address */
    uint32_t size;    /* bytes of code */
    uint32_t words;   /* of each map */
    uint32_t follows; /* of a window: how often instructions were added */
    bool
        is_window; /* no function: a piece of code of which only what was executed is known, and what that leads to */
    uint64_t maps[]; /* one for each kind of mark, a bit for each byte of code */
};

/* The function around ip, swept now or before, or the window; valid until the next call. Returns 0; -ENOENT: no
 * function is known there, nor a window; -E2BIG: it is larger than PIE_DECODE_FUNCTION_BYTES_MAX; -EFAULT: unreadable;
 * -ENOMEM. */
int pie_decode_function_find(uint64_t ip, const struct pie_decode_function **ret_function);

bool pie_decode_function_has(const struct pie_decode_function *function, enum pie_decode_mark mark,
                             uint64_t address);
/* The last address up to ip that has the mark; 0: none. */
uint64_t pie_decode_function_last(const struct pie_decode_function *function, enum pie_decode_mark mark,
                                  uint64_t ip);

/* The first address from ip on that has the mark; 0: none. */
uint64_t pie_decode_function_next(const struct pie_decode_function *function, enum pie_decode_mark mark,
                                  uint64_t ip);

/* Decodes the instruction at an address of the function, as it stands in memory now. Operands that lie in a loop, are
 * repeated or are wider than 16 bytes get PIE_ACCESS_LOOP. Returns as pie_instruction_decode(), or -EFAULT. */
int pie_decode_function_at(const struct pie_decode_function *function, uint64_t address,
                           struct pie_instruction *ret_instruction,
                           struct pie_operand operands[PIE_OPERANDS_MAX]);

/* The same in a copy of all of the function's code. */
int pie_decode_function_in(const struct pie_decode_function *function, const uint8_t *code, uint64_t address,
                           struct pie_instruction *ret_instruction,
                           struct pie_operand operands[PIE_OPERANDS_MAX]);

/* Where it goes on after the last instruction of a block that ends at high: of the two ways of a branch the near one;
 * 0: not in the function, or not known. */
uint64_t pie_decode_function_way_on(const struct pie_decode_function *function,
                                    const struct pie_instruction *last, uint64_t high);

/* pie_decode_basic_block() in a function that was found. */
int pie_decode_function_block(const struct pie_decode_function *function, uint64_t ip,
                              struct pie_access *accesses, size_t max,
                              struct pie_decode_basic_block *ret_block);

/* Bytes of the decoded functions that are kept, at most PIE_DECODE_CACHE_BYTES_MAX. */
size_t pie_decode_functions_bytes(void);
void pie_decode_functions_flush(void);
