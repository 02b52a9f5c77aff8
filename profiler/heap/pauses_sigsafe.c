/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/heap/pauses.h"

#include "profiler/base/clocks.h"
#include "profiler/heap/engine.h"
#include "profiler/heap/pause_words.h"
#include "profiler/thread/filtered.h"

#include <errno.h>
#include <stdatomic.h>

/* --- With the GIL --- */

bool pie_heap_is_paused;
static const struct pie_heap_pause_ops *pause_ops;
static uintptr_t small_zone;
static size_t small_zone_bytes;
static uint64_t in_use_bytes; /* when the pause began */
static bool is_forgotten;     /* by a forked child: in_use_bytes is not known */
/* From 3.12 on interpreters may have a GIL each; with several of them nothing pauses, but a pause may have to end. */
static atomic_flag is_acting = ATOMIC_FLAG_INIT;

/* --- Of all; relaxed: each stands for itself --- */

_Atomic uint32_t pie_heap_request;
static _Atomic uint32_t current; /* slice and share */
static _Atomic int64_t moved_bytes;
static _Atomic uint64_t paused_ns, paused_since_ns; /* until the last pause; CLOCK_MONOTONIC, 0: none */
static _Atomic uint64_t cost_ns;
static _Atomic uint32_t price_part; /* in thousandths + 1; 0: not measured */

void pie_heap_pauses_install(uintptr_t zone, size_t zone_bytes, const struct pie_heap_pause_ops *ops) {
    small_zone = zone;
    small_zone_bytes = zone_bytes;
    pause_ops = ops;
}

static void measure_price(void) {
    double part = pause_ops->measure_part();

    atomic_store_explicit(&price_part, (uint32_t)(part * 1000) + 1, memory_order_relaxed);
}

double pie_heap_pauses_price_part(void) {
    uint32_t part = atomic_load_explicit(&price_part, memory_order_relaxed);

    return part ? (part - 1) / 1000.0 : 1;
}

static void note_in_use(void) {
    uint64_t now_bytes = pause_ops->in_use_bytes();
    int64_t more_bytes = (int64_t)(now_bytes - in_use_bytes);

    if (pie_heap_is_paused && !is_forgotten) {
        atomic_fetch_add_explicit(&moved_bytes, more_bytes, memory_order_relaxed);
        pie_heap_moved(PIE_HEAP_PYTHON, more_bytes);
    }
    in_use_bytes = now_bytes;
    is_forgotten = false;
}

static void note_time(bool will_pause, uint64_t now_ns) {
    uint64_t since_ns = atomic_load_explicit(&paused_since_ns, memory_order_relaxed);

    atomic_store_explicit(&paused_since_ns, will_pause ? now_ns : 0, memory_order_relaxed);
    if (since_ns)
        atomic_fetch_add_explicit(&paused_ns, now_ns - since_ns, memory_order_relaxed);
}

static void begin_or_end(uint32_t request) {
    uint64_t begun_ns = pie_monotonic_ns();
    bool will_pause = request & PIE_HEAP_REQUEST_PAUSES;

    if (will_pause && !atomic_load_explicit(&price_part, memory_order_relaxed))
        measure_price();
    if (pie_heap_is_paused || will_pause)
        note_in_use();
    if (will_pause != pie_heap_is_paused && !pause_ops->set_paused(will_pause)) {
        request = PIE_HEAP_REQUEST_ALL;
        will_pause = pie_heap_is_paused;
    }
    note_time(will_pause, begun_ns);
    atomic_store_explicit(&current, request & PIE_HEAP_REQUEST_CURRENT, memory_order_relaxed);
    atomic_fetch_add_explicit(&cost_ns, pie_monotonic_ns() - begun_ns, memory_order_relaxed);
}

/* Without a profile nothing is to be told any more, and under a filter of the program's the calls that set a pause may
 * end the process: hooks stay as they are. */
static bool may_act(const struct pie_heap_settings *settings) {
    return settings && !pie_filtered();
}

/* Python gives everything back at its end: from here on all is counted. */
static uint32_t take_request(const struct pie_heap_settings *settings) {
    uint32_t request = atomic_exchange_explicit(&pie_heap_request, 0, memory_order_relaxed);
    bool is_limited = request & (PIE_HEAP_REQUEST_PAUSES | PIE_HEAP_REQUEST_CURRENT);

    if (pie_heap_is_paused && settings->is_finalizing())
        return PIE_HEAP_REQUEST_ALL;
    return is_limited && !pause_ops->can_pause() ? PIE_HEAP_REQUEST_ALL : request;
}

/* Blocks of a measurement pass the hooks, too. */
void pie_heap_pauses_act(void) {
    const struct pie_heap_settings *settings = pie_heap_settings();
    int error = errno;

    if (!may_act(settings) || atomic_flag_test_and_set_explicit(&is_acting, memory_order_acquire))
        return;
    uint32_t request = take_request(settings);
    if (request)
        begin_or_end(request);
    atomic_flag_clear_explicit(&is_acting, memory_order_release);
    errno = error;
}

/* Not at once: pymalloc is at work on a block. */
void pie_heap_pauses_grown(void) {
    uint32_t now = atomic_load_explicit(&current, memory_order_relaxed);

    if (pie_heap_is_paused || pie_heap_share_in(now))
        atomic_store_explicit(&pie_heap_request, PIE_HEAP_REQUEST_ALL, memory_order_relaxed);
}

void pie_heap_pauses_share(const void *block, uint16_t *ret_share, uint8_t *ret_slice) {
    uint32_t now = atomic_load_explicit(&current, memory_order_relaxed);

    if (now && (uintptr_t)block - small_zone < small_zone_bytes) {
        *ret_share = pie_heap_share_in(now);
        *ret_slice = pie_heap_slice_in(now);
    }
}

uint64_t pie_heap_pauses_ns(uint64_t now_ns) {
    uint64_t since_ns = atomic_load_explicit(&paused_since_ns, memory_order_relaxed);

    return atomic_load_explicit(&paused_ns, memory_order_relaxed) +
           (since_ns && now_ns > since_ns ? now_ns - since_ns : 0);
}

bool pie_heap_pauses_is_on(void) {
    return atomic_load_explicit(&paused_since_ns, memory_order_relaxed) != 0;
}

void pie_heap_pauses_pass(struct pie_heap_rate *rate, uint64_t *told_ns, uint64_t now_ns) {
    uint64_t all_ns = pie_heap_pauses_ns(now_ns);

    if (all_ns > *told_ns)
        pie_heap_rate_pass(rate, all_ns - *told_ns, now_ns);
    *told_ns = all_ns;
}

int64_t pie_heap_pauses_moved_bytes(void) {
    return atomic_load_explicit(&moved_bytes, memory_order_relaxed);
}

uint64_t pie_heap_pauses_cost_ns(void) {
    return atomic_load_explicit(&cost_ns, memory_order_relaxed);
}

/* A pause goes on until the next hook. */
void pie_heap_pauses_forget(void) {
    is_forgotten = true;
    atomic_flag_clear_explicit(&is_acting, memory_order_relaxed);
    atomic_store_explicit(&current, 0, memory_order_relaxed);
    atomic_store_explicit(&moved_bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&cost_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&paused_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&paused_since_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&pie_heap_request, pie_heap_is_paused ? PIE_HEAP_REQUEST_ALL : 0,
                          memory_order_relaxed);
}
