/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/code/basic_block_table.h"

/* All blocks of the function around ip, published. Returns 0 (then an address in it that is still not known has no
 * block); -ENOENT: no function is known there; -ENOMEM: there is no room for it; -EAGAIN: other code may lie there by
 * now; or as pie_decode_basic_block(). Context: drain. */
int pie_basic_block_enter_function(struct pie_basic_block_table *table, uint64_t ip, unsigned module,
                                   uint32_t generation);
