/* SPDX-License-Identifier: Apache-2.0 */

/* Neyman's allocation: of looks at lines whose shares of the time are W, whose answers have the standard deviation s,
 * and which cost c, the error of the sum is least if W s / sqrt(c) of them go to each. So the line is next for which
 *
 *     W s / sqrt(c n)
 *
 * is greatest, where n looked at it so far: in the end all lines have the same. The deviation is not known, and few
 * answers that are alike say little. So the width of the interval of the fraction stands for s / sqrt(n), 1 at first.
 * Looks without an answer leave that as it is, so their number counts besides: a line at which nothing is ever found
 * out gives way, too. A line that costs little is of little need whatever is known of it. */

#include "profiler/govern/need.h"

#include "profiler/base/list.h"
#include "profiler/base/own_memory.h"
#include "profiler/race/racing.h"

#include <math.h>

/* Additions until the greatest need is looked for again. */
enum { PASSED_MAX = 64 };

static const double CONFIDENCE = 0.95;

static struct pie_need_line *line_of(struct pie_need *need, uint64_t key) {
    uint32_t index = pie_u64map_get(&need->index, key);

    if (index)
        return &need->lines[index - 1];
    struct pie_need_line *list = pie_list_grown(need->lines, need->count, &need->room, sizeof *list);
    if (!list)
        return NULL;
    need->lines = list;
    if (pie_u64map_put(&need->index, key, (uint32_t)need->count + 1) < 0)
        return NULL;
    need->lines[need->count] = (struct pie_need_line){0};
    return &need->lines[need->count++];
}

/* A first look is taken to cost as much as the mean of all. */
static double cost_of(const struct pie_need *need, const struct pie_need_line *line) {
    double mean = need->looks ? (double)need->cost_ns / (double)need->looks : 0;

    return (mean + (double)line->cost_ns + 1) / (double)(line->looks + 1);
}

static double absolute(const struct pie_need *need, const struct pie_need_line *line) {
    return (double)line->cpu_ns * pie_race_undecided(line->equal, line->answered, CONFIDENCE) /
           sqrt(cost_of(need, line) * (double)(line->looks + 1));
}

static void find_most(struct pie_need *need) {
    need->most = 0;
    need->passed = 0;
    for (size_t i = 0; i < need->count; i++)
        need->most = fmax(need->most, absolute(need, &need->lines[i]));
}

void pie_need_spent(struct pie_need *need, uint64_t key, uint64_t cpu_ns) {
    struct pie_need_line *line = line_of(need, key);

    if (!line)
        return;
    line->cpu_ns += cpu_ns;
    need->passed++;
}

void pie_need_looked(struct pie_need *need, uint64_t key, enum pie_need_answer answer, uint64_t cost_ns) {
    struct pie_need_line *line = line_of(need, key);

    if (!line)
        return;
    line->looks++;
    line->answered += answer != PIE_NEED_NONE;
    line->equal += answer == PIE_NEED_EQUAL;
    line->cost_ns += cost_ns;
    need->looks++;
    need->cost_ns += cost_ns;
    need->passed++;
}

double pie_need_of(struct pie_need *need, uint64_t key) {
    uint32_t index = pie_u64map_get(&need->index, key);

    if (!index)
        return 1;
    if (need->passed >= PASSED_MAX || need->most <= 0)
        find_most(need);
    return need->most > 0 ? fmin(1, absolute(need, &need->lines[index - 1]) / need->most) : 1;
}

void pie_need_finish(struct pie_need *need) {
    pie_u64map_finish(&need->index);
    pie_free(need->lines);
    *need = (struct pie_need){.most = 0};
}
