/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Hooks of CPython's three allocator domains and of its arenas: the interpreter's allocations are counted as Python
 * memory, once. Context: launcher (after Python's pre-initialisation and before its initialisation). */
void pie_pymem_install(void);

/* Measures the cost of counting a block, small or larger, in some 0.3 ms, for pie_heap_python_pairs_set(). Context: gil
 * (Python is initialised). */
void pie_pymem_measure(void);
