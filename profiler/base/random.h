/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* The next number of a sequence, by xorshift64 (Marsaglia, "Xorshift RNGs", 2003, §2.1); *state must not be 0. Its
 * lower bits are the weaker ones. Context: signal. */
static inline uint64_t pie_random_next(uint64_t *state) {
    uint64_t x = *state;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

/* `value`, up to ten percent more or less, so that events at this distance do not synchronise with a loop. Context:
 * signal. */
static inline uint64_t pie_random_dither(uint64_t *state, uint64_t value) {
    return value - value / 10 + pie_random_next(state) % (value / 5 + 1);
}
