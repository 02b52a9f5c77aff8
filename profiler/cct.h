/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The calling context tree (PieProf §4.3): one per process, in the region, shared by all threads. Append-only: a node
 * never moves, changes its key or goes away. Insertion is lock-free and allocates from the region only. Node ids are
 * positions in the arena and so valid in any process that maps it; 0 is no node.
 *
 * A key says what a node is: a Python code unit (interned code id, offset in code units) or a native address. */

enum { PIE_CCT_ROOT_ID = 1 };

#define PIE_CCT_PYTHON_BIT (UINT64_C(1) << 63)

/* Context: any. */
uint64_t pie_cct_python_key(uint32_t code_id, uint32_t instr_offset);
uint64_t pie_cct_native_key(uintptr_t address);
bool pie_cct_key_is_python(uint64_t key);
uint32_t pie_cct_key_code(uint64_t key);
uint32_t pie_cct_key_offset(uint64_t key);

/* Makes the empty tree. Needs the region. Context: engine start, fork child. Returns 0 or -ENOMEM. */
int pie_cct_init(void);

/* The child of `parent` with this key, made if need be; 0 if the arena is full. Context: signal, drain. */
uint32_t pie_cct_child(uint32_t parent, uint64_t key);

/* Context: any, for ids that pie_cct_child() gave. */
uint32_t pie_cct_parent(uint32_t id);
uint64_t pie_cct_key(uint32_t id);
