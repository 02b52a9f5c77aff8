/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* qsort(3), stable, with its scratch space from pie_malloc(): glibc's takes it from malloc (profiler/base/own_memory.h
 * says why that matters). Without memory it leaves the array as it is and returns -ENOMEM, else 0. Context: drain,
 * cli. */
int pie_sort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *));

struct pie_sort_key {
    uint64_t key;
    void *item;
};

/* By key, stable, in a time that grows with count alone: tens of thousands of symbols in a process that lives for 20
 * ms. Results and context as above. */
int pie_sort_keys(struct pie_sort_key *keys, size_t count);
