/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/govern/period.h"

#include "profiler/base/random.h"

/* Fewer samples than AT_LEAST are no mean; each look moves it by a quarter of the difference, so a step in the cost is
 * followed within two seconds (a look comes each 100 ms). */
enum { AT_LEAST = 20, MEAN_PART = 4, STRETCH_MAX = 5 };

/* Means longer than this multiple of the shortest period have short ones among them. */
enum { DENSE_FROM = 2 };
static const double DENSE_PART = 0.5; /* of the samples */

enum { PERMILLE = 1000, PERMILLE_MIN = 500 };

static void look(struct pie_period *period, uint64_t samples, uint64_t cost_ns) {
    uint64_t more = samples - period->samples;

    if (more < AT_LEAST)
        return;
    uint64_t now_ns = cost_ns > period->cost_ns ? (cost_ns - period->cost_ns) / more : 0;
    uint64_t before_ns = period->mean_ns;
    period->mean_ns = before_ns ? before_ns - before_ns / MEAN_PART + now_ns / MEAN_PART : now_ns;
    period->samples = samples;
    period->cost_ns = cost_ns;
}

uint64_t pie_period_mean_ns(struct pie_period *period, uint64_t samples, uint64_t cost_ns,
                            uint64_t shortest_ns, double share, double stretch) {
    double longest_ns = STRETCH_MAX * stretch * (double)shortest_ns;

    look(period, samples, cost_ns);
    if (share <= 0)
        return shortest_ns;
    double wanted_ns = (double)period->mean_ns / share;
    if (wanted_ns >= longest_ns)
        return (uint64_t)longest_ns;
    return wanted_ns > (double)shortest_ns ? (uint64_t)wanted_ns : shortest_ns;
}

/* A copy loop is known by two samples in one native call (copies/loop.h), which long periods seldom have. So half of
 * the samples are as near as they were asked for, in the part of the time that they take, and the others further apart.
 * Which they are has nothing to do with what the program does then. */
static uint64_t mix_ns(uint64_t mean_ns, uint64_t shortest_ns, uint64_t *random) {
    double dense_time = DENSE_PART * (double)shortest_ns / (double)mean_ns;

    if (mean_ns <= DENSE_FROM * shortest_ns)
        return mean_ns;
    if ((double)(pie_random_next(random) >> 11) * 0x1p-53 < dense_time)
        return shortest_ns;
    return (uint64_t)((double)mean_ns * (1 - dense_time) / (1 - DENSE_PART));
}

uint64_t pie_period_draw_ns(struct pie_period *period, uint64_t mean_ns, uint64_t shortest_ns,
                            uint64_t *random) {
    uint64_t permille = 2 * PERMILLE - period->drawn_permille;

    if (period->drawn_permille) {
        period->drawn_permille = 0;
    } else {
        permille = PERMILLE_MIN + (pie_random_next(random) >> 16) % (PERMILLE + 1);
        period->drawn_permille = (uint32_t)permille;
    }
    return mix_ns(mean_ns, shortest_ns, random) * PERMILLE / permille;
}
