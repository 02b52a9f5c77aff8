/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How deep the evaluation stack is at an instruction. While a loop runs a frame it keeps that in a register, so it is
 * worked out from the bytecode, with CPython's own table of what each instruction takes and leaves. Context: signal. */

enum { PIE_STACK_UNKNOWN = -1 };

/* An instruction with the ones before it that extend its argument. */
struct pie_stack_instruction {
    uint32_t end, argument; /* end: the unit behind it and its cache */
    uint8_t opcode;         /* the plain one */
};

/* The one that begins at a unit. bytecode: two bytes a unit, as the compiler wrote it or as the interpreter has
 * rewritten it. */
struct pie_stack_instruction pie_stack_instruction_read(const uint8_t *bytecode, uint32_t at, uint32_t units);

/* The depth behind it: where it goes on, or where it jumps to. */
int32_t pie_stack_depth_after(int32_t depth, const struct pie_stack_instruction *one, bool is_jump);

/* The depth at the first instruction. */
int32_t pie_stack_depth_first(const uint8_t *bytecode, uint32_t units);

/* The depth at a handler, of an entry of the exception table. */
int32_t pie_stack_depth_of_handler(const uint8_t *table, size_t table_bytes, uint32_t at);
