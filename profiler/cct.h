/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The calling context tree (PieProf §4.3): one per process, in the region, shared by all threads. Append-only: a node
 * never moves, changes its key or goes away. Insertion is lock-free and allocates from the region only. Node ids are
 * positions in the arena and so valid in any process that maps it; 0 is no node.
 *
 * A key says what a node is: a Python code unit (interned code id, offset in code units) or a native address, with the
 * number of the module whose code it is: after a dlclose() another may lie there. */

enum {
    PIE_CCT_ROOT_ID = 1,
    /* Stands for every context for which the arena had no room. Its own child, whatever the key. */
    PIE_CCT_FULL_ID = 5,
};

#define PIE_CCT_PYTHON_BIT (UINT64_C(1) << 63)

/* The code id of Python code that could not be interned because there was no room: "(table full)". */
#define PIE_CCT_CODE_FULL UINT32_C(0x7fffffff)

/* Native addresses have 47 bits (beyond that Linux maps only what a program asks for by address). */
enum { PIE_CCT_ADDRESS_BITS = 48 };

/* Context: any. */
uint64_t pie_cct_python_key(uint32_t code_id, uint32_t instr_offset);
uint64_t pie_cct_native_key(uintptr_t address);
uint64_t pie_cct_module_key(unsigned module,
                            uintptr_t address); /* module: profiler/code_modules.h; 0: none */
bool pie_cct_key_is_python(uint64_t key);
uint32_t pie_cct_key_code(uint64_t key);
uint32_t pie_cct_key_offset(uint64_t key);
unsigned pie_cct_key_module(uint64_t key);
uintptr_t pie_cct_key_address(uint64_t key);

/* Makes the empty tree. Needs the region. Context: engine start, fork child. Returns 0 or -ENOMEM. */
int pie_cct_init(void);

/* The child of `parent` with this key, made if need be; PIE_CCT_FULL_ID if the arena is full. At most 32 steps, however
 * many children there are. Context: signal, drain. */
uint32_t pie_cct_child(uint32_t parent, uint64_t key);

/* Context: any, for ids that pie_cct_child() gave. */
uint32_t pie_cct_parent(uint32_t id);
uint64_t pie_cct_key(uint32_t id);
