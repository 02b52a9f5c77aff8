/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Hooks of CPython's three allocator domains and of its arenas: the interpreter's allocations are counted as Python
 * memory, once. Context: launcher (after Python's pre-initialisation and before its initialisation). */
void pie_pymem_install(void);

/* Measures the cost of counting a small block, in some 0.1 ms, for pie_heap_small_pair_set(). Context: gil (Python
 * is initialised). */
void pie_pymem_measure(void);
