/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Loops over calls of the C library in a shared library, which is where real callers are: each call goes through a word
 * of the library's own that the dynamic linker has filled in. */

/* The same calls to where they went without us. */
struct heap_bench_plain {
    void *(*malloc)(size_t);
    void (*free)(void *);
    void *(*memcpy)(void *, const void *, size_t);
};
extern struct heap_bench_plain heap_bench_plain;

void heap_bench_pairs(size_t rounds, size_t bytes);
void heap_bench_pairs_plain(size_t rounds, size_t bytes);
void heap_bench_copies(size_t rounds, void *to, const void *from, size_t bytes);
void heap_bench_copies_plain(size_t rounds, void *to, const void *from, size_t bytes);
