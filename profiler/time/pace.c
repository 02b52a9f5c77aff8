/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/time/pace.h"

/* Of CPU time: less shows nothing. */
static const uint64_t SPENDING_NS = 50000000;

/* Samples of which no period is stretched: two seconds at 1 kHz. Fewer than AT_LEAST are no mean; each look moves it by
 * a quarter of the difference, so a step in the cost is followed within two seconds (a look comes each 100 ms). No
 * period is stretched beyond twice its length: copy loops are known by two samples in one call (copies/loop.h), and
 * with periods of up to 10 ms half of what some lines copied was missed. */
enum { FIRST_SAMPLES = 2000, AT_LEAST = 20, MEAN_PART = 4, STRETCH_MAX = 2 };

static void look(struct pie_pace *pace, uint64_t samples, uint64_t cost_ns) {
    uint64_t more = samples - pace->samples;

    if (more < AT_LEAST)
        return;
    uint64_t now_ns = cost_ns > pace->cost_ns ? (cost_ns - pace->cost_ns) / more : 0;
    uint64_t before_ns = pace->mean_ns;
    pace->mean_ns = before_ns ? before_ns - before_ns / MEAN_PART + now_ns / MEAN_PART : now_ns;
    pace->samples = samples;
    pace->cost_ns = cost_ns;
}

uint64_t pie_pace_period_ns(struct pie_pace *pace, uint64_t samples, uint64_t cost_ns, uint64_t shortest_ns,
                            double share) {
    look(pace, samples, cost_ns);
    if (samples < FIRST_SAMPLES || share <= 0)
        return shortest_ns;
    double wanted_ns = (double)pace->mean_ns / share;
    if (wanted_ns >= (double)(STRETCH_MAX * shortest_ns))
        return STRETCH_MAX * shortest_ns;
    return wanted_ns > (double)shortest_ns ? (uint64_t)wanted_ns : shortest_ns;
}

static void note(struct pie_spending *spending, uint64_t cpu_ns, uint64_t spent_ns) {
    uint64_t passed_ns = cpu_ns - spending->cpu_ns;

    if (cpu_ns < spending->cpu_ns || passed_ns < SPENDING_NS)
        return;
    double now = (double)(spent_ns - spending->spent_ns) / (double)passed_ns;
    spending->share = spending->is_known ? spending->share + (now - spending->share) / MEAN_PART : now;
    spending->is_known = true;
    spending->cpu_ns = cpu_ns;
    spending->spent_ns = spent_ns;
}

double pie_spending_left(struct pie_spending *spending, uint64_t cpu_ns, uint64_t spent_ns, double part) {
    note(spending, cpu_ns, spent_ns);
    return spending->is_known && spending->share < part ? part - spending->share : 0;
}
