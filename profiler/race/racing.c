/* SPDX-License-Identifier: Apache-2.0 */

/* Arms, their observations and what is shared by the policies; race/bounds.c races, race/phases.c has the other two.
 *
 * In an observed iteration every function has a reward, most often 0. Those zeros are not written down: an arm's n lags
 * behind the rounds until it is called or compared again, and is caught up then in one step. A function that is first
 * called in a late round was not called in the earlier ones, so it starts with their zeros: counting from its first
 * call would count that call always and its absence never, and rarely called functions would come out too expensive. */

#include "profiler/race/internal.h"

#include <math.h>

static const double CONFIDENCE = 0.95, RESOLUTION = 0.005;
static const double SECONDS_MAX = 1e9; /* thirty years: a clock went wrong */

void pie_race_begin(struct pie_race *race, const struct pie_race_settings *settings) {
    struct pie_race_settings *own = &race->settings;

    *own = *settings;
    if (!(own->confidence > 0 && own->confidence < 1))
        own->confidence = CONFIDENCE;
    if (!(own->resolution > 0 && own->resolution < 1))
        own->resolution = RESOLUTION;
    if (own->policy != PIE_RACE_RACING && own->top == 0)
        own->top = 1;
    race->count = 0;
    race->budget = own->policy == PIE_RACE_RACING ? 0 : own->budget;
    race->observations = 0;
    pie_race_again(race);
}

int pie_race_add(struct pie_race *race) {
    if (race->count == PIE_RACE_ARMS_MAX)
        return -1;
    race->arms[race->count] = (struct pie_arm){.state = PIE_ARM_RACING};
    return (int)race->count++;
}

/* Chan's way to join two sets of which one is all zeros. */
static void count_zeros(struct pie_arm *arm, uint64_t until_round) {
    double before = (double)arm->n, after = (double)until_round;

    if (arm->n >= until_round)
        return;
    arm->m2 += arm->mean * arm->mean * before * (after - before) / after;
    arm->mean *= before / after;
    arm->n = until_round;
}

void pie_race_update_arm(struct pie_arm *arm, uint64_t round) {
    if (arm->pending_round != 0 && arm->pending_round <= round) {
        count_zeros(arm, arm->pending_round - 1);
        double difference = arm->pending - arm->mean;
        arm->mean += difference / (double)++arm->n;
        arm->m2 += difference * (arm->pending - arm->mean);
        arm->largest = arm->pending > arm->largest ? arm->pending : arm->largest;
        arm->pending_round = 0;
    }
    count_zeros(arm, round);
}

static void join(struct pie_race *race, int arm) {
    race->arms[arm].is_present = true;
    race->order[race->contenders++] = (uint16_t)arm;
    race->present++;
    race->racing++;
    if (race->budget != 0)
        race->next_round = 0; /* phases depend on the number of arms */
}

void pie_race_observe(struct pie_race *race, int arm, double seconds) {
    uint64_t round = race->rounds + 1;

    if (arm < 0 || (size_t)arm >= race->count || !(seconds >= 0 && seconds < SECONDS_MAX))
        return;
    struct pie_arm *observed = &race->arms[arm];
    if (observed->state != PIE_ARM_RACING)
        return;
    if (observed->pending_round != round) {
        pie_race_update_arm(observed, race->rounds);
        observed->pending = 0;
        observed->pending_round = round;
        if (!observed->is_present)
            join(race, arm);
    }
    observed->pending += seconds;
}

void pie_race_decide(struct pie_race *race, struct pie_arm *arm, enum pie_arm_state state) {
    pie_race_update_arm(arm, race->rounds);
    arm->state = state;
    arm->decided_after = race->rounds;
    race->racing--;
}

void pie_race_sort(struct pie_race *race) {
    size_t contenders = 0;

    for (size_t i = 0; i < race->contenders; i++)
        if (race->arms[race->order[i]].state != PIE_ARM_DROPPED)
            race->order[contenders++] = race->order[i];
    race->contenders = contenders;
    for (size_t i = 1; i < contenders; i++) { /* nearly in order from the last time */
        uint16_t moved = race->order[i];
        size_t to = i;
        for (; to > 0 && race->arms[race->order[to - 1]].mean > race->arms[moved].mean; to--)
            race->order[to] = race->order[to - 1];
        race->order[to] = moved;
    }
}

size_t pie_race_round(struct pie_race *race) {
    size_t before = race->racing;

    race->rounds++;
    race->observations += race->racing;
    if (race->racing == 0 || race->rounds < race->next_round)
        return 0;
    if (race->budget == 0)
        pie_race_compare(race);
    else
        pie_race_phases(race);
    return before - race->racing;
}

bool pie_race_is_decided(const struct pie_race *race) {
    return race->present > 0 && race->racing == 0;
}

struct pie_arm pie_race_arm(const struct pie_race *race, int arm) {
    struct pie_arm copy = race->arms[arm];

    if (copy.is_present && copy.state == PIE_ARM_RACING)
        pie_race_update_arm(&copy, race->rounds);
    return copy;
}

void pie_race_again(struct pie_race *race) {
    if (race->settings.policy != PIE_RACE_RACING && race->budget == 0)
        race->budget = race->observations;
    race->rounds = race->observations = race->next_round = race->comparisons = 0;
    race->present = race->racing = race->contenders = 0;
    for (size_t i = 0; i < race->count; i++)
        race->arms[i] = (struct pie_arm){.state = PIE_ARM_RACING};
}
