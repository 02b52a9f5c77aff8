/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The arenas of Python's allocator of small blocks, which all lie in one zone (pymalloc.h), and what their pools say.
 * From 3.12 on several interpreters may have arenas at once, each with a GIL of its own. Context: gil (all of this). */

/* Sets pie_pymalloc_zone. */
void pie_arenas_choose_zone(void);
/* Maps memory for Python, in the zone or where the kernel likes. NULL: there is none. */
void *pie_arenas_map(size_t bytes, bool in_zone);
/* was_in_zone: it may be; then its place can be used again. */
void pie_arenas_unmap(void *memory, size_t bytes, bool was_in_zone);

/* An arena was mapped, or is about to be unmapped. Memory of another size is none. True: there are more than ever. */
bool pie_arenas_add(const void *arena, size_t bytes);
void pie_arenas_remove(const void *arena, size_t bytes);
size_t pie_arenas_count(void);
/* Bytes of all blocks that are taken, by their size classes. It reads the head of each pool. */
uint64_t pie_arenas_in_use_bytes(void);
