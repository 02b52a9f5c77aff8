/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/ids.h"

#include <stdbool.h>
#include <stdint.h>

/* How much memory each line has alive, over time: sums over the contexts of a line, as bounded curves (curve.h) of the
 * lines that had most. A line is its first location. Context: drain. */

enum { PIE_LINE_CURVES = 64 };

/* Where the curves go. `data` is handed to each. Both return 0 or -errno. */
struct pie_line_curves_out {
    int (*put)(void *data, struct pie_location_id line, int64_t time_ns,
               uint64_t live_bytes); /* replaces one of the same time */
    int (*forget)(void *data, struct pie_location_id line, int64_t time_ns); /* that was put before */
    void *data;
};

struct pie_line_curves;

/* *out is copied. Returns 0 or -ENOMEM. */
int pie_line_curves_create(const struct pie_line_curves_out *out, struct pie_line_curves **ret_curves);
void pie_line_curves_destroy(struct pie_line_curves *curves);

/* The part `part` of `line`, a context's blocks of one size class, has so much alive from now on. Times do not
 * decrease. Points that give way are forgotten at once, new ones are put by the next flush. Returns 0, -ENOMEM, or what
 * forget() returned. */
int pie_line_curves_add(struct pie_line_curves *curves, uint64_t part, struct pie_location_id line,
                        int64_t time_ns, uint64_t live_bytes);

/* Forgets parts that have nothing alive and are not kept, and lines that have neither memory nor a curve. */
void pie_line_curves_forget(struct pie_line_curves *curves, bool (*keeps)(void *data, uint64_t part),
                            void *data);

/* Puts what has not been put yet; what fails is tried again by the next flush. Returns 0 or what put() returned. */
int pie_line_curves_flush(struct pie_line_curves *curves);
