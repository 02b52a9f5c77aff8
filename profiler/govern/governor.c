/* SPDX-License-Identifier: Apache-2.0 */

/* What has no rate is taken off the budget first. The rest is divided by fixed parts; what one leaves over of its part
 * is divided among those that spend theirs. A collector spends less than its part when there is nothing to look at, or
 * when it has decided what it looked at: so the budget goes to what is still uncertain.
 *
 * What was spent beyond the budget since the beginning is paid back, slowly: so the mean over the run comes near to it.
 * A run that was cheap may spend more later, within bounds. */

#include "profiler/govern/governor.h"

/* Of CPU time: less shows nothing. Each look moves a mean by a quarter of the difference. */
static const uint64_t LOOK_NS = 40000000;
static const double MEAN_PART = 0.25;

/* Where the user named no budget, nothing is limited in so much CPU time, nor until the run has cost this more than its
 * share: a short run needs each sample, and few watches decide nothing (with a tenth of a second, half of the truth
 * programs of redundancy had no verdict). Of a smaller budget, less of both. */
static const double FREE_CPU_NS = 2e9, FREE_NS = 1e7;

/* A budget that the user named is kept from the start. Names and rows cost most at first, so the first second is one
 * whole: what they take is saved until its end. So much is left for rows that are still to come: with all spent, a half
 * of the runs of a second were above the point that people grant. */
static const double ASKED_FIRST_NS = 1e9, ASKED_LEFT_NS = 4e6;
/* Until something is known, what has a rate may take this part of the budget. */
static const double ASKED_FIRST_PART = 0.6;

/* The start is no part of a short run's debt: it was spent before there was a rate, and to pay it back at once would
 * take the samples of the first seconds. Over so much CPU time it is. */
static const double START_SPREAD_NS = 6e10;

/* A debt is paid back over so much CPU time, or credit spent. */
static const double HORIZON_NS = 5e9, ASKED_HORIZON_NS = 5e8;
static const double TARGET_MIN = 0.4, TARGET_MAX = 1.5; /* of the budget, at any time */

/* What has a rate keeps this part of the budget, whatever the rest costs: else the profile would show nothing. */
static const double GOVERNED_MIN = 0.4, ASKED_GOVERNED_MIN = 0.05;

/* Counting is exact, so only a run that it costs too much for so much CPU time is counted in parts; with a smaller
 * budget, or one that the user named, for less. It and what has no rate may cost this part of the budget; the rest is
 * for what else has one, and pays debts back. */
static const double TOO_DEAR_NS = 3e9, ASKED_TOO_DEAR_NS = 1e9, COUNTING_MAX = 0.5;
/* Slices that are counted and ones that are not make a mean over many looks, and a rate that moves by a little. */
static const double COUNTING_MEAN_PART = 0.03, COUNTING_STEP = 0.05;
/* Fewer slices say little about when something was allocated; of what is allowed, counting may always have some. */
static const double COUNTED_MIN = 0.15, COUNTING_LEAST = 0.1;

/* Switches of clocks have no rate, but a long period makes them cheap. At a switch in the microseconds, a program that
 * hands its work from thread to thread pays a fifth of its time for them. Of the budget, a thread's may take this part;
 * where nothing is limited, that part of its time. */
static const double SWITCHING_MAX = 0.1, SWITCHING_PART = 0.4, SHORT_SWITCHING_PART = 0.1;

static const double PARTS[PIE_COSTS_GOVERNED] = {
    [PIE_COST_SAMPLES] = 0.3,  [PIE_COST_WATCHES] = 0.39, [PIE_COST_MEMORY] = 0.09, [PIE_COST_COPIES] = 0.06,
    [PIE_COST_WINDOWS] = 0.04, [PIE_COST_TICKS] = 0.07,   [PIE_COST_ARMING] = 0.05};

/* … and of names and rows, debug information may have this part of the budget. */
static const double DEBUG_INFO_PART = 0.1;

/* Who spends less than this share of its part wants no more. */
static const double CONTENT = 0.8;

/* Rates of collectors do not follow what is allowed to the letter; this much in a look they are corrected. */
static const double TRIM_UP = 1.15, TRIM_DOWN = 0.85, TRIM_MIN = 0.05, TRIM_MAX = 4;

/* A program that sleeps for nearly all the time has no share of it. */
static const double RUNNING_MIN = 0.02;

/* What floors of rates are made for. */
static const double BUDGET_USUAL = 0.05;

/* At 100 Hz a second of CPU time has as many samples as profilers from outside take. A sample may cost 60 us with the
 * interrupt and what it evicts, so where a budget that was asked for is spent, they are fewer by half. */
static const double STRETCH_MAX = 2, ASKED_STRETCH = 2, ASKED_STRETCH_MAX = 4;

static double within(double value, double least, double most) {
    return value < least ? least : value > most ? most : value;
}

void pie_governor_begin(struct pie_governor *governor, double budget, bool is_asked) {
    *governor = (struct pie_governor){.budget = budget, .running = 1, .counted = 1, .is_asked = is_asked};
    for (int i = 0; i < PIE_COSTS_GOVERNED; i++) {
        governor->trim[i] = 1;
        governor->allowed[i] = is_asked ? ASKED_FIRST_PART * PARTS[i] * budget : 0;
    }
}

/* The part of the free time that a budget has. */
static double free_part(double budget) {
    return within(budget / BUDGET_USUAL, 0, 1);
}

uint64_t pie_governor_free_ns(double budget, bool is_asked) {
    return is_asked ? 0 : (uint64_t)(free_part(budget) * FREE_CPU_NS + 0.5);
}

double pie_governor_scarcity(const struct pie_governor *governor) {
    return governor->budget > 0 && governor->budget < BUDGET_USUAL ? BUDGET_USUAL / governor->budget : 1;
}

double pie_governor_stretch(const struct pie_governor *governor) {
    double scarcity = pie_governor_scarcity(governor);

    return governor->is_asked ? within(ASKED_STRETCH * scarcity, 1, ASKED_STRETCH_MAX)
                              : within(scarcity, 1, STRETCH_MAX);
}

/* Who found nothing to do for a second is corrected upwards. Its next work may not take more than all may cost. */
double pie_governor_share(const struct pie_governor *governor, enum pie_cost cost) {
    return within(governor->allowed[cost] * governor->trim[cost], 0, TARGET_MAX * governor->budget);
}

bool pie_governor_has_room(const struct pie_governor *governor, enum pie_cost cost) {
    return !governor->is_asked || governor->budget <= 0 ||
           (!governor->is_short && governor->spending[cost] <= governor->allowed[cost]);
}

uint64_t pie_governor_earned_ns(const struct pie_governor *governor, enum pie_cost cost) {
    if (!governor->is_asked || governor->budget <= 0)
        return UINT64_MAX;
    double part = cost < PIE_COSTS_GOVERNED ? PARTS[cost] : DEBUG_INFO_PART;
    return (uint64_t)(part * governor->budget * (double)governor->cpu_ns);
}

double pie_governor_switching(const struct pie_governor *governor) {
    double part = governor->is_short ? SHORT_SWITCHING_PART : SWITCHING_PART;

    if (!governor->is_asked && !governor->divides)
        return SWITCHING_MAX;
    return governor->budget > 0 ? within(part * governor->budget, 0, SWITCHING_MAX) : SWITCHING_MAX;
}

double pie_governor_running(const struct pie_governor *governor) {
    return within(governor->running, RUNNING_MIN, 1);
}

/* What is beyond the budget so far; less than 0: what is left of it. */
static double debt_ns(const struct pie_governor *governor) {
    double cpu_ns = (double)governor->cpu_ns, all_ns = 0;

    for (int i = 0; i < PIE_COST_START; i++)
        all_ns += (double)governor->spent_ns[i];
    double paid = cpu_ns < START_SPREAD_NS ? cpu_ns / START_SPREAD_NS : 1;
    return all_ns + paid * (double)governor->spent_ns[PIE_COST_START] - governor->budget * cpu_ns;
}

/* What was spent since the last look. */
static double more_of(const struct pie_governor *governor, const uint64_t spent_ns[PIE_COSTS],
                      enum pie_cost cost) {
    return spent_ns[cost] > governor->spent_ns[cost] ? (double)(spent_ns[cost] - governor->spent_ns[cost])
                                                     : 0;
}

static void note_slowly(struct pie_governor *governor, double *mean, double now) {
    *mean = governor->is_known ? *mean + (now - *mean) * COUNTING_MEAN_PART : now;
}

static void note(struct pie_governor *governor, uint64_t cpu_ns, const uint64_t spent_ns[PIE_COSTS]) {
    double passed_ns = (double)(cpu_ns - governor->cpu_ns);

    note_slowly(governor, &governor->counting, more_of(governor, spent_ns, PIE_COST_COUNTING) / passed_ns);
    note_slowly(governor, &governor->uncountable, more_of(governor, spent_ns, PIE_COST_OTHER) / passed_ns);
    for (int i = 0; i < PIE_COSTS; i++) {
        double now = more_of(governor, spent_ns, (enum pie_cost)i) / passed_ns;
        governor->spending[i] =
            governor->is_known ? governor->spending[i] + (now - governor->spending[i]) * MEAN_PART : now;
        governor->spent_ns[i] = spent_ns[i];
    }
    governor->cpu_ns = cpu_ns;
    governor->is_known = true;
}

/* What all may cost by now. */
static double target(const struct pie_governor *governor) {
    double wanted = governor->budget - debt_ns(governor) / HORIZON_NS;

    return within(wanted, TARGET_MIN * governor->budget, TARGET_MAX * governor->budget);
}

/* The same of a budget that the user named: without a floor of its own. */
static double asked_target(const struct pie_governor *governor) {
    double left_ns = ASKED_FIRST_NS - (double)governor->cpu_ns;
    double horizon_ns = left_ns > ASKED_HORIZON_NS ? left_ns : ASKED_HORIZON_NS;
    double wanted = governor->budget - (debt_ns(governor) + ASKED_LEFT_NS) / horizon_ns;

    return within(wanted, 0, TARGET_MAX * governor->budget);
}

/* For what has a rate, by now. */
static double divisible(struct pie_governor *governor) {
    double least = (governor->is_asked ? ASKED_GOVERNED_MIN : GOVERNED_MIN) * governor->budget;
    /* Slices that are counted and ones that are not: of late says little. */
    double counting = governor->counted < 1 ? governor->counting : governor->spending[PIE_COST_COUNTING];
    double rest = (governor->is_asked ? asked_target(governor) : target(governor)) -
                  governor->spending[PIE_COST_OTHER] - counting;

    governor->is_short = governor->is_asked && rest <= least;
    return rest > least ? rest : least;
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

/* Is the free time of a run over? */
static bool is_over(const struct pie_governor *governor) {
    if (governor->is_asked)
        return true;
    return governor->cpu_ns >= pie_governor_free_ns(governor->budget, false) &&
           debt_ns(governor) >= free_part(governor->budget) * FREE_NS;
}

/* By a little each time: a mean lags behind. */
static void trim(struct pie_governor *governor) {
    for (int i = 0; i < PIE_COSTS_GOVERNED; i++) {
        double wanted = governor->spending[i] > 0 ? governor->allowed[i] / governor->spending[i] : TRIM_UP;
        governor->trim[i] =
            within(governor->trim[i] * within(wanted, TRIM_DOWN, TRIM_UP), TRIM_MIN, TRIM_MAX);
    }
}

/* What counting may cost. */
static double counting_allowed(const struct pie_governor *governor) {
    double rest = COUNTING_MAX * governor->budget - governor->uncountable;

    return rest > COUNTING_LEAST * governor->budget ? rest : COUNTING_LEAST * governor->budget;
}

static void limit_counting(struct pie_governor *governor, double passed_ns) {
    double allowed = counting_allowed(governor);
    double patience_ns = free_part(governor->budget) * (governor->is_asked ? ASKED_TOO_DEAR_NS : TOO_DEAR_NS);

    if (governor->counted >= 1) {
        governor->too_dear_ns = governor->counting > allowed ? governor->too_dear_ns + passed_ns : 0;
        if (governor->too_dear_ns < patience_ns)
            return;
    }
    double wanted = governor->counting > 0 ? within(allowed / governor->counting, 0, 2) : 2;
    governor->counted = within(governor->counted * (1 + (wanted - 1) * COUNTING_STEP), COUNTED_MIN, 1);
}

static void note_running(struct pie_governor *governor, uint64_t wall_ns, uint64_t cpu_ns) {
    double passed_ns = (double)(wall_ns - governor->wall_ns);

    if (governor->wall_ns && wall_ns > governor->wall_ns && cpu_ns >= governor->wall_cpu_ns)
        governor->running +=
            ((double)(cpu_ns - governor->wall_cpu_ns) / passed_ns - governor->running) * MEAN_PART;
    governor->wall_ns = wall_ns;
    governor->wall_cpu_ns = cpu_ns;
}

void pie_governor_look(struct pie_governor *governor, uint64_t wall_ns, uint64_t cpu_ns,
                       const uint64_t spent_ns[PIE_COSTS]) {
    note_running(governor, wall_ns, cpu_ns);
    if (governor->budget <= 0 || cpu_ns < governor->cpu_ns + LOOK_NS)
        return;
    double passed_ns = (double)(cpu_ns - governor->cpu_ns);
    note(governor, cpu_ns, spent_ns);
    governor->divides = governor->divides || is_over(governor);
    if (governor->divides) {
        divide(governor, divisible(governor));
        trim(governor);
        limit_counting(governor, passed_ns);
    }
}
