/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which functions of a loop to go on timing: the learning tracer's mathematics. An arm is a function; its reward is the
 * seconds it took in one iteration, 0 where it was not called; a round is one observed iteration. An arm races until it
 * is decided: dropped (it is one of the cheaper ones) or kept. A decided arm need not be timed any more in this epoch.
 *
 * Iterations are taken to be drawn independently from one distribution while an epoch lasts. The caller begins an epoch
 * every second or so (pie_race_again()), which is how a change of phase is seen.
 *
 * No function allocates, locks or prints; the caller serialises. All of it may run in a profile callback. Context: any
 * (not signal; with the caller's lock). */

enum pie_race_policy {
    /* After a round the arm with the lowest mean is dropped when its upper bound lies below the lower bounds of all the
     * others that are not dropped. Where `top` is not 0, every arm is dropped whose upper bound lies below the lower
     * bounds of the `top` arms of the highest means, which ends much sooner where there are many small arms. With the
     * settings' confidence, no arm is dropped in an epoch that belongs above one that was not. */
    PIE_RACE_RACING,
    /* Successive Rejects: as many phases as arms to drop, the lowest mean is dropped after each. No bounds: sooner
     * done, and right with a probability that grows with the budget. */
    PIE_RACE_REJECTS,
    /* Successive Accepts and Rejects: after each phase the arm that lies farthest from the edge between the `top` arms
     * and the others is kept or dropped. */
    PIE_RACE_ACCEPTS_REJECTS,
};

struct pie_race_settings {
    enum pie_race_policy policy;
    double confidence; /* of the whole epoch's decisions, and of pie_race_interval(); 0: 0.95 */
    size_t top;        /* arms looked for; racing: see above; otherwise 0 is 1 */
    /* Observations (an arm in a round) of an epoch, for the last two policies. 0: the first epoch is raced, and what
     * that took is the budget of those that follow. */
    uint64_t budget;
    /* The part of the mean round that need not be known any better, see pie_race_round(); 0: 0.005. */
    double resolution;
};

enum pie_arm_state { PIE_ARM_RACING, PIE_ARM_DROPPED, PIE_ARM_KEPT };

struct pie_arm {
    uint64_t n;      /* rounds counted, also those in which it was not called */
    double mean, m2; /* of the rewards in them: Welford's mean and sum of squared deviations */
    double largest;
    double low, high;       /* bounds of the mean when it was last compared, by which racing decides */
    uint64_t decided_after; /* rounds, 0: undecided */
    enum pie_arm_state state;
    bool is_present;        /* called in this epoch */
    double pending;         /* private: reward in the round `pending_round` … */
    uint64_t pending_round; /* … which is not in the mean yet; 0: none */
};

enum { PIE_RACE_ARMS_MAX = 1024 };

/* Some 110 KiB, of which only the head and the arms that were added are ever touched. To be read freely, except that an
 * arm's figures may lag behind: pie_race_arm() has them as they are. An arm's state is always right. */
struct pie_race {
    struct pie_race_settings settings;
    uint64_t rounds;        /* of this epoch */
    uint64_t observations;  /* made in this epoch: one for each present undecided arm in each round */
    uint64_t budget;        /* in force; 0: racing */
    uint64_t next_round;    /* private: nothing is decided before this round */
    uint64_t comparisons;   /* private: so often racing has looked at its bounds */
    size_t count;           /* arms */
    size_t present, racing; /* arms called in this epoch; those of them that are undecided */
    size_t contenders;      /* private: those of them that are not dropped, in `order` */
    struct pie_arm arms[PIE_RACE_ARMS_MAX];
    uint16_t order[PIE_RACE_ARMS_MAX]; /* private */
    double edge[PIE_RACE_ARMS_MAX];    /* private */
};

/* A race without arms; settings are copied, those out of range become the defaults. */
void pie_race_begin(struct pie_race *race, const struct pie_race_settings *settings);
/* A new arm, to be called when a function is first seen. Its number, or -1: there are PIE_RACE_ARMS_MAX. It takes part
 * in the race from its first pie_race_observe() in an epoch; in the rounds before it was not called, which counts as
 * 0. */
int pie_race_add(struct pie_race *race);
/* Adds the seconds that an arm took in the current round; several calls in a round add up, and an arm that is not
 * observed has 0 in it. No effect on an arm that is decided, for a negative reward and for one that is not finite.
 * O(1). */
void pie_race_observe(struct pie_race *race, int arm, double seconds);
/* Ends a round. Returns how many arms were decided by it. Racing compares the arms after rounds 16, 18, 20, …, each
 * time an eighth later, the other policies after each phase; all other rounds cost a few instructions. Racing keeps:
 * - the arms with the highest means (`top`, or one), when all others are decided and lie below;
 * - arms that can not be told apart, when the intervals of both are narrower than the resolution, to either side. */
size_t pie_race_round(struct pie_race *race);
/* Every arm called in this epoch is decided; false while there is none. An arm that is first called later races still,
 * against the bounds that the others had when they were decided, and its mean is that of the whole epoch: if it is
 * about to be the most expensive it may be dropped before it has caught up (one in fifteen of those that came twice as
 * dear as the best, when all was decided), until the next epoch. The last two policies drop it: the budget is spent. */
bool pie_race_is_decided(const struct pie_race *race);
/* An arm as of the last round that ended. */
struct pie_arm pie_race_arm(const struct pie_race *race, int arm);
/* Bounds around an arm's mean, seconds in a round, at the settings' confidence for this one arm looked at once: the
 * bounds that racing decides by are wider, as they hold for all arms and however often they are looked at. 0 and
 * INFINITY while it has not been called in this epoch. race/bounds.c says what is assumed of rewards. */
void pie_race_interval(const struct pie_race *race, int arm, double *ret_low, double *ret_high);
/* A new epoch: arms keep their numbers and nothing else. */
void pie_race_again(struct pie_race *race);

/* How little is known about a fraction of which `hits` in `tries` were seen: the width of Wilson's interval at this
 * confidence, 1 without tries, falling to 0. To rank what is to be looked at next. Context: any. */
double pie_race_undecided(uint64_t hits, uint64_t tries, double confidence);
