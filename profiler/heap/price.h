/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

struct pie_heap_record;

/* What a block costs more, from its allocation to its end, because it is counted; in ns. */

/* A block of malloc()'s, measured at the first call (some 0.1 ms). Context: drain. */
double pie_heap_pair_ns(void);

/* A visit to the slow path that has nothing to note, in ns; measured at the first call, in 0.1 ms. Context: drain. */
double pie_heap_quiet_visit_ns(void);

/* How many blocks there were, by what counting one costs. Estimates: a sample stands for its weight in blocks of its
 * size. small, passing, large: Python's. */
struct pie_heap_blocks {
    double of_malloc, small, large;
    double passing; /* of the small ones, those that ended at once */
};

/* A sample of an allocation. Returns how many of Python's small blocks it stands for. Context: drain. */
double pie_heap_blocks_add(struct pie_heap_blocks *blocks, const struct pie_heap_record *record);
/* Some of Python's small blocks ended lived_ns after their sample began, which took handled_ns. Context: drain. */
void pie_heap_blocks_ended(struct pie_heap_blocks *blocks, double small_blocks, uint64_t lived_ns,
                           uint64_t handled_ns);
/* CPU time that counting all of them took. Context: drain. */
double pie_heap_blocks_ns(const struct pie_heap_blocks *blocks);

/* Blocks of Python's, which whoever counts them has measured: a small one, and one that Python asks malloc() for;
 * 0 before. Context: any. */
double pie_heap_small_pair_ns(void);
double pie_heap_large_pair_ns(void);
/* Context: gil (once). A forked child has its parent's. */
void pie_heap_python_pairs_set(double small_ns, double large_ns);
