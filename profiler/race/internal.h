/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/race/racing.h"

/* Between the parts of the race (racing.c, race/bounds.c, race/phases.c). */

/* Brings an arm's figures up to the end of a round. */
void pie_race_update_arm(struct pie_arm *arm, uint64_t round);
/* Orders the arms that are not dropped by their means, the lowest first: `order`, `contenders`. */
void pie_race_sort(struct pie_race *race);
void pie_race_decide(struct pie_race *race, struct pie_arm *arm, enum pie_arm_state state);
/* What is decided at the end of a round, by bounds or by a budget. There are arms that race. */
void pie_race_compare(struct pie_race *race);
void pie_race_phases(struct pie_race *race);
