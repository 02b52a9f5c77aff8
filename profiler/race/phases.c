/* SPDX-License-Identifier: Apache-2.0 */

/* Successive Rejects (Audibert, Bubeck 2010) and Successive Accepts and Rejects (Bubeck, Wang, Viswanathan 2013). Of K
 * arms and a budget of B observations one arm is decided after each phase; phase k ends when its arms have
 *     n_k = ceil((B - K) / (C (K + 1 - k)))
 * observations each. Accepts and Rejects goes on through K - 1 phases, C = 1/2 + 1/2 + 1/3 + ... + 1/K. Rejects ends
 * when m arms are left, after K - m phases; with C = m/(m + 1) + 1/(m + 1) + ... + 1/K, which is the same for m = 1,
 * that too takes the whole budget and no more.
 *
 * How many arms there are is not known before the loop has been seen. The phases are laid out again whenever an arm
 * joins: those that are over by then in the new order end at once, one after the other. */

#include "profiler/race/internal.h"

static size_t kept(const struct pie_race *race) {
    return race->contenders - race->racing;
}

/* After how many rounds the phase is over that is going on. Nothing may be dropped but not yet sorted out. */
static uint64_t phase_end(const struct pie_race *race) {
    size_t count = race->present, top = race->settings.top, phase = count - race->racing + 1;
    size_t last = race->settings.policy == PIE_RACE_REJECTS ? top : 1;
    double parts = (double)last / (double)(last + 1);

    if (count <= top)
        return race->budget / count;
    if (kept(race) >= top || race->racing <= top - kept(race))
        return 0; /* nothing is open */
    if (race->budget <= count)
        return 1;
    for (size_t i = last + 1; i <= count; i++)
        parts += 1 / (double)i;
    double rounds = (double)(race->budget - count) / (parts * (double)(count + 1 - phase));
    return (uint64_t)rounds + ((double)(uint64_t)rounds < rounds);
}

static void decide_all(struct pie_race *race, enum pie_arm_state state) {
    for (size_t i = 0; i < race->contenders; i++) {
        struct pie_arm *arm = &race->arms[race->order[i]];
        if (arm->state == PIE_ARM_RACING)
            pie_race_decide(race, arm, state);
    }
}

/* The racing arm of this rank, 0: the highest mean. */
static struct pie_arm *ranked(struct pie_race *race, size_t rank) {
    for (size_t i = race->contenders; i-- > 0;) {
        struct pie_arm *arm = &race->arms[race->order[i]];
        if (arm->state == PIE_ARM_RACING && rank-- == 0)
            return arm;
    }
    return NULL;
}

static void end_phase(struct pie_race *race) {
    size_t top = race->settings.top, open = top > kept(race) ? top - kept(race) : 0;

    if (open == 0 || race->racing <= open) {
        decide_all(race, open == 0 ? PIE_ARM_DROPPED : PIE_ARM_KEPT);
        return;
    }
    struct pie_arm *best = ranked(race, 0), *worst = ranked(race, race->racing - 1);
    double above = best->mean - ranked(race, open)->mean, below = ranked(race, open - 1)->mean - worst->mean;
    if (race->settings.policy == PIE_RACE_ACCEPTS_REJECTS && above > below)
        pie_race_decide(race, best, PIE_ARM_KEPT);
    else
        pie_race_decide(race, worst, PIE_ARM_DROPPED);
}

void pie_race_phases(struct pie_race *race) {
    for (size_t i = 0; i < race->contenders; i++)
        if (race->arms[race->order[i]].state == PIE_ARM_RACING)
            pie_race_update_arm(&race->arms[race->order[i]], race->rounds);
    pie_race_sort(race);
    while (race->racing > 0 && (race->next_round = phase_end(race)) <= race->rounds) {
        end_phase(race);
        pie_race_sort(race);
    }
}
