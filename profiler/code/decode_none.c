/* SPDX-License-Identifier: Apache-2.0 */

/* In place of decode_zydis.c where the build found no Zydis: nothing is watched then. */

#include "profiler/code/decode.h"
#include "profiler/code/instruction.h"

#include <errno.h>

bool pie_decode_is_available(void) {
    return false;
}

int pie_instruction_decode(const uint8_t *code, size_t size, uint64_t ip,
                           struct pie_instruction *ret_instruction,
                           struct pie_operand operands[PIE_OPERANDS_MAX]) {
    return -ENOSYS;
}
