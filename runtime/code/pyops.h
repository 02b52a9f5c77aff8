/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "profiler/ports/pystack.h"

/* The meaning of this Python's opcodes: one of pyops_311.c, pyops_312.c, … is compiled.
 *
 * The interpreter rewrites its bytecode while it runs: it specialises instructions for the operands they meet, and
 * instruments them for debuggers and profilers. The tables are indexed by the plain opcode, which the compiler wrote.
 * `plain` undoes instrumentation, pie_pyops_deopt undoes specialisation, and pie_pyops_reveal() restores the opcodes
 * that are kept elsewhere. */

/* Where control goes on after an instruction; nothing set: with the next one. */
enum pie_pyops_flow {
    PIE_PYOPS_ENDS = 1,  /* not with the next one */
    PIE_PYOPS_JUMPS = 2, /* its argument is a distance in code units from the end of the instruction */
    PIE_PYOPS_BACK = 4,  /* … counted backwards */
};

/* What an instruction does in a loop that folds elements (folds.h). */
enum pie_pyops_role {
    PIE_PYOPS_OTHER, /* what no such loop has */
    PIE_PYOPS_NOTHING,
    PIE_PYOPS_CONSTANT, /* loads what no round of a loop sets */
    PIE_PYOPS_GLOBAL,
    PIE_PYOPS_ATTRIBUTE,
    PIE_PYOPS_ATTRIBUTE_OR_METHOD, /* with a lowest bit it is going to be called */
    PIE_PYOPS_LOCAL,
    PIE_PYOPS_TWO_LOCALS, /* 4 bits of the argument each; the upper ones come first */
    PIE_PYOPS_NAME,
    PIE_PYOPS_STORE_LOCAL,
    PIE_PYOPS_STORE_AND_LOCAL, /* stores one and loads another, 4 bits each */
    PIE_PYOPS_STORE_NAME,
    PIE_PYOPS_FETCH,   /* a[i] */
    PIE_PYOPS_PUT,     /* a[i] = x */
    PIE_PYOPS_COMBINE, /* a + b */
    PIE_PYOPS_COMPARE,
    PIE_PYOPS_CONTAINS,
    PIE_PYOPS_TRUTH,  /* bool(a) */
    PIE_PYOPS_BRANCH, /* by the truth of what it takes */
    PIE_PYOPS_GOTO,
    PIE_PYOPS_LOOP, /* the next one of a for loop, or jumps behind it */
};

enum { PIE_PYOPS_VARIANTS = 4 };

/* Opcodes behind which the real one is hidden, and where that is. Offsets are of the structures of this Python. */
struct pie_pyops_hiding {
    size_t monitoring; /* in a code object: pointer to its monitoring data; 0: this Python does not hide */
    size_t lines,
        instructions; /* in that data: pointers to the opcodes behind `line` and `instruction`, entry by code unit */
    size_t line_entry_bytes; /* of an entry of `lines`; 0: its first byte says it */
    size_t executors;        /* in a code object: pointer to an array of executors; 0: there are none */
    size_t executor_list;    /* in that array: the first; its argument is the index */
    size_t executor_opcode;  /* in an executor: opcode and argument, a byte each */
    uint8_t line, instruction, executor; /* the opcodes that hide */
};

struct pie_pyops {
    uint8_t operations[256];  /* pie_operation of a plain opcode */
    uint8_t flows[256];       /* pie_pyops_flow of a plain opcode */
    uint8_t roles[256];       /* enum pie_pyops_role of a plain opcode */
    uint8_t plain[256];       /* of an instrumented opcode; 0: it is not instrumented */
    uint8_t extended_arg;     /* the opcode that gives the next one's argument 8 more bits */
    uint8_t comparison_shift; /* of the argument of a PIE_PYOPS_COMPARE: Py_LT, … stand above these bits */
    /* Opcodes that are another operation with one argument; opcode 0 ends the list. */
    struct {
        uint8_t opcode, argument, operation, role;
    } variants[PIE_PYOPS_VARIANTS];
    struct pie_pyops_hiding hiding;
};

extern const struct pie_pyops pie_pyops;

/* CPython's own tables: the plain opcode of a specialised one; how many units of cache follow a plain one. */
extern const uint8_t pie_pyops_deopt[256];
extern const uint8_t pie_pyops_caches[256];

/* Of a plain opcode with this argument; -1: it is no variant. */
static inline int pie_pyops_variant(uint8_t opcode, uint32_t argument) {
    for (int i = 0; i < PIE_PYOPS_VARIANTS && pie_pyops.variants[i].opcode; i++)
        if (pie_pyops.variants[i].opcode == opcode && pie_pyops.variants[i].argument == argument)
            return i;
    return -1;
}

/* What a plain opcode is with this argument: pie_operation. */
static inline uint8_t pie_pyops_operation(uint8_t opcode, uint32_t argument) {
    int variant = pie_pyops_variant(opcode, argument);

    return variant < 0 ? pie_pyops.operations[opcode] : pie_pyops.variants[variant].operation;
}

/* … and its part in a fold. */
static inline enum pie_pyops_role pie_pyops_role(uint8_t opcode, uint32_t argument) {
    int variant = pie_pyops_variant(opcode, argument);

    return variant < 0 ? pie_pyops.roles[opcode] : pie_pyops.variants[variant].role;
}

/* Puts the hidden opcodes back in `bytes`, a copy of the first `units` code units of a code object.
 * Context: signal, drain. */
void pie_pyops_reveal(uintptr_t code, uint8_t *bytes, size_t units);
