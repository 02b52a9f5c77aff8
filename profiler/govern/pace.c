/* SPDX-License-Identifier: Apache-2.0 */

/* Ticks cost wall time's worth of CPU time, whatever the program does meanwhile. So in a program that mostly sleeps no
 * share of its CPU time could pay for them, and its waiting is what is to be seen. Ticks may always take
 * WALL_SHARE of one processor, which nobody notices.
 *
 * A clock costs some 40 us, which is much of a thread that lives for 1 ms. A thread that was not drawn gets its clock
 * when it is old (collect/collection.c), so only short ones stay without; their time is in one row. */

#include "profiler/govern/pace.h"

#include "profiler/base/hash.h"

static const double WALL_SHARE = 0.0025;

enum { TICKS_AT_LEAST = 4, MEAN_PART = 4 };

static const double PART_MIN = 1.0 / 32;

void pie_pace_begin(struct pie_pace *pace, uint64_t shortest_ns, uint64_t longest_ns) {
    *pace = (struct pie_pace){.shortest_ns = shortest_ns,
                              .longest_ns = longest_ns > shortest_ns ? longest_ns : shortest_ns,
                              .tick_ns = shortest_ns,
                              .armed_part = 1};
}

static void note_cost(struct pie_pace *pace, uint64_t ticks, uint64_t cost_ns) {
    uint64_t more = ticks - pace->ticks;

    if (more < TICKS_AT_LEAST)
        return;
    uint64_t now_ns = (cost_ns - pace->ticks_cost_ns) / more, before_ns = pace->tick_cost_ns;
    pace->tick_cost_ns = before_ns ? before_ns - before_ns / MEAN_PART + now_ns / MEAN_PART : now_ns;
    pace->ticks = ticks;
    pace->ticks_cost_ns = cost_ns;
}

static uint64_t tick_ns(const struct pie_pace *pace, double share) {
    if (share <= 0)
        return pace->shortest_ns;
    double wanted_ns = (double)pace->tick_cost_ns / (share > WALL_SHARE ? share : WALL_SHARE);
    if (wanted_ns >= (double)pace->longest_ns)
        return pace->longest_ns;
    return wanted_ns > (double)pace->shortest_ns ? (uint64_t)wanted_ns : pace->shortest_ns;
}

/* Twice as many or half as many at most: a part that follows its own effect at once swings. */
static double armed_part(double before, double spending, double allowed) {
    double factor = spending > 0 ? allowed / spending : 2;

    if (allowed <= 0)
        return 1;
    double part = before * (factor > 2 ? 2 : factor < 0.5 ? 0.5 : factor);
    return part < PART_MIN ? PART_MIN : part > 1 ? 1 : part;
}

void pie_pace_look(struct pie_pace *pace, const struct pie_pace_look *look) {
    note_cost(pace, look->ticks, look->ticks_cost_ns);
    pace->tick_ns = tick_ns(pace, look->ticks_allowed);
    pace->armed_part = armed_part(pace->armed_part, look->arming, look->arming_allowed);
}

bool pie_pace_arms_young(const struct pie_pace *pace, uint64_t thread) {
    return (double)(pie_hash_mix(pie_hash_mix(0, thread), thread) >> 11) * 0x1p-53 < pace->armed_part;
}
