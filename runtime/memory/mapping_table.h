/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which ranges of pages are counted as memory that native code mapped for itself.
 *
 * A fixed table of words, one for each range: where it starts and how many pages it has. Lock-free: every change is
 * one compare-and-swap of one word, so handlers may come at any moment, and a forked child has a sound copy.
 * Progress: a change that loses is tried again, and whoever won has made progress. Reclamation: none is needed, words
 * are values.
 *
 * It holds about as many as Linux maps by default (vm.max_map_count). No call's cost grows with the ranges that live.
 * A word has two buckets where it may stand, so an exact range is found in these. For other unmaps a tree shows where
 * ranges start: the ranges that start in each 16 pages, 256 pages, and so on are counted, in words of a second such
 * table. Ranges are disjoint, so the last one that starts before the end of a cut is the first to look at, and the
 * first one found that ends before the cut is the last.
 *
 * Inexact are only programs that are racy themselves: two threads that unmap different parts of one range in the same
 * instant may leave one part counted, and a range that was unmapped by a bare system call stays counted. In others a
 * range is taken out before it is unmapped and put in after it is mapped. There is one exception. A cut that is not a
 * whole range may miss a range if other threads add the first ones to its neighbourhood at that moment, and take them
 * out again. */

enum { PIE_MAPPING_RANGES = 1 << 16, PIE_MAPPING_CUTS = 8 };

/* A counted range, and the part of it that was cut out. */
struct pie_mapping_cut {
    uintptr_t start, cut_start;
    size_t bytes, cut_bytes;
};

/* Addresses and sizes are whole pages. Returns false if there is no place or the range cannot be expressed: it is not
 * counted then. Context: signal. */
bool pie_mapping_table_add(uintptr_t start, size_t bytes);

/* Takes [start, start + bytes) out of all ranges; what is left of a range stays, as two if it was cut in the middle.
 * Notes up to PIE_MAPPING_CUTS cuts, the last range first, and returns how many; call it again until it returns less.
 * Context: signal. */
size_t pie_mapping_table_cut(uintptr_t start, size_t bytes, struct pie_mapping_cut *ret_cuts);

/* Takes a range out if it is exactly this one. Context: signal. */
bool pie_mapping_table_take(uintptr_t start, size_t bytes);

/* Nothing is or was counted. Context: signal. */
bool pie_mapping_table_is_unused(void);

/* Ranges that found no place. Context: any. */
uint64_t pie_mapping_table_refused(void);
