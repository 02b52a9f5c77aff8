/* SPDX-License-Identifier: Apache-2.0 */

/* What has no rate is taken off the budget first. The rest is divided by fixed parts; what one leaves over of its part
 * is divided among those that spend theirs. A collector spends less than its part when there is nothing to look at, or
 * when it has decided what it looked at: so the budget goes to what is still uncertain.
 *
 * What was spent beyond the budget since the beginning is paid back, slowly: so the mean over the run comes near to it.
 * A run that was cheap may spend more later, within bounds. */

#include "profiler/govern/governor.h"

/* Of CPU time: less shows nothing. Each look moves a mean by a quarter of the difference. */
static const uint64_t LOOK_NS = 50000000;
static const double MEAN_PART = 0.25;

/* So long nothing is limited: a short run needs each sample. */
static const uint64_t FREE_NS = 2000000000;

/* A debt is paid back over so much CPU time, or credit spent. */
static const double HORIZON_NS = 5e9;
static const double TARGET_MIN = 0.4, TARGET_MAX = 1.5; /* of the budget, at any time */

/* What has a rate keeps this part of the budget, whatever the rest costs: else the profile would show nothing. */
static const double GOVERNED_MIN = 0.4;

static const double PARTS[PIE_COSTS_GOVERNED] = {[PIE_COST_SAMPLES] = 0.33,
                                                 [PIE_COST_WATCHES] = 0.42,
                                                 [PIE_COST_MEMORY] = 0.1,
                                                 [PIE_COST_COPIES] = 0.05,
                                                 [PIE_COST_WINDOWS] = 0.1};

/* Who spends less than this share of its part wants no more. */
static const double CONTENT = 0.8;

static double within(double value, double least, double most) {
    return value < least ? least : value > most ? most : value;
}

void pie_governor_begin(struct pie_governor *governor, double budget) {
    *governor = (struct pie_governor){.budget = budget};
}

static double sum(const uint64_t ns[PIE_COSTS]) {
    double all = 0;

    for (int i = 0; i < PIE_COSTS; i++)
        all += (double)ns[i];
    return all;
}

static void note(struct pie_governor *governor, uint64_t cpu_ns, const uint64_t spent_ns[PIE_COSTS]) {
    double passed_ns = (double)(cpu_ns - governor->cpu_ns);

    for (int i = 0; i < PIE_COSTS; i++) {
        double more_ns =
            spent_ns[i] > governor->spent_ns[i] ? (double)(spent_ns[i] - governor->spent_ns[i]) : 0;
        double now = more_ns / passed_ns;
        governor->spending[i] =
            governor->is_known ? governor->spending[i] + (now - governor->spending[i]) * MEAN_PART : now;
        governor->spent_ns[i] = spent_ns[i];
    }
    governor->cpu_ns = cpu_ns;
    governor->is_known = true;
}

/* For what has a rate, by now. */
static double divisible(const struct pie_governor *governor) {
    double debt_ns = sum(governor->spent_ns) - governor->budget * (double)governor->cpu_ns;
    double target = within(governor->budget - debt_ns / HORIZON_NS, TARGET_MIN * governor->budget,
                           TARGET_MAX * governor->budget);
    double rest = target - governor->spending[PIE_COST_OTHER];

    return rest > GOVERNED_MIN * governor->budget ? rest : GOVERNED_MIN * governor->budget;
}

static void divide(struct pie_governor *governor, double whole) {
    double over = 0, wanting = 0;

    for (int i = 0; i < PIE_COSTS_GOVERNED; i++) {
        double part = PARTS[i] * whole;
        governor->allowed[i] = part;
        if (governor->spending[i] < CONTENT * part)
            over += part - governor->spending[i] / CONTENT;
        else
            wanting += PARTS[i];
    }
    for (int i = 0; i < PIE_COSTS_GOVERNED; i++)
        if (governor->spending[i] >= CONTENT * PARTS[i] * whole)
            governor->allowed[i] += over * PARTS[i] / wanting;
}

void pie_governor_look(struct pie_governor *governor, uint64_t cpu_ns, const uint64_t spent_ns[PIE_COSTS]) {
    if (governor->budget <= 0 || cpu_ns < governor->cpu_ns + LOOK_NS)
        return;
    note(governor, cpu_ns, spent_ns);
    if (cpu_ns >= FREE_NS)
        divide(governor, divisible(governor));
}
