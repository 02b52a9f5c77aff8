/* SPDX-License-Identifier: Apache-2.0 */

/* What one sample costs inside the handler, in the form of Go's benchmarks: unwinding a native stack of 40 frames, and
 * inserting its path into the calling context tree when it is the previous path again, when it differs at the leaf, and
 * when nothing of it is remembered. libunwind's cursor on the same stack is there to compare with. */

#include "profiler/base/clocks.h"
#include "profiler/base/region.h"
#include "profiler/collect/collectors.h"
#include "profiler/stacks/call_path.h"
#include "profiler/stacks/cct.h"
#include "profiler/stacks/unwind.h"
#include "profiler/thread/thread.h"
#include "profiler/time/clock.h"
#include "tests/profiler/stacks/libunwind_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { FRAMES = 40, ROUNDS = 200000 };

static struct pie_thread *thread;
static size_t depth;

static void report(const char *name, uint64_t begin_ns, long rounds) {
    printf("Benchmark%s %ld %.1f ns/op\n", name, rounds,
           (double)(pie_thread_cpu_ns() - begin_ns) / (double)rounds);
}

static void bench_unwind(const ucontext_t *context) {
    unsigned flags;
    uint64_t begin_ns = pie_thread_cpu_ns();

    for (long i = 0; i < ROUNDS; i++)
        depth = pie_unwind(context, pie_call_path_of(thread)->native, FRAMES, &flags);
    report("Unwind/frames=40", begin_ns, ROUNDS);
    begin_ns = pie_thread_cpu_ns();
    for (long i = 0; i < ROUNDS / 50; i++)
        libunwind_walk(context, pie_call_path_of(thread)->native, FRAMES);
    report("UnwindLibunwind/frames=40", begin_ns, ROUNDS / 50);
}

static void bench_insert(void) {
    uint64_t begin_ns = pie_thread_cpu_ns();

    for (size_t i = 0; i < depth; i++)
        pie_call_path_of(thread)->path[i] = pie_cct_native_key(pie_call_path_of(thread)->native[i].ip + i);
    for (long i = 0; i < ROUNDS; i++)
        pie_call_path_insert(thread, pie_call_path_of(thread)->path, depth);
    report("Insert/same", begin_ns, ROUNDS);
    begin_ns = pie_thread_cpu_ns();
    for (long i = 0; i < ROUNDS; i++) {
        pie_call_path_of(thread)->path[0] = pie_cct_native_key(0x1000 + (uintptr_t)(i * 7919 % 512));
        pie_call_path_insert(thread, pie_call_path_of(thread)->path, depth);
    }
    report("Insert/leaf", begin_ns, ROUNDS);
    begin_ns = pie_thread_cpu_ns();
    for (long i = 0; i < ROUNDS; i++) {
        pie_call_path_of(thread)->last_depth = 0;
        pie_call_path_insert(thread, pie_call_path_of(thread)->path, depth);
    }
    report("Insert/forgotten", begin_ns, ROUNDS);
}

static void bench_both(const ucontext_t *context) {
    unsigned flags;
    uint64_t begin_ns = pie_thread_cpu_ns();

    for (long i = 0; i < ROUNDS; i++) {
        depth = pie_unwind(context, pie_call_path_of(thread)->native, FRAMES, &flags);
        for (size_t k = 0; k < depth; k++)
            pie_call_path_of(thread)->path[k] =
                pie_cct_native_key(pie_call_path_of(thread)->native[k].ip + k);
        pie_call_path_of(thread)->path[0] = pie_cct_native_key(0x1000 + (uintptr_t)(i * 7919 % 512));
        pie_call_path_insert(thread, pie_call_path_of(thread)->path, depth);
    }
    report("UnwindAndInsert/frames=40", begin_ns, ROUNDS);
}

__attribute__((noinline)) static int descend(int n) {
    ucontext_t context;

    if (n > 0)
        return descend(n - 1) + n; /* not a tail call */
    getcontext(&context);
    bench_unwind(&context);
    bench_insert();
    bench_both(&context);
    return (int)depth;
}

int main(void) {
    pie_collectors_lay_out_threads();
    if (pie_region_init() < 0 || pie_cct_init() < 0 || !(thread = pie_thread_begin(true, "main")))
        return EXIT_FAILURE;
    descend(FRAMES + 5);
    return depth == FRAMES ? EXIT_SUCCESS : EXIT_FAILURE;
}
