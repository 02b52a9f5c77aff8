/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Durations of one call site's calls: their mean and variance (Welford), and a histogram with buckets a sixteenth of an
 * octave apart, so that percentiles are right within 5 %. */
enum { PIE_LEARN_OCTAVES = 40, PIE_LEARN_OCTAVE_PARTS = 16 };

struct pie_learn_times {
    uint64_t count;
    double mean_ns, m2_ns2;
    uint32_t buckets[PIE_LEARN_OCTAVES * PIE_LEARN_OCTAVE_PARTS];
};

/* Context: hook. */
void pie_learn_times_add(struct pie_learn_times *times, uint64_t ns);

/* The duration that a part (0 to 1) of the calls did not exceed, ns; 0 without calls. Context: hook. */
double pie_learn_times_percentile(const struct pie_learn_times *times, double part);

/* Of the calls' durations, ns²; 0 with fewer than two. */
double pie_learn_times_variance(const struct pie_learn_times *times);
