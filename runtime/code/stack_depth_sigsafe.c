/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>
#include <opcode.h>

#include "runtime/code/stack_depth.h"

#include <limits.h>

#include "runtime/code/exception_table.h"
#include "runtime/code/pyops.h"

static uint8_t plain_opcode(uint8_t opcode) {
    if (pie_pyops.plain[opcode])
        return pie_pyops.plain[opcode];
    return pie_pyops_deopt[opcode] ? pie_pyops_deopt[opcode] : opcode;
}

struct pie_stack_instruction pie_stack_instruction_read(const uint8_t *bytecode, uint32_t at,
                                                        uint32_t units) {
    struct pie_stack_instruction one = {.opcode = plain_opcode(bytecode[2 * at])};

    while (one.opcode == pie_pyops.extended_arg && at + 1 < units) {
        one.argument = (one.argument | bytecode[2 * at + 1]) << 8;
        at++;
        one.opcode = plain_opcode(bytecode[2 * at]);
    }
    one.argument |= bytecode[2 * at + 1];
    one.end = at + 1 + pie_pyops_caches[one.opcode];
    return one;
}

int32_t pie_stack_depth_after(int32_t depth, const struct pie_stack_instruction *one, bool is_jump) {
    if (depth == PIE_STACK_UNKNOWN)
        return PIE_STACK_UNKNOWN;
    int effect = PyCompile_OpcodeStackEffectWithJump(one->opcode, (int)one->argument, is_jump);
    return effect == INT_MAX || depth + effect < 0 ? PIE_STACK_UNKNOWN : depth + effect;
}

/* The flags of code are not kept, but a generator begins with the one instruction that makes it. */
int32_t pie_stack_depth_first(const uint8_t *bytecode, uint32_t units) {
#if PY_VERSION_HEX < 0x030d0000
    for (uint32_t at = 0; at < units && at < 4; at++)
        if (bytecode[2 * at] == RETURN_GENERATOR)
            return 1;
#endif
    return 0;
}

/* A handler finds the exception on the stack, and below it, if the entry says so, the place of the instruction that
 * raised it. */
int32_t pie_stack_depth_of_handler(const uint8_t *table, size_t table_bytes, uint32_t at) {
    const uint8_t *end = table + table_bytes;

    while (table < end) {
        pie_exception_table_read(&table, end);
        pie_exception_table_read(&table, end);
        uint32_t handler = pie_exception_table_read(&table, end),
                 depth = pie_exception_table_read(&table, end);
        if (handler == at)
            return (int32_t)(depth >> 1) + (int32_t)(depth & 1) + 1;
    }
    return PIE_STACK_UNKNOWN;
}
