/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/code/access.h"

#include <stddef.h>
#include <stdint.h>

/* What the decoder found about the functions where samples fell: a table in the region from instruction addresses to
 * the accesses of their basic blocks. Handlers ask; what they do not find they leave in their thread's list of
 * requests, and the collection thread decodes the whole function within a tick. Entries are immutable once published.
 * They are of a module (code/modules.h): they are found as long as that lies there, and again when it comes back. Code
 * outside of all modules has none. */

enum { PIE_BASIC_BLOCK_ACCESSES_MAX = 64 };

struct pie_basic_block {
    uint32_t count; /* of accesses; 0: nothing in it can be watched */
    uint32_t reserved;
    struct pie_access accesses[];
};

/* The block around the instruction at ip in the module that lies there; NULL: not known (yet). Valid in the handler
 * that found it, and after that as long as the generation is the same. Context: signal. */
const struct pie_basic_block *pie_basic_block_find(uint64_t ip, unsigned module);
uint32_t pie_basic_block_generation(void);

/* Unless ip is known: decodes and publishes all blocks of the function around it. Where no function is known, or when
 * the table has become scarce, only the block around ip. A block in which nothing can be watched stands for the nearest
 * that follows, or that lies before it. Returns 0 or -errno (then ip has an empty block, so that nobody asks again;
 * -ENOMEM: the table is full, which is counted; -EAGAIN: pie_basic_blocks_forget() is due, or a library went meanwhile;
 * -ENXIO: no module is there). Context: drain. */
int pie_basic_block_learn(uint64_t ip);

/* Forgets everything if code of libraries was changed since it did last. Context: drain. */
void pie_basic_blocks_refresh(void);
/* Forgets everything. Handlers may meanwhile find old entries. Context: drain. */
void pie_basic_blocks_forget(void);
