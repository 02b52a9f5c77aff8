/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/code/access.h"

#include <stdbool.h>
#include <stddef.h>

/* Decoding of x86-64 machine code in this process, by Zydis where the build found it (decode_zydis.c), else not at all
 * (decode_none.c). Code is copied by loads that may fault before it is decoded; functions are found by their frame
 * description entry (cfi.h), so stripped libraries will do, and those without one by their symbol. Context: drain (all
 * functions). */

/* Is there a decoder? */
bool pie_decode_is_available(void);

/* Finds the function [*ret_begin, *ret_end) around an address of code without a frame description entry. */
typedef bool (*pie_decode_range_fn)(void *data, uintptr_t address, uintptr_t *ret_begin, uintptr_t *ret_end);
/* Asked from here on; NULL: nobody is, which is how it begins. */
void pie_decode_set_range(pie_decode_range_fn find, void *data);

/* Result of pie_decode_basic_block(). */
struct pie_decode_basic_block {
    uint64_t low, high; /* the basic block: [low, high) */
    uint64_t next;      /* where the function mostly goes on: behind it, or where it jumps to; 0: not known */
    uint64_t before;    /* the block in front of it in the function; 0: none */
    size_t count;       /* of accesses */
};

/* The basic block around ip: entered at its first instruction only, as far as direct branches of its function tell,
 * left at its last. Writes those of its accesses that may be watched, in the order of addresses: no COUNTING, no STACK,
 * no TLS, no GATHER, no RIP-relative loads, no prefetches, no NOPs, LEAs or state-saving instructions; an instruction
 * that both loads from one place and stores to another (MOVS, PUSH [mem]) gives two. Returns 0; -ENOSYS: no decoder;
 * -ENOENT: neither a function nor an executed instruction is known there; -EFAULT: unreadable; -EILSEQ: bytes that do
 * not decode; -E2BIG: more than max accesses (the first max are written and *ret_block is set), or a function too large
 * to sweep (count 0); -ENOMEM. */
int pie_decode_basic_block(uint64_t ip, struct pie_access *accesses, size_t max,
                           struct pie_decode_basic_block *ret_block);

/* An instruction at ip was executed: from now on it is known with all that it leads to, even where no function is
 * known, or one too large to sweep (in modules only). So blocks and traps there are found; what nothing executed leads
 * to is not. Returns 0 or as pie_decode_basic_block(). */
int pie_decode_executed(uint64_t ip);

/* The access behind a data breakpoint: RIP is after the instruction (REP: on it, or after), registers are those after
 * it. Sweeps the function from its start, so that instruction boundaries are right, and checks that the instruction
 * touches [address, address + size) where its address registers were not overwritten by itself. Results are cached by
 * RIP. Includes COUNTING, STACK, TLS, GATHER and RIP-relative ones, and those that save the processor's state. Returns
 * 0; -ENOSYS, -ENOENT, -EFAULT, -EILSEQ, -ENOMEM as above; -ENXIO: the instruction before RIP touches something else
 * (RIP is the target of a jump, call or return), or is not known. */
int pie_decode_trap(uint64_t rip, const uint64_t registers[PIE_ACCESS_REGISTERS], uint64_t address,
                    size_t size, struct pie_access *ret_access);

/* Libraries were unloaded: forget what is cached. */
void pie_decode_flush_cache(void);
