/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/progress/figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/text/text.h"
#include "profiler/base/clocks.h"
#include "profiler/base/proc_file.h"

/* Of less CPU time the overhead is no share but a time, as in the summary. */
static const uint64_t SHARE_CPU_MIN_NS = PIE_NS_PER_S;

/* /proc/self/statm, proc(5): the second number is the resident pages. 0: not known. */
static double resident_bytes(void) {
    char text[256];
    const char *second = pie_proc_read("/proc/self/statm", text, sizeof text) > 0 ? strchr(text, ' ') : NULL;
    return second ? (double)strtoull(second, NULL, 10) * (double)sysconf(_SC_PAGESIZE) : 0;
}

static void print_overhead(const struct pie_progress_figures *figures, char *text, size_t size) {
    if (figures->cpu_ns >= SHARE_CPU_MIN_NS)
        snprintf(text, size, "%.1f %%", 100.0 * (double)figures->overhead_ns / (double)figures->cpu_ns);
    else
        snprintf(text, size, "%.2f s", (double)figures->overhead_ns / PIE_NS_PER_S);
}

void pie_progress_figures_print(const struct pie_progress_figures *figures, char *text, size_t size) {
    char elapsed[PIE_TEXT_SECONDS_SIZE], bytes[PIE_TEXT_BYTES_SIZE], overhead[64];
    double resident = resident_bytes();
    pie_text_elapsed((double)(pie_monotonic_ns() - figures->started_ns) / PIE_NS_PER_S, 0, elapsed);
    print_overhead(figures, overhead, sizeof overhead);
    pie_text_bytes(resident, bytes);
    snprintf(text, size, "pieprof: %s, %llu samples%s%s%s, overhead %s", elapsed,
             (unsigned long long)figures->samples, resident > 0 ? ", " : "", resident > 0 ? bytes : "",
             resident > 0 ? " resident" : "", overhead);
}
