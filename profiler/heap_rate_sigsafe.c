/* SPDX-License-Identifier: Apache-2.0 */

/* Sampling by bytes. A sample stands for all bytes since the one before, so sums are exact; which event is taken is decided
 * by a distance drawn before, so that the chance to be taken grows with an event's size and with nothing else. An event larger
 * than any distance always is taken, and stands for itself alone. The interval doubles when samples come too fast and halves when they come
 * slowly: a small program gets as many as a large one, and neither more than a thousand in a second. */

#include "profiler/heap_engine.h"

static const uint64_t INTERVAL_MIN_BYTES = 4096, INTERVAL_MAX_BYTES = UINT64_C(1) << 32;
static const uint64_t TOO_SOON_NS = 1000000;
enum { COST_PART = 100, TOO_LATE_TIMES = 5 }; /* deep stacks: at most a hundredth of the time */

static void draw(struct pie_heap_rate *rate, uint64_t count_bytes, uint64_t *random) {
    uint64_t x = *random;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *random = x;
    rate->next_bytes = count_bytes + rate->interval_bytes / 2 + (x >> 16) % (rate->interval_bytes + 1);
}

void pie_heap_rate_begin(struct pie_heap_rate *rate, uint64_t count_bytes, uint64_t interval_bytes,
                         uint64_t now_ns, uint64_t *random) {
    *rate = (struct pie_heap_rate){
        .interval_bytes = interval_bytes, .base_bytes = count_bytes, .last_ns = now_ns};
    draw(rate, count_bytes, random);
}

/* True: the interval is another. */
static bool adapt(struct pie_heap_rate *rate, uint64_t now_ns) {
    uint64_t since_ns = now_ns - rate->last_ns, before = rate->interval_bytes;
    uint64_t too_soon_ns = rate->cost_ns * COST_PART;

    if (too_soon_ns < TOO_SOON_NS)
        too_soon_ns = TOO_SOON_NS;
    if (since_ns < too_soon_ns && rate->interval_bytes < INTERVAL_MAX_BYTES)
        rate->interval_bytes *= 2;
    else if (since_ns > too_soon_ns * TOO_LATE_TIMES && rate->interval_bytes > INTERVAL_MIN_BYTES)
        rate->interval_bytes /= 2;
    rate->last_ns = now_ns;
    return rate->interval_bytes != before;
}

uint64_t pie_heap_rate_take(struct pie_heap_rate *rate, uint64_t count_bytes, uint64_t bytes, uint64_t now_ns,
                            uint64_t *random, bool *ret_is_exact) {
    if (count_bytes < rate->next_bytes)
        return 0;
    *ret_is_exact = bytes >= rate->interval_bytes + rate->interval_bytes / 2;
    uint64_t weight_bytes = *ret_is_exact ? bytes : count_bytes - rate->base_bytes;
    bool is_other = adapt(rate, now_ns);
    rate->base_bytes = *ret_is_exact ? rate->base_bytes + bytes : count_bytes;
    if (*ret_is_exact && !is_other) /* what gathered before waits on */
        rate->next_bytes += bytes;
    else
        draw(rate, count_bytes, random);
    return weight_bytes;
}
