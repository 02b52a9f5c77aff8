/* SPDX-License-Identifier: Apache-2.0 */

/* Racing: Maron and Moore 1994; with bounds that know the variance, Mnih, Szepesvári and Audibert 2008. The rule of
 * whom to drop is that of Paikana (section 3.1).
 *
 * Bounds. With probability 1 - d the mean of n draws from [0, R] with empirical variance V lies within
 *     sqrt(2 V ln(3/d) / n) + 3 R ln(3/d) / n
 * of the truth, to both sides (Audibert, Munos, Szepesvári 2007). Arms are compared after fixed rounds, the c-th time
 * after about 16 * 1.125^c. With d = (1 - confidence) / (K c (c + 1)), K arms at that time, the chances to fail of
 * all arms and all comparisons sum up to 1 - confidence. As time between comparisons grows, what this costs grows as
 * log(log(n)).
 *
 * The range. Times have no known R, and functions' times differ by powers of ten, so a common R would keep small arms
 * racing without end. R is the largest reward that the arm has shown, or ten times the root of its mean square if
 * that is less, which it can be after a hundred rounds at the soonest. Both are guesses: the theorem holds for an R
 * known before. Why it is enough, for rewards that are not negative:
 * - Of what lies above the largest of n draws less than ln(1/d) / n is left with probability 1 - d, and the second
 *   term makes room for three times that at R. So rewards are covered that are up to three times as large as R, seen
 *   or not.
 * - A single huge reward x, of a thread that lost its CPU, moves the mean by x / n, and the first term grows by
 *   sqrt(2 ln(3/d)), four or five times that. With R = x an arm would have to race for some forty times x / mean rounds
 *   more, all to cover one that was seen already; with lognormal times (sigma 1.5) it takes three times the rounds for
 *   the same decisions.
 * What is not covered: an arm that hides rare rewards, hundreds of times as large as its others, until it is dropped.
 * It can then be missed for an epoch, and its interval does not hold its mean. Rewards are not clipped and no quantile
 * is taken for the mean: with skewed times either would be off to one side for good, and a profile is of sums. */

#include "profiler/race/internal.h"

#include <math.h>

enum { FIRST_ROUND = 16, ROUNDS_PART = 8, ROOTS_MAX = 10 };

/* `doubt` is ln(3/d). */
static double half_width(const struct pie_arm *arm, double doubt) {
    double n = (double)arm->n;
    double range = fmin(arm->largest, ROOTS_MAX * sqrt(arm->m2 / n + arm->mean * arm->mean));

    return sqrt(2 * (arm->m2 / n) * doubt / n) + 3 * range * doubt / n;
}

static double single_doubt(const struct pie_race *race) {
    return log(3 / (1 - race->settings.confidence));
}

void pie_race_interval(const struct pie_race *race, int arm, double *ret_low, double *ret_high) {
    struct pie_arm copy = pie_race_arm(race, arm);
    double half = copy.n == 0 ? INFINITY : half_width(&copy, single_doubt(race));

    *ret_low = half < copy.mean ? copy.mean - half : 0;
    *ret_high = copy.mean + half;
}

/* True: this is a round after which arms are compared. */
static bool is_due(struct pie_race *race) {
    if (race->next_round == 0)
        race->next_round = FIRST_ROUND;
    while (race->next_round < race->rounds) { /* nobody raced then */
        race->next_round += race->next_round / ROUNDS_PART;
        race->comparisons++;
    }
    if (race->next_round > race->rounds)
        return false;
    race->next_round += race->next_round / ROUNDS_PART;
    race->comparisons++;
    return true;
}

static void set_bounds(struct pie_race *race) {
    double times = (double)race->comparisons;
    double doubt = single_doubt(race) + log((double)race->present * times * (times + 1));

    for (size_t i = 0; i < race->contenders; i++) {
        struct pie_arm *arm = &race->arms[race->order[i]];
        if (arm->state != PIE_ARM_RACING)
            continue; /* the bounds it had when it was decided */
        pie_race_update_arm(arm, race->rounds);
        double half = half_width(arm, doubt);
        arm->low = half < arm->mean ? arm->mean - half : 0;
        arm->high = arm->mean + half;
    }
}

static struct pie_arm *contender(struct pie_race *race, size_t place) {
    return &race->arms[race->order[place]];
}

/* Where the arms that are looked for begin, in the order of the means. */
static size_t edge_of_top(const struct pie_race *race) {
    size_t top = race->settings.top == 0 ? 1 : race->settings.top;

    return race->contenders > top ? race->contenders - top : 0;
}

/* edge[i]: the smallest of the lower bounds from place i upward. */
static void drop(struct pie_race *race) {
    size_t first = edge_of_top(race);
    double smallest = INFINITY;

    for (size_t i = race->contenders; i-- > 0;) {
        smallest = fmin(smallest, contender(race, i)->low);
        race->edge[i] = smallest;
    }
    for (size_t i = 0; i < first; i++) {
        struct pie_arm *arm = contender(race, i);
        if (arm->state != PIE_ARM_RACING)
            continue;
        if (arm->high < race->edge[race->settings.top == 0 ? i + 1 : first])
            pie_race_decide(race, arm, PIE_ARM_DROPPED);
        else if (race->settings.top == 0)
            return;
    }
}

/* Keeps both of two arms that overlap though they are known to the resolution; with a `top`, if its edge runs between
 * them. A kept arm is known as well as it ever will be. */
static void keep_blurred(struct pie_race *race) {
    size_t first = edge_of_top(race), count = race->contenders;
    bool any_pair = race->settings.top == 0;
    double doubt = single_doubt(race), round_mean = 0, above = INFINITY, below = -INFINITY;
    double *edge = race->edge; /* as in drop(), of the known arms; -1: this arm is not known */

    for (size_t i = 0; i < race->count; i++)
        round_mean += race->arms[i].mean;
    double resolution = race->settings.resolution * round_mean;
    for (size_t i = count; i-- > 0;) {
        const struct pie_arm *arm = contender(race, i);
        bool is_known = arm->state == PIE_ARM_KEPT || half_width(arm, doubt) <= resolution;
        edge[i] = !is_known ? -1 : any_pair || i < first ? above : INFINITY;
        if (is_known && (any_pair || i >= first))
            above = fmin(above, arm->low);
    }
    for (size_t i = 0; i < count; i++) {
        struct pie_arm *arm = contender(race, i);
        if (edge[i] == -1)
            continue;
        bool is_blurred = arm->high >= edge[i] || ((any_pair || i >= first) && arm->low <= below);
        if (any_pair || i < first)
            below = fmax(below, arm->high);
        if (arm->state == PIE_ARM_RACING && is_blurred)
            pie_race_decide(race, arm, PIE_ARM_KEPT);
    }
}

/* Keeps the arms that were looked for when nothing else is left. */
static void keep_top(struct pie_race *race) {
    size_t first = edge_of_top(race);
    double below = -1;

    for (size_t i = 0; i < first; i++) {
        if (contender(race, i)->state == PIE_ARM_RACING)
            return;
        below = fmax(below, contender(race, i)->high);
    }
    for (size_t i = first; i < race->contenders; i++)
        if (contender(race, i)->state == PIE_ARM_RACING && contender(race, i)->low > below)
            pie_race_decide(race, contender(race, i), PIE_ARM_KEPT);
}

void pie_race_compare(struct pie_race *race) {
    if (!is_due(race))
        return;
    set_bounds(race);
    pie_race_sort(race);
    drop(race);
    pie_race_sort(race);
    keep_blurred(race);
    keep_top(race);
}
