/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The region: one private mapping per process that holds everything a handler writes (thread slots, rings, the
 * calling context tree, interned code objects). It is reserved once, before Python starts, at its full size, opened
 * step by step and touched only as far as it is used; a forked child that is profiled replaces it in place by a fresh
 * one, any other child has a copy of its own and shares nothing with its parent. Positions stored in records are
 * offsets.
 *
 * Each user owns an arena, a fixed part of the region with a bump pointer. Nothing is freed but a whole arena. */

enum pie_arena {
    PIE_ARENA_THREADS,
    PIE_ARENA_CCT, /* two, which take turns (profiler/collect/turn.h) */
    PIE_ARENA_CCT_OTHER,
    PIE_ARENA_CODE, /* tables and metadata of interned code objects; two likewise */
    PIE_ARENA_CODE_OTHER,
    PIE_ARENA_BASIC_BLOCKS, /* memory accesses of basic blocks */
    PIE_ARENA_HEAP,         /* tracked blocks of memory */
    PIE_ARENA_STACKS,       /* alternate stacks; see pie_region_stack() */
    PIE_ARENA_COUNT,
};

/* Maps the region. Returns 0 or -errno. Context: launcher (before Python starts). */
int pie_region_init(void);

/* In a forked child: a fresh, zeroed region in the same place. Returns 0 or -errno (then nothing may be recorded).
 * Context: fork child. */
int pie_region_reset(void);

/* The program is about to limit its address space: returns the unused part of the region, so that the rest takes at
 * most an eighth of the limit if possible. Context: hook. */
void pie_region_trim(uint64_t limit_bytes);

/* Zeroed memory of size bytes, aligned to 8; NULL when the arena is full or memory cannot be had. Lock-free; not of the
 * stacks. Context: any. */
void *pie_region_alloc(enum pie_arena arena, size_t size);

/* The low end of a stack of at least size bytes, whose true size is stored; below it lies a guard page. NULL as
 * above. Lock-free. Context: hook. */
void *pie_region_stack(size_t size, size_t *ret_size);

/* Returns all memory of an arena, which is then empty and zeroed. No thread may hold an address in it. Context:
 * drain. */
void pie_region_clear(enum pie_arena arena);

/* The start of an arena, fixed for the life of the process; its first bytes are the first allocation, and its first
 * page can be read before that (not of the stacks). Its size may become less, but not than what is used. */
void *pie_region_base(enum pie_arena arena);
size_t pie_region_used(enum pie_arena arena);
size_t pie_region_size(enum pie_arena arena);

/* "contexts"; part of the names of counters (profiler/collect/flush.c) and so of the file format. Context: any. */
const char *pie_region_name(enum pie_arena arena);
