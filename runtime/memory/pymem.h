/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Hooks of CPython's three allocator domains and of its arenas: what the interpreter allocates is counted as Python
 * memory, once. Context: launcher (after Python's pre-initialisation and before its initialisation). */
void pie_pymem_install(void);

/* Measures what it costs to count a small block, in some 0.1 ms, for pie_heap_small_pair_set(). Context: gil (Python is
 * initialised). */
void pie_pymem_measure(void);
