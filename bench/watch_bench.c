/* SPDX-License-Identifier: Apache-2.0 */

/* What each step of a watch costs inside the handler, in the form of Go's benchmarks: on debug registers that only
 * only record the calls, so this is the handler's own work (unwinding, context, memory that may fault); and
 * beside it what the machine takes: one trap with its signal, and moving a debug register in each way. Contexts are
 * those of tests/profiler/watch/scene.c: one Python frame, one native frame on top of it. */

#include "profiler/base/clocks.h"
#include "profiler/code/basic_block.h"
#include "profiler/machine/ptrace_registers.h"
#include "profiler/watch/setup.h"
#include "profiler/watch/watch.h"
#include "tests/profiler/watch/hardware_scene.h"
#include "tests/profiler/watch/scene.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 20000, STEPS = 5, MOVES = 2000 };

static uint64_t step_ns[STEPS], step_count[STEPS];

static void report(const char *name, uint64_t ns, uint64_t rounds) {
    if (rounds)
        printf("Benchmark%s %lu %.1f ns/op\n", name, rounds, (double)ns / (double)rounds);
}

static void timed_trap(int step, unsigned index, const ucontext_t *context) {
    uint64_t begin_ns = pie_monotonic_ns();

    scene_trap(index, context);
    step_ns[step] += pie_monotonic_ns() - begin_ns;
    step_count[step]++;
}

static void forget(void) {
    struct pie_watch_record record;

    while (pie_watch_ring_pop(&pie_watch_of(scene_thread)->ring, &record))
        continue;
    scene.n_orders = 0;
}

/* Sample, access, return, next access and, for a store, next return. */
static void play(const char *label, unsigned flags) {
    struct pie_access access = scene_access(label, flags, 8);
    ucontext_t at = scene_at(label), back = scene_returned(), again = scene_at(scene_both);

    scene_learn(&access, 1);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t begin_ns = pie_monotonic_ns();
        int index = scene_sample(scene_call);
        step_ns[0] += pie_monotonic_ns() - begin_ns;
        step_count[0]++;
        if (index < 0)
            continue;
        timed_trap(1, (unsigned)index, &at);
        timed_trap(2, (unsigned)index, &back);
        timed_trap(3, (unsigned)index, &again);
        if (pie_watch_of(scene_thread)->slots[index].stage == PIE_WATCH_NEXT_RETURN)
            timed_trap(4, (unsigned)index, &back);
        forget();
    }
}

static void bench_handlers(void) {
    static const char *const names[STEPS] = {"Sample", "AccessReached", "CallReturned", "DataTouched",
                                             "NextReturned"};

    scene_settings.budget = 1000;
    play(scene_load, PIE_ACCESS_LOAD);
    play(scene_store, PIE_ACCESS_STORE);
    for (int i = 0; i < STEPS; i++)
        report(names[i], step_ns[i], step_count[i]);
}

/* Moving a register to and fro between two words that nobody touches. */
static void bench_moves(const struct hardware_way *way) {
    static uint64_t words[2];
    struct pie_thread *thread = pie_thread_begin(true, "main");
    char name[32];

    hardware_keep();
    if (thread && hardware_arm(way, thread, 0, PIE_DEBUG_STORE, &words[0], 8, 1) == 0) {
        uint64_t begin_ns = pie_monotonic_ns();
        for (int i = 0; i < MOVES; i++)
            way->ops->arm(thread, 0, PIE_DEBUG_STORE, (uintptr_t)&words[i % 2], 8, 1);
        uint64_t took_ns = pie_monotonic_ns() - begin_ns;
        snprintf(name, sizeof name, "MoveRegister/%s", way->is_hidden ? "hidden" : "own-table");
        report(name, took_ns, MOVES);
        way->ops->release(thread);
    }
    pie_thread_end();
    hardware_stop_keeping();
}

/* The same by ptrace, and taking it away, which is a call as well. */
static void bench_ptrace_moves(void) {
    static uint64_t words[2];
    struct pie_thread *thread = pie_ptrace_try() == 0 ? pie_thread_begin(true, "main") : NULL;
    uint64_t arm_ns = 0, disarm_ns = 0;

    for (int i = 0; thread && i < MOVES; i++) {
        uint64_t begin_ns = pie_monotonic_ns();
        pie_debug_ptrace.arm(thread, 0, PIE_DEBUG_STORE, (uintptr_t)&words[i % 2], 8, 1);
        uint64_t armed_ns = pie_monotonic_ns();
        pie_debug_ptrace.release(thread);
        disarm_ns += pie_monotonic_ns() - armed_ns;
        arm_ns += armed_ns - begin_ns;
    }
    report("MoveRegister/ptrace", arm_ns, thread ? MOVES : 0);
    report("DisarmRegister/ptrace", disarm_ns, thread ? MOVES : 0);
    pie_thread_end();
}

static void on_trap(int signal, siginfo_t *info, void *context) {}

static void bench_trap(void) {
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_RESTART};

    sigaction(SIGTRAP, &action, NULL);
    report("TrapAndSignal/perf", pie_watch_measure_trap(), 1);
    if (pie_ptrace_try() != 0)
        return;
    pie_debug_ptrace_use(true);
    report("TrapAndSignal/ptrace", pie_watch_measure_trap(), 1);
    pie_debug_ptrace_use(false);
}

int main(void) {
    void (*body)(void) = bench_handlers;
    void *address = (void *)(uintptr_t)body;

    scene_test(&address);
    bench_trap();
    for (int i = 0; i < 2; i++)
        bench_moves(&hardware_ways[i]);
    bench_ptrace_moves();
    return EXIT_SUCCESS;
}
