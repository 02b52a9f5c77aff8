/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What one instruction does with data in registers, for copies/loop.c; by Zydis (copies/loop_zydis.c) or not at all
 * (copies/loop_none.c). Operands in memory are decode's (instruction.h). */

enum {
    PIE_COPY_GENERAL = 16, /* registers 0 … 15 in the architecture's numbering, */
    PIE_COPY_VECTORS = 32, /* then vectors, */
    PIE_COPY_MASKS = 8,    /* then masks of AVX-512 */
    PIE_COPY_REGISTERS = PIE_COPY_GENERAL + PIE_COPY_VECTORS + PIE_COPY_MASKS,
    PIE_COPY_OPERANDS = 6,
};

enum pie_copy_action {
    PIE_COPY_COMPUTE, /* anything else */
    PIE_COPY_IGNORE,  /* NOP, prefetch, a jump */
    PIE_COPY_CLEAR,   /* the result does not depend on the inputs: XOR of a register with itself */
    PIE_COPY_MOVE,    /* the result is made of the inputs' elements: moved, shuffled, converted */
    PIE_COPY_UNPACK,  /* MOVE that interleaves two inputs: widening */
    PIE_COPY_PACK,    /* MOVE that narrows */
    PIE_COPY_MASK,    /* AND of vectors, as before PACK */
    PIE_COPY_SHIFT,   /* of vectors, by a byte before COMBINE, to the sign before UNPACK */
    PIE_COPY_SIGN,    /* compares vectors, first > second: a sign if the first is zero */
    PIE_COPY_COMBINE, /* OR of vectors: puts parts together */
};

struct pie_copy_code {
    uint8_t action; /* pie_copy_action */
    uint8_t work;   /* instructions that it stands for */
    uint8_t n_inputs, n_outputs;
    uint8_t inputs[PIE_COPY_OPERANDS],
        outputs[PIE_COPY_OPERANDS]; /* registers; none that only make an address */
    /* The instruction adds step_bytes, and step_factor times step_register, to one general register, and nothing
     * else. */
    uint8_t stepped;       /* PIE_COPY_NO_REGISTER: it does not */
    uint8_t step_register; /* PIE_COPY_NO_REGISTER: a constant */
    int8_t step_factor;
    int64_t step_bytes;
};

/* Returns 0; -EILSEQ; -ENOSYS: no decoder. Context: drain. */
int pie_copy_code_decode(const uint8_t *code, size_t size, struct pie_copy_code *ret_code);
