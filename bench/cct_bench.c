/* SPDX-License-Identifier: Apache-2.0 */

/* What an insertion into the calling context tree costs in CPU time, and finding the node again, by the number of its
 * siblings, in Go's benchmark format. Keys come as a program makes code: one after another. */

#include "profiler/base/region.h"
#include "profiler/stacks/cct.h"

#include <stdio.h>
#include <time.h>

enum { DEPTH = 60 };

static double now_ns(void) {
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double per_child_ns(struct pie_cct_id parent, uint32_t first, uint32_t end) {
    double start_ns = now_ns();

    for (uint32_t i = first; i < end; i++)
        (void)pie_cct_child(parent, pie_cct_python_key(i, 3));
    return (now_ns() - start_ns) / (end - first);
}

int main(void) {
    static const uint32_t marks[] = {1000, 10000, 100000, 1000000};
    struct pie_cct_id parent = pie_cct_root();
    uint32_t first = 1;

    if (pie_region_init() < 0 || pie_cct_init() < 0)
        return 1;
    for (uint32_t depth = 1; depth < DEPTH; depth++)
        parent = pie_cct_child(parent, pie_cct_python_key(1, depth));
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        printf("BenchmarkCctInsert/siblings=%u %u %.1f ns/op\n", marks[i], marks[i] - first,
               per_child_ns(parent, first, marks[i]));
        printf("BenchmarkCctFind/siblings=%u %u %.1f ns/op\n", marks[i], marks[i] - 1,
               per_child_ns(parent, 1, marks[i]));
        first = marks[i];
    }
    return 0;
}
