/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/race/racing.h"

#include <stddef.h>
#include <stdint.h>

/* The user's settings of traced loops (trace.h). */

enum { PIE_TRACE_PLACES_MAX = 16 }; /* loops that are named on the command line */

struct pie_trace_settings {
    enum pie_race_policy policy;
    double confidence;    /* 0.95 */
    size_t top;           /* see pie_race_settings */
    uint64_t budget;      /* see pie_race_settings */
    uint64_t interval_ns; /* of an epoch */
    double cost;          /* share of the loop's time that observing may take, 0.01 */
};
