/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/collect/own_cost.h"

#include "profiler/base/clocks.h"

#include <string.h>

/* Of the collection thread. Fork child: pie_own_cost_forget(). */
static struct {
    enum pie_own_cost at;
    uint64_t since_ns; /* the thread's CPU clock */
    uint64_t ns[PIE_OWN_COSTS];
} own;

static void settle(void) {
    uint64_t now_ns = pie_thread_cpu_ns();

    own.ns[own.at] += now_ns - own.since_ns;
    own.since_ns = now_ns;
}

enum pie_own_cost pie_own_cost_switch(enum pie_own_cost cost) {
    enum pie_own_cost before = own.at;

    settle();
    own.at = cost;
    return before;
}

uint64_t pie_own_cost_ns(enum pie_own_cost cost) {
    settle();
    return own.ns[cost];
}

void pie_own_cost_forget(void) {
    memset(&own, 0, sizeof own);
}
