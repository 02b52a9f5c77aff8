/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Durations of one call site's calls: their mean and variance (Welford), and a histogram with buckets a sixteenth of an
 * octave apart, so that percentiles are right within 5 %. */
enum { PIE_TRACE_OCTAVES = 40, PIE_TRACE_OCTAVE_PARTS = 16 };

struct pie_trace_times {
    uint64_t count;
    double mean_ns, m2_ns2;
    uint32_t buckets[PIE_TRACE_OCTAVES * PIE_TRACE_OCTAVE_PARTS];
};

/* Context: hook. */
void pie_trace_times_add(struct pie_trace_times *times, uint64_t ns);

/* The duration that a part (0 to 1) of the calls did not exceed, ns; 0 without calls. Context: hook. */
double pie_trace_times_percentile(const struct pie_trace_times *times, double part);

/* Of the calls' durations, ns²; 0 with fewer than two. */
double pie_trace_times_variance(const struct pie_trace_times *times);
