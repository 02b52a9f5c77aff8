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
