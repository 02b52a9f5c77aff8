/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The exported mmap() family. Anonymous memory that can be written counts as native memory of whoever maps it. Not
 * counted: files, address space that is only reserved (PROT_NONE, MAP_NORESERVE), stacks (MAP_STACK, MAP_GROWSDOWN),
 * and what an allocator maps to hand it out in pieces. */

/* Not 0: what the calling thread maps now is not counted. For arenas, whose pieces are. */
extern __thread unsigned pie_mappings_quiet __attribute__((tls_model("initial-exec")));

/* Whatever the library of this function maps is not counted. NULL: none. Context: launcher. */
void pie_mappings_set_allocator(const void *function);

/* Ranges that were not counted because there was no place to note them. Context: any. */
uint64_t pie_mappings_refused(void);
