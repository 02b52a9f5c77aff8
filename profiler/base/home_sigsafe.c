/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/base/home.h"

#include <stddef.h>

enum { RANGES_MAX = 32 };

/* Written by pie_home_init() before any handler can run; a forked child has the same. */
static struct {
    uintptr_t low, high;
} ranges[RANGES_MAX];
static unsigned n_ranges;

void pie_home_clear(void) {
    n_ranges = 0;
}

void pie_home_add(uintptr_t low, uintptr_t high) {
    if (n_ranges == RANGES_MAX)
        return;
    ranges[n_ranges].low = low;
    ranges[n_ranges].high = high;
    n_ranges++;
}

bool pie_home_contains(uintptr_t address) {
    for (unsigned i = 0; i < n_ranges; i++)
        if (address >= ranges[i].low && address < ranges[i].high)
            return true;
    return false;
}
