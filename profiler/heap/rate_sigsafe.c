/* SPDX-License-Identifier: Apache-2.0 */

/* Sampling by bytes. Points are drawn at random distances; the event in which a point lies is sampled and stands for
 * the bytes between that point and the one before. So sums are exact but for what lies behind the last point, and the
 * chance to be taken grows with an event's size and with nothing else. An event larger than any distance stands for
 * itself alone, and the points move on behind it.
 *
 * The distance of a program that makes and drops much memory is large. An array that stays must be seen there all the
 * same: a rare event above large_bytes stands for itself, too. Whether one does depends on its size and on what was
 * before it, so the sums stay unbiased. Where such events are many, large_bytes rises above them.
 *
 * The distance follows the time between samples and what they cost, over windows of several, so that it does not follow
 * the rhythm of the program: a small program gets as many samples as a large one, and neither more than five hundred
 * in a second. */

#include "profiler/base/clocks.h"
#include "profiler/base/random.h"
#include "profiler/heap/engine.h"

static const uint64_t INTERVAL_MIN_BYTES = 4096, INTERVAL_MAX_BYTES = UINT64_C(1) << 32;
static const uint64_t GAP_NS = 2000000, WINDOW_NS = 50000000;
/* A sample is late only then; where they may be few, that is long. */
enum { LATE_GAPS = 4 };
/* The next sample of a ring that was full for a moment is not far. */
enum { WIDENED_MAX = 64 };
enum { WINDOW_SAMPLES = 16, COST_PART = 100, UP_MAX = 2, DOWN_MAX = 8 };
/* Under a named budget: a thread that waits for a processor seems to make few samples, and would have far too many when
 * it has one. */
enum { FRUGAL_DOWN_MAX = 2 };
static const uint64_t LARGE_WINDOW_NS = 200000000;
enum { LARGE_WINDOW_SAMPLES = 8 };
/* A process that starts many children pays for each one's start: imports, for which one sample in four says enough. A
 * budget that was named cannot pay for those either: each has a deep context of its own, to be named and written. The
 * distance falls by itself where few samples come. */
static const uint64_t FIRST_INTERVAL_BYTES = 16384, FIRST_INTERVAL_CHILD_BYTES = 65536,
                      FIRST_INTERVAL_FRUGAL_BYTES = 262144;

/* Where the user named a budget, a peak so soon after a crossing waits, until it is higher by this many thresholds: a
 * program that imports makes a thousand in a second. The footprint has no points that are nearer. */
static const uint64_t PEAK_GAP_NS = 10000000;
enum { PEAK_STEPS = 2 };

static void draw(struct pie_heap_rate *rate, uint64_t from_bytes, uint64_t *random) {
    uint64_t drawn = pie_random_next(random) >> 16;

    rate->next_bytes = from_bytes + rate->interval_bytes / 2 + drawn % (rate->interval_bytes + 1);
    rate->exact_bytes = rate->interval_bytes + rate->interval_bytes / 2;
}

void pie_heap_rate_begin(struct pie_heap_rate *rate, uint64_t count_bytes, uint64_t interval_bytes,
                         uint64_t now_ns, uint64_t *random) {
    *rate = (struct pie_heap_rate){.interval_bytes = interval_bytes,
                                   .base_bytes = count_bytes,
                                   .window_ns = now_ns,
                                   .gap_ns = GAP_NS,
                                   .cost_part = COST_PART,
                                   .large_bytes = UINT64_MAX,
                                   .large_min_bytes = UINT64_MAX,
                                   .large_ns = now_ns};
    draw(rate, count_bytes, random);
}

static void set_interval(struct pie_heap_rate *rate, uint64_t since_ns, uint64_t wanted_ns) {
    double factor = (double)wanted_ns / (double)(since_ns + 1);

    if (factor > 0.7 && factor < 1.4)
        return;
    const struct pie_heap_settings *set = pie_heap_settings();
    double least = 1.0 / (set && set->is_frugal ? FRUGAL_DOWN_MAX : DOWN_MAX);
    factor = factor > UP_MAX ? UP_MAX : factor < least ? least : factor;
    double wanted = (double)rate->interval_bytes * factor;
    rate->interval_bytes = wanted<(double)INTERVAL_MIN_BYTES ? INTERVAL_MIN_BYTES : wanted>(double)
                                   INTERVAL_MAX_BYTES
                               ? INTERVAL_MAX_BYTES
                               : (uint64_t)wanted;
}

/* Between two samples. */
static uint64_t wanted_ns(const struct pie_heap_rate *rate) {
    uint64_t cheap_ns = rate->cost_ns * rate->cost_part;

    return cheap_ns > rate->gap_ns ? cheap_ns : rate->gap_ns;
}

/* True: the interval is another. */
static bool adapt(struct pie_heap_rate *rate, uint64_t now_ns) {
    uint64_t since_ns = now_ns - rate->window_ns;

    if (++rate->samples < WINDOW_SAMPLES && since_ns < WINDOW_NS)
        return false;
    uint64_t before = rate->interval_bytes;
    set_interval(rate, since_ns, rate->samples * wanted_ns(rate));
    rate->samples = 0;
    rate->window_ns = now_ns;
    return rate->interval_bytes != before;
}

void pie_heap_rate_share(struct pie_heap_rate *rate, uint64_t threads, uint64_t cost_part) {
    rate->gap_ns = GAP_NS * threads;
    rate->cost_part = cost_part;
}

void pie_heap_rate_leave_room(struct pie_heap_rate *rate, bool is_scarce) {
    if (is_scarce && !rate->narrow_bytes)
        rate->narrow_bytes = rate->interval_bytes;
    if (is_scarce && rate->interval_bytes <= rate->narrow_bytes * (WIDENED_MAX / 2))
        rate->interval_bytes *= 2;
    if (!is_scarce && rate->narrow_bytes) {
        if (rate->interval_bytes > rate->narrow_bytes)
            rate->interval_bytes = rate->narrow_bytes;
        rate->narrow_bytes = 0;
    }
}

void pie_heap_rate_look_at_large(struct pie_heap_rate *rate, uint64_t min_bytes) {
    if (rate->large_bytes == rate->large_min_bytes || rate->large_bytes < min_bytes)
        rate->large_bytes = min_bytes;
    rate->large_min_bytes = min_bytes;
}

bool pie_heap_rate_is_large(const struct pie_heap_rate *rate, uint64_t bytes) {
    return bytes >= rate->large_bytes;
}

/* The size from which on events stand for themselves rises above those that come too often, and falls again. */
static void follow_large(struct pie_heap_rate *rate, uint64_t bytes, uint64_t now_ns) {
    if (now_ns - rate->large_ns >= LARGE_WINDOW_NS) {
        rate->large_ns = now_ns;
        rate->large_samples = 0;
        if (rate->large_bytes / 2 >= rate->large_min_bytes)
            rate->large_bytes /= 2;
        else
            rate->large_bytes = rate->large_min_bytes;
    }
    if (pie_heap_rate_is_large(rate, bytes) && ++rate->large_samples > LARGE_WINDOW_SAMPLES) {
        rate->large_bytes *= 2;
        rate->large_samples = 0;
    }
}

uint64_t pie_heap_rate_take(struct pie_heap_rate *rate, uint64_t count_bytes, uint64_t bytes, uint64_t now_ns,
                            uint64_t *random, bool *ret_is_exact) {
    uint64_t weight_bytes = 0;

    bool is_large = pie_heap_rate_is_large(rate, bytes);
    if (count_bytes < rate->next_bytes && !is_large)
        return 0;
    *ret_is_exact = is_large || bytes >= rate->exact_bytes;
    bool is_other = adapt(rate, now_ns);
    follow_large(rate, bytes, now_ns);
    if (*ret_is_exact) { /* what gathered before waits on */
        rate->base_bytes += bytes;
        rate->next_bytes += bytes;
        if (is_other)
            draw(rate, count_bytes, random);
        return bytes;
    }
    while (rate->next_bytes <= count_bytes) {
        weight_bytes += rate->next_bytes - rate->base_bytes;
        rate->base_bytes = rate->next_bytes;
        draw(rate, rate->base_bytes, random);
    }
    return weight_bytes;
}

uint64_t pie_heap_rate_take_rest(struct pie_heap_rate *rate, uint64_t count_bytes) {
    uint64_t rest_bytes = count_bytes > rate->base_bytes ? count_bytes - rate->base_bytes : 0;

    rate->base_bytes += rest_bytes;
    return rest_bytes;
}

void pie_heap_rate_shorten(struct pie_heap_rate *rate, uint64_t before_bytes, uint64_t now_ns,
                           uint64_t *random) {
    uint64_t since_ns = now_ns - rate->window_ns, wanted = wanted_ns(rate);

    if (since_ns < WINDOW_NS || since_ns < LATE_GAPS * wanted)
        return;
    set_interval(rate, since_ns, wanted);
    rate->samples = 0;
    rate->window_ns = now_ns;
    draw(rate, before_bytes, random);
}

void pie_heap_rate_pass(struct pie_heap_rate *rate, uint64_t passed_ns, uint64_t now_ns) {
    rate->window_ns = rate->window_ns + passed_ns < now_ns ? rate->window_ns + passed_ns : now_ns;
}

static uint64_t first_interval_bytes(const struct pie_heap_settings *set) {
    if (set && set->is_frugal)
        return FIRST_INTERVAL_FRUGAL_BYTES;
    return set && set->is_child ? FIRST_INTERVAL_CHILD_BYTES : FIRST_INTERVAL_BYTES;
}

void pie_heap_rate_begin_first(struct pie_heap_rate *rate, uint64_t now_ns, uint64_t *random) {
    pie_heap_rate_begin(rate, 0, first_interval_bytes(pie_heap_settings()), now_ns, random);
}

bool pie_heap_peak_waits(const struct pie_heap_state *state, int64_t above_bytes, uint64_t cost_part) {
    const struct pie_heap_settings *set = pie_heap_settings();

    if (!set || !set->is_frugal || set->is_fixed ||
        above_bytes > (int64_t)(PEAK_STEPS * pie_heap_threshold()))
        return false;
    uint64_t gap_ns = cost_part * state->crossing_cost_ns;
    return pie_monotonic_ns() < state->crossed_ns + (gap_ns < PEAK_GAP_NS ? gap_ns : PEAK_GAP_NS);
}
