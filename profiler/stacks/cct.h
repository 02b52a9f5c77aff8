/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/base/half.h"
#include "profiler/ports/ids.h"

/* The calling context tree (PieProf §4.3), in the region, shared by all threads. Append-only: a node
 * never moves or changes its key. Insertion is lock-free and allocates from the region only. Node ids are
 * positions in the arena and so valid in any process that maps it.
 *
 * There are two, the halves, which take turns (profiler/collect/turn.h): one grows, until it is large, and is cleared
 * when the other one has been growing for a while. A bit of the id is its half. Each thread works in one half from
 * pie_half_enter() on (half.h).
 *
 * A key says what a node is: a Python code unit (interned code id, offset in code units) or a native address, with the
 * number of the module whose code it is: after a dlclose() another may lie there. */

enum {
    PIE_CCT_ROOT_ID = 1, /* value of the first half's; see pie_cct_root() */
    /* Stands for every context for which the arena had no room. Its own child, whatever the key. Of the first half. */
    PIE_CCT_FULL_ID = 5,
};

/* Set in ids of the second half's nodes; pie_cct_half() is 0 or 1. */
#define PIE_CCT_HALF_BIT (UINT32_C(1) << 31)

static inline unsigned pie_cct_half(struct pie_cct_id id) {
    return id.value >> 31;
}

static inline bool pie_cct_is_root(struct pie_cct_id id) {
    return (id.value & ~PIE_CCT_HALF_BIT) == PIE_CCT_ROOT_ID;
}

static inline bool pie_cct_is_full(struct pie_cct_id id) {
    return (id.value & ~PIE_CCT_HALF_BIT) == PIE_CCT_FULL_ID;
}

#define PIE_CCT_PYTHON_BIT (UINT64_C(1) << 63)

/* Set in ids of Python code that was interned in the second half. */
#define PIE_CCT_CODE_HALF_BIT (UINT32_C(1) << 30)

/* The code id of Python code that could not be interned because there was no room: "(table full)". */
#define PIE_CCT_CODE_FULL UINT32_C(0x7fffffff)

/* Native addresses have 47 bits (beyond that Linux maps only what a program asks for by address). */
enum { PIE_CCT_ADDRESS_BITS = 48 };

/* Context: any. */
uint64_t pie_cct_python_key(uint32_t code_id, uint32_t instr_offset);
uint64_t pie_cct_native_key(uintptr_t address);
uint64_t pie_cct_module_key(unsigned module,
                            uintptr_t address); /* module: profiler/code/modules.h; 0: none */
bool pie_cct_key_is_python(uint64_t key);
uint32_t pie_cct_key_code(uint64_t key);
uint32_t pie_cct_key_offset(uint64_t key);
unsigned pie_cct_key_module(uint64_t key);
uintptr_t pie_cct_key_address(uint64_t key);

/* Makes the empty tree of the first half, where all work begins. Needs the region. Context: engine start, fork child.
 * Returns 0 or -ENOMEM. */
int pie_cct_init(void);

/* Makes a half's empty tree. Its arena is empty. Returns 0 or -ENOMEM. Context: drain. */
int pie_cct_make(unsigned half);

/* The root of the calling thread's half. Context: signal, drain. */
struct pie_cct_id pie_cct_root(void);

/* The child of `parent` with this key, made in its half if need be; one that pie_cct_is_full() if the arena is full. At
 * most 32 steps, however many children there are. Context: signal, drain. */
struct pie_cct_id pie_cct_child(struct pie_cct_id parent, uint64_t key);

/* Context: any (for ids that pie_cct_child() gave). */
struct pie_cct_id pie_cct_parent(struct pie_cct_id id);
uint64_t pie_cct_key(struct pie_cct_id id);
