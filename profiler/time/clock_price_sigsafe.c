/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/time/clock_price.h"

#include "profiler/base/clocks.h"
#include "profiler/thread/thread.h"
#include "profiler/time/thread.h"

/* Where it could not be measured: what it is on a virtual machine that is not busy. */
static const struct pie_clock_price PRICE_DEFAULT = {.signal_ns = 3500};

/* One delivery moves a thread's mean by this part of the difference. One that took longer than this multiple of the
 * mean was another thread's turn. */
enum { MEAN_PART = 16, LONGER_MAX = 4, SCALE_MAX = 3 };

/* Of the process; a forked child keeps it. */
static struct pie_clock_price price;
static _Atomic bool is_known; /* release after the price was written; acquire where it is read */
static _Atomic uint64_t entered_ns;

void pie_clock_price_set(const struct pie_clock_price *known) {
    price = *known;
    atomic_store_explicit(&is_known, true, memory_order_release);
}

const struct pie_clock_price *pie_clock_price_known(void) {
    return atomic_load_explicit(&is_known, memory_order_acquire) ? &price : NULL;
}

static const struct pie_clock_price *price_here(void) {
    const struct pie_clock_price *known = pie_clock_price_known();

    return known && known->signal_ns ? known : &PRICE_DEFAULT;
}

void pie_clock_price_entered(void) {
    atomic_store_explicit(&entered_ns, pie_monotonic_ns(), memory_order_relaxed);
}

uint64_t pie_clock_price_last_entered_ns(void) {
    return atomic_load_explicit(&entered_ns, memory_order_relaxed);
}

uint64_t pie_clock_signal_ns(const struct pie_thread *thread) {
    return pie_time_of(thread)->signal_ns ? pie_time_of(thread)->signal_ns : price_here()->signal_ns;
}

uint64_t pie_clock_reload_ns(void) {
    return price_here()->reload_ns;
}

uint64_t pie_clock_scaled_ns(const struct pie_thread *thread, uint64_t ns) {
    uint64_t usual_ns = price_here()->signal_ns, now_ns = pie_clock_signal_ns(thread);

    now_ns = now_ns < usual_ns ? usual_ns : now_ns;
    now_ns = now_ns > SCALE_MAX * usual_ns ? SCALE_MAX * usual_ns : now_ns;
    return ns * now_ns / usual_ns;
}

void pie_clock_note_delivery(struct pie_thread *thread, uint64_t ended_ns) {
    uint64_t now_ns = pie_monotonic_ns(), mean_ns = pie_clock_signal_ns(thread);
    uint64_t whole_permille = price_here()->whole_permille;

    if (!whole_permille || now_ns <= ended_ns)
        return;
    uint64_t took_ns = (now_ns - ended_ns) * whole_permille / 1000;
    if (took_ns > LONGER_MAX * mean_ns)
        return;
    pie_time_of(thread)->signal_ns = mean_ns - mean_ns / MEAN_PART + took_ns / MEAN_PART;
}
