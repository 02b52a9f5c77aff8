/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which ranges of pages are counted as memory that native code mapped for itself.
 *
 * A fixed table of words, one for each range: where it starts and how many pages it has. Lock-free: every change is one
 * compare-and-swap of one word, so handlers may come at any moment, and a forked child has a sound copy. Progress: a
 * change that loses is tried again, and whoever won has made progress. Reclamation: none is needed, words are values.
 * Two threads that unmap different parts of one range in the same instant may leave one part counted; no other use
 * of mappings that is sound in the program itself is inexact here, because a range is taken out before it is unmapped and
 * put in after it is mapped. */

enum { PIE_MAPPING_RANGES = 4096, PIE_MAPPING_CUTS = 8 };

/* A counted range, and the part of it that was cut out. */
struct pie_mapping_cut {
    uintptr_t start, cut_start;
    size_t bytes, cut_bytes;
};

/* Addresses and sizes are whole pages. Returns false if the table is full or cannot express the range: it is not counted
 * then. Context: signal. */
bool pie_mapping_table_add(uintptr_t start, size_t bytes);

/* Takes [start, start + bytes) out of all ranges; what is left of a range stays, as two if it was cut in the middle. Notes
 * up to PIE_MAPPING_CUTS cuts and returns how many; call it again until it returns less.
 * Context: signal. */
size_t pie_mapping_table_cut(uintptr_t start, size_t bytes, struct pie_mapping_cut *ret_cuts);

/* Takes a range out if it is exactly this one. Context: signal. */
bool pie_mapping_table_take(uintptr_t start, size_t bytes);

/* Nothing is or was counted. Context: signal. */
bool pie_mapping_table_is_unused(void);

/* Ranges that found no place. Context: any. */
uint64_t pie_mapping_table_refused(void);
