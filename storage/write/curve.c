/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/write/curve.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* Ramer-Douglas-Peucker: a stretch between two points that stay is split at the point that lies farthest from the line
 * between them. The classic algorithm takes a tolerance; here the number of points is given, so the stretch with the
 * farthest point of all is split first, until there are enough points. That is what the classic one finds for the
 * tolerance that gives this number of points.
 *
 * A curve has several values, so its points lie in a space of time and all values, in which each has the range 1. */

enum { DIMENSIONS = 1 + PIE_CURVE_VALUES };

struct place {
    double at[DIMENSIONS];
};

/* Between two neighbours that stay. */
struct stretch {
    uint32_t first, last;
    uint32_t farthest; /* in between */
    double distance;   /* of that one; negative: there is none in between */
};

static double distance(const struct place *point, const struct place *first, const struct place *last) {
    double along = 0, length = 0, sum = 0;
    for (size_t i = 0; i < DIMENSIONS; i++) {
        double step = last->at[i] - first->at[i];
        along += (point->at[i] - first->at[i]) * step;
        length += step * step;
    }
    double part = length > 0 ? fmin(fmax(along / length, 0), 1) : 0;
    for (size_t i = 0; i < DIMENSIONS; i++) {
        double off = point->at[i] - first->at[i] - part * (last->at[i] - first->at[i]);
        sum += off * off;
    }
    return sqrt(sum);
}

static struct stretch stretch_of(const struct place *places, uint32_t first, uint32_t last) {
    struct stretch stretch = {.first = first, .last = last, .farthest = first, .distance = -1};
    for (uint32_t i = first + 1; i < last; i++) {
        double here = distance(&places[i], &places[first], &places[last]);
        if (here > stretch.distance) {
            stretch.farthest = i;
            stretch.distance = here;
        }
    }
    return stretch;
}

static void scale(const struct pie_curve_point *points, uint32_t count, struct place *ret_places) {
    double span = (double)(points[count - 1].time_ns - points[0].time_ns);
    for (uint32_t i = 0; i < count; i++)
        ret_places[i].at[0] = span > 0 ? (double)(points[i].time_ns - points[0].time_ns) / span : 0;
    for (size_t value = 0; value < PIE_CURVE_VALUES; value++) {
        uint64_t least = UINT64_MAX, most = 0;
        for (uint32_t i = 0; i < count; i++) {
            least = points[i].values[value] < least ? points[i].values[value] : least;
            most = points[i].values[value] > most ? points[i].values[value] : most;
        }
        for (uint32_t i = 0; i < count; i++)
            ret_places[i].at[1 + value] =
                most > least ? (double)(points[i].values[value] - least) / (double)(most - least) : 0;
    }
}

/* Returns how many stay for certain. */
static uint32_t keep_corners(const struct pie_curve_point *points, uint32_t count, bool *keep) {
    uint32_t kept = 0;
    memset(keep, 0, count * sizeof *keep);
    keep[0] = keep[count - 1] = true;
    for (size_t value = 0; value < PIE_CURVE_VALUES; value++) {
        uint32_t highest = 0;
        for (uint32_t i = 1; i < count; i++)
            highest = points[i].values[value] > points[highest].values[value] ? i : highest;
        keep[highest] = true;
    }
    for (uint32_t i = 0; i < count; i++)
        kept += keep[i];
    return kept;
}

static uint32_t make_stretches(const struct place *places, uint32_t count, const bool *keep,
                               struct stretch *ret_stretches) {
    uint32_t made = 0, first = 0;
    for (uint32_t i = 1; i < count; i++) {
        if (keep[i]) {
            ret_stretches[made++] = stretch_of(places, first, i);
            first = i;
        }
    }
    return made;
}

static struct stretch *farthest_of(struct stretch *stretches, uint32_t count) {
    struct stretch *found = &stretches[0];
    for (uint32_t i = 1; i < count; i++)
        found = stretches[i].distance > found->distance ? &stretches[i] : found;
    return found;
}

double pie_curve_choose(const struct pie_curve_point *points, uint32_t points_count, uint32_t count,
                        bool *ret_keep) {
    struct place places[PIE_CURVE_POINTS];
    struct stretch stretches[PIE_CURVE_POINTS] = {{.distance = -1}};
    scale(points, points_count, places);
    uint32_t kept = keep_corners(points, points_count, ret_keep);
    uint32_t made = make_stretches(places, points_count, ret_keep, stretches);
    struct stretch *split = farthest_of(stretches, made);
    /* points on a straight line tell nothing, however few there are */
    for (; kept < count && split->distance > DBL_EPSILON; kept++) {
        struct stretch whole = *split;
        ret_keep[whole.farthest] = true;
        *split = stretch_of(places, whole.first, whole.farthest);
        stretches[made++] = stretch_of(places, whole.farthest, whole.last);
        split = farthest_of(stretches, made);
    }
    return fmax(split->distance, 0);
}

static int simplify(struct pie_curve *curve, int (*forget)(void *, const struct pie_curve_point *),
                    void *data) {
    bool keep[PIE_CURVE_POINTS];
    uint32_t kept = 0;
    int r = 0;
    (void)pie_curve_choose(curve->points, curve->count, PIE_CURVE_KEPT, keep);
    for (uint32_t i = 0; i < curve->count; i++) {
        int forgotten = keep[i] ? 0 : forget(data, &curve->points[i]);
        r = forgotten != 0 ? forgotten : r;
        if (keep[i])
            curve->points[kept++] = curve->points[i];
    }
    curve->count = kept;
    return r;
}

int pie_curve_add(struct pie_curve *curve, const struct pie_curve_point *point,
                  int (*forget)(void *, const struct pie_curve_point *), void *data) {
    struct pie_curve_point added = *point;
    struct pie_curve_point *last = curve->count > 0 ? &curve->points[curve->count - 1] : NULL;
    int r = 0;
    if (last && last->time_ns == point->time_ns) {
        *last = added;
        return 0;
    }
    if (last && last->time_ns > point->time_ns)
        added.time_ns = last->time_ns + 1;
    if (curve->count == PIE_CURVE_POINTS)
        r = simplify(curve, forget, data);
    curve->points[curve->count++] = added;
    return r;
}
