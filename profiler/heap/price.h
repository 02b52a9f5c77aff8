/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What a block costs more, from its allocation to its end, because it is counted; in ns. */

/* A block of malloc()'s, measured at the first call (some 0.1 ms). Context: drain. */
double pie_heap_pair_ns(void);

/* A visit to the slow path that has nothing to note, in ns; measured at the first call, in 0.1 ms. Context: drain. */
double pie_heap_quiet_visit_ns(void);

/* Blocks of Python's, which whoever counts them has measured: a small one, and one that Python asks malloc() for;
 * 0 before. Context: any. */
double pie_heap_small_pair_ns(void);
double pie_heap_large_pair_ns(void);
/* Context: gil (once). A forked child has its parent's. */
void pie_heap_python_pairs_set(double small_ns, double large_ns);
