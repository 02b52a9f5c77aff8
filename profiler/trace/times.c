/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/times.h"

#include <math.h>

/* Durations below PARTS ns have a bucket each; from there on an octave is cut into equal parts. */
static unsigned bucket_of(uint64_t ns) {
    if (ns < PIE_TRACE_OCTAVE_PARTS)
        return (unsigned)ns;
    unsigned octave = 63 - (unsigned)__builtin_clzll(ns);
    unsigned shift = octave - 4,
             bucket = (shift + 1) * PIE_TRACE_OCTAVE_PARTS + (unsigned)((ns >> shift) & 15);
    unsigned last = PIE_TRACE_OCTAVES * PIE_TRACE_OCTAVE_PARTS - 1;
    return bucket < last ? bucket : last;
}

/* The middle of a bucket. */
static double duration_of(unsigned bucket) {
    if (bucket < PIE_TRACE_OCTAVE_PARTS)
        return bucket;
    unsigned shift = bucket / PIE_TRACE_OCTAVE_PARTS - 1;
    return ldexp(16 + bucket % PIE_TRACE_OCTAVE_PARTS + 0.5, (int)shift);
}

void pie_trace_times_add(struct pie_trace_times *times, uint64_t ns) {
    double from_mean_ns = (double)ns - times->mean_ns;

    times->count++;
    times->mean_ns += from_mean_ns / (double)times->count;
    times->m2_ns2 += from_mean_ns * ((double)ns - times->mean_ns);
    times->buckets[bucket_of(ns)]++;
}

double pie_trace_times_percentile(const struct pie_trace_times *times, double part) {
    uint64_t wanted = (uint64_t)ceil(part * (double)times->count), seen = 0;

    for (unsigned i = 0; i < PIE_TRACE_OCTAVES * PIE_TRACE_OCTAVE_PARTS; i++) {
        seen += times->buckets[i];
        if (seen && seen >= wanted)
            return duration_of(i);
    }
    return 0;
}

double pie_trace_times_variance(const struct pie_trace_times *times) {
    return times->count > 1 ? times->m2_ns2 / (double)(times->count - 1) : 0;
}
