/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A curve over time of at most 100 points, however long it grows (Scalene §5): when it is full it is simplified, which
 * keeps its shape. Context: drain. */

enum {
    PIE_CURVE_POINTS = 100,
    PIE_CURVE_KEPT = PIE_CURVE_POINTS / 2, /* of a full curve, at most */
    PIE_CURVE_VALUES = 3,
};

struct pie_curve_point {
    int64_t time_ns;                   /* increases from point to point */
    uint64_t values[PIE_CURVE_VALUES]; /* those that a curve does not have are 0 */
    uint32_t tag;                      /* whatever the owner wants to know of the point */
    bool is_written;                   /* for the owner: the file has it */
};

struct pie_curve {
    uint32_t count;
    struct pie_curve_point points[PIE_CURVE_POINTS];
};

/* Appends a point; if the curve is full it is simplified before. One at the time of the last point replaces it, and an
 * earlier time (the clock was set back) is taken for the one just after it. `forget` is called for each point that goes
 * because of the simplification. Returns what the last call of forget returned that was not 0 (the point is in the
 * curve all the same), or 0. */
int pie_curve_add(struct pie_curve *curve, const struct pie_curve_point *point,
                  int (*forget)(void *data, const struct pie_curve_point *), void *data);

/* Ramer-Douglas-Peucker down to at most `count` points (at least 2 + PIE_CURVE_VALUES): sets keep[i] for those that
 * stay. The first point, the last one and the first of the highest of each value do. Returns the greatest distance of a
 * point that goes from the line between its neighbours that stay, with the range of time and of each value taken as
 * 1. */
double pie_curve_choose(const struct pie_curve_point *points, uint32_t points_count, uint32_t count,
                        bool *ret_keep);
