/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/heap_bench_calls.h"

#include <stdlib.h>
#include <string.h>

struct heap_bench_plain heap_bench_plain;

void heap_bench_pairs(size_t rounds, size_t bytes) {
    for (size_t i = 0; i < rounds; i++)
        free(malloc(bytes));
}

void heap_bench_pairs_plain(size_t rounds, size_t bytes) {
    for (size_t i = 0; i < rounds; i++)
        heap_bench_plain.free(heap_bench_plain.malloc(bytes));
}

void heap_bench_copies(size_t rounds, void *to, const void *from, size_t bytes) {
    for (size_t i = 0; i < rounds; i++)
        memcpy(to, from, bytes);
}

void heap_bench_copies_plain(size_t rounds, void *to, const void *from, size_t bytes) {
    for (size_t i = 0; i < rounds; i++)
        heap_bench_plain.memcpy(to, from, bytes);
}
