/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* For pyops_*.c alone, before Python's headers: where they are asked to, CPython's headers define its tables of opcodes
 * with external linkage. A static libpython has the same ones, so these get names of our own. */
#define NEED_OPCODE_TABLES 1   /* 3.11, 3.12 */
#define NEED_OPCODE_METADATA 1 /* 3.13 and later */
#define _PyOpcode_Caches pie_pyops_caches
#define _PyOpcode_Deopt pie_pyops_deopt
#define _PyOpcode_Jump pie_pyops_unused_jump
#define _PyOpcode_RelativeJump pie_pyops_unused_relative_jump
#define _PyOpcode_OpName pie_pyops_unused_names
#define _PyOpcode_PseudoTargets pie_pyops_unused_pseudo_targets
#define _PyOpcode_macro_expansion pie_pyops_unused_macro_expansion
#define _PyOpcode_num_popped pie_pyops_unused_num_popped
#define _PyOpcode_num_pushed pie_pyops_unused_num_pushed
#define _PyOpcode_opcode_metadata pie_pyops_unused_metadata

/* Roles of the instructions that all versions have. LOAD_DEREF: of an outer function, while none sets it here. */
#define PIE_PYOPS_COMMON_ROLES                                                                               \
    [NOP] = PIE_PYOPS_NOTHING, [LOAD_CONST] = PIE_PYOPS_CONSTANT, [LOAD_DEREF] = PIE_PYOPS_CONSTANT,         \
    [LOAD_GLOBAL] = PIE_PYOPS_GLOBAL, [LOAD_FAST] = PIE_PYOPS_LOCAL, [LOAD_NAME] = PIE_PYOPS_NAME,           \
    [STORE_FAST] = PIE_PYOPS_STORE_LOCAL, [STORE_NAME] = PIE_PYOPS_STORE_NAME,                               \
    [BINARY_OP] = PIE_PYOPS_COMBINE, [COMPARE_OP] = PIE_PYOPS_COMPARE, [CONTAINS_OP] = PIE_PYOPS_CONTAINS,   \
    [STORE_SUBSCR] = PIE_PYOPS_PUT, [JUMP_FORWARD] = PIE_PYOPS_GOTO, [JUMP_BACKWARD] = PIE_PYOPS_GOTO,       \
    [FOR_ITER] = PIE_PYOPS_LOOP
