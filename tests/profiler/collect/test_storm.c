/* SPDX-License-Identifier: Apache-2.0 */

/* The whole engine without Python: threads that come, work, sleep, fork and go under a clock of 5 kHz, a sink in
 * memory, and figures that must add up. Runs under AddressSanitizer too. */

#include "profiler/base/clocks.h"
#include "profiler/base/counters.h"
#include "profiler/base/region.h"
#include "profiler/base/safe_load.h"
#include "profiler/collect/engine.h"
#include "profiler/collect/sample.h"
#include "profiler/ports/config.h"
#include "profiler/ports/facts.h"
#include "profiler/ports/pystack.h"
#include "profiler/ports/sink.h"
#include "profiler/thread/part.h"
#include "profiler/thread/thread.h"
#include "profiler/time/clock.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { THREADS = 60, AT_ONCE = 6 };

/* --- a sink in memory, written by the collection thread only, read after the end --- */

static struct {
    struct pie_sink sink;
    uint64_t samples, cpu_ns, wait_ns, reasons_ns, rows, fill_bytes, size_bytes;
    uint32_t nodes, locations, threads_ended;
    uint64_t thread_cpu_ns[THREADS + 2], sampled_ns[THREADS + 2];
    bool in_transaction, ended, closed;
    int ends; /* of other processes */
    long misuse;
    char cause[16], clock[16];
} memory;

static int begin_process(struct pie_sink *sink, const struct pie_process_row *row, int64_t *ret_run_id) {
    strncpy(memory.clock, row->clock, sizeof memory.clock - 1);
    *ret_run_id = 42;
    return 0;
}

static int put_environment(struct pie_sink *sink, const char *key, const char *value) {
    return 0;
}

static int begin(struct pie_sink *sink, int64_t at_ns) {
    memory.misuse += memory.in_transaction;
    memory.in_transaction = true;
    return 0;
}

static int put_location(struct pie_sink *sink, const struct pie_location *location) {
    memory.misuse += !memory.in_transaction || location->id.value != memory.locations + 1;
    memory.locations = location->id.value;
    return 0;
}

static int put_node(struct pie_sink *sink, const struct pie_node_row *node) {
    memory.misuse += node->id.value != memory.nodes + 1 || node->parent.value >= node->id.value ||
                     node->location.value > memory.locations;
    memory.nodes = node->id.value;
    return 0;
}

static int put_thread(struct pie_sink *sink, const struct pie_thread_row *row) {
    memory.misuse += row->id == 0 || row->id > THREADS + 1;
    memory.thread_cpu_ns[row->id] = row->cpu_ns;
    memory.threads_ended += row->ended_ns != 0;
    return 0;
}

static int put_sample(struct pie_sink *sink, const struct pie_sample_row *row) {
    uint64_t cpu_ns = row->python_ns + row->native_ns + row->system_ns;

    memory.misuse += row->node.value == 0 || row->node.value > memory.nodes;
    memory.samples += row->samples;
    memory.sampled_ns[row->thread] += cpu_ns;
    memory.wait_ns += row->wait_ns;
    return 0;
}

static int put_wait(struct pie_sink *sink, const struct pie_wait_row *row) {
    memory.misuse += row->node.value == 0 || row->node.value > memory.nodes ||
                     row->peer.value > memory.nodes || row->cause > PIE_WAIT_OTHER;
    memory.reasons_ns += row->wait_ns;
    return 0;
}

static int put_task(struct pie_sink *sink, const struct pie_task_row *row) {
    memory.misuse += row->node.value == 0 || row->node.value > memory.nodes || row->coroutine.value == 0 ||
                     row->coroutine.value > memory.nodes || row->cause > PIE_WAIT_OTHER;
    return 0;
}

static int put_related(struct pie_sink *sink, const struct pie_related_row *row) {
    memory.misuse += row->node.value == 0 || row->node.value > memory.nodes || row->kind > PIE_RELATED_KINDS;
    return 0;
}

static int put_counter(struct pie_sink *sink, const char *name, uint64_t value, bool is_drop) {
    if (strcmp(name, "table_fill_threads") == 0)
        memory.fill_bytes = value;
    else if (strcmp(name, "table_size_threads") == 0)
        memory.size_bytes = value;
    return 0;
}

static int put_overhead(struct pie_sink *sink, const char *collector, uint64_t cpu_ns, double rate_hz) {
    return 0;
}

static int commit(struct pie_sink *sink, int64_t now_ns) {
    memory.in_transaction = false;
    return 0;
}

static int end_process(struct pie_sink *sink, int64_t now_ns, const char *cause, int exit_status) {
    strncpy(memory.cause, cause, sizeof memory.cause - 1);
    memory.ended = true;
    return 0;
}

static int put_process_end(struct pie_sink *sink, const struct pie_process_end_row *row) {
    memory.ends++;
    return 0;
}

static int complete_run(struct pie_sink *sink, pie_is_gone_fn is_gone) {
    return is_gone(getpid(), pie_realtime_ns());
}

static void suspend_or_close(struct pie_sink *sink) {
    memory.misuse += memory.in_transaction;
    memory.closed = true;
}

static const struct pie_sink_ops sink_ops = {
    .begin_process = begin_process,
    .put_environment = put_environment,
    .begin = begin,
    .put_location = put_location,
    .put_node = put_node,
    .put_thread = put_thread,
    .put_sample = put_sample,
    .put_wait = put_wait,
    .put_task = put_task,
    .put_related = put_related,
    .put_process_end = put_process_end,
    .put_counter = put_counter,
    .put_overhead = put_overhead,
    .commit = commit,
    .end_process = end_process,
    .complete_run = complete_run,
    .suspend = suspend_or_close,
    .close = suspend_or_close,
};

static int open_sink(const struct pie_config *config, struct pie_sink **ret_sink) {
    memory.sink.ops = &sink_ops;
    *ret_sink = &memory.sink;
    return 0;
}

/* --- no Python --- */

static size_t walk(struct pie_pyframe *frames, size_t max, unsigned *ret_flags) {
    *ret_flags = 0;
    return 0;
}

static size_t walk_thread(uintptr_t tstate, struct pie_pyframe *frames, size_t max, unsigned *ret_flags) {
    return walk(frames, max, ret_flags);
}

static uintptr_t no_tstate(void) {
    return 0;
}

static uintptr_t find_tstate(int32_t tid) {
    return 0;
}

static const struct pie_pystack_ops pystack = {
    .walk = walk, .walk_thread = walk_thread, .current_tstate = no_tstate, .find_tstate = find_tstate};

static void take_sample(const siginfo_t *info, const ucontext_t *context) {
    const struct pie_clock_ops *clock = pie_clock_current();
    struct pie_thread *thread = pie_thread_self();

    if (clock && thread && clock->is_ours(info) && !thread->inside) {
        thread->inside = 1;
        pie_sample_take(clock, &pystack, thread, info, context);
        thread->inside = 0;
    }
}

#ifdef __SANITIZE_THREAD__
/* A signal that ThreadSanitizer has held back lies in a mapping of its own. That goes away with the thread, and what
 * comes there next (by mremap(), which it does not see) would race with the handler. So it is read unseen. */
__attribute__((no_sanitize_thread)) static void copy(volatile char *to, const char *from, size_t bytes) {
    while (bytes-- > 0)
        to[bytes] = from[bytes];
}

static void on_clock(int signal, siginfo_t *info, void *context) {
    int error = errno;
    siginfo_t own_info;
    ucontext_t own_context;

    copy((volatile char *)&own_info, (const char *)info, sizeof own_info);
    copy((volatile char *)&own_context, context, sizeof own_context);
    take_sample(&own_info, &own_context);
    errno = error;
}
#else
static void on_clock(int signal, siginfo_t *info, void *context) {
    int error = errno;

    take_sample(info, context);
    errno = error;
}
#endif

static void on_fault(int signal, siginfo_t *info, void *context) {
    greg_t *gregs = ((ucontext_t *)context)->uc_mcontext.gregs;
    uintptr_t go_on = pie_safe_load_fix((uintptr_t)gregs[REG_RIP]);

    if (!go_on)
        _Exit(99);
    gregs[REG_RIP] = (greg_t)go_on;
}

static int take_signal(int signal) {
    struct sigaction action = {.sa_sigaction = on_clock, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};

    sigfillset(&action.sa_mask);
    sigdelset(&action.sa_mask, SIGSEGV);
    sigdelset(&action.sa_mask, SIGBUS);
    sigaction(SIGSEGV, &fault, NULL);
    sigaction(SIGBUS, &fault, NULL);
    return sigaction(signal, &action, NULL);
}

/* ThreadSanitizer takes SIGTRAP, which the clock of perf events raises, for a fault of the program: it runs the handler
 * at once, in the middle of its own book-keeping too, and then misses what orders two accesses. Other signals it holds
 * back. */
#ifdef __SANITIZE_THREAD__
#define CLOCK "timer"
#else
#define CLOCK NULL
#endif

static const struct pie_config config = {.period_ns = 200000, .has_time = true, .force_clock = CLOCK};
static const struct pie_process_facts facts = {.take_signal = take_signal};

/* --- the program --- */

static void *work(void *argument) {
    unsigned n = (unsigned)(uintptr_t)argument;
    uint64_t until_ns = (20 + n % 5 * 15) * UINT64_C(1000000);
    volatile double x = 1;

    (void)x;
    pie_engine_thread_started("");
    while (pie_thread_cpu_ns() < until_ns) {
        for (int i = 0; i < 5000; i++)
            x *= 1.0000001;
        free(malloc(1000 + n));
    }
    pie_engine_thread_ended();
    return NULL;
}

static void run_threads(void) {
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i), 0);
        if (i >= AT_ONCE)
            pthread_join(threads[i - AT_ONCE], NULL);
    }
    for (int i = THREADS - AT_ONCE; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void test_threads_add_up_and_all_are_accounted_for(void **state) {
    assert_int_equal(pie_engine_start(&config, &pystack, &facts, open_sink), 0);
    assert_true(pie_engine_is_running());
    run_threads();
    pie_engine_finish("exit", 0);
    assert_false(pie_engine_is_running());
    pie_engine_finish("again", 1); /* has no effect */
    print_message("clock %s, %lu samples, %u nodes, %u locations\n", memory.clock, memory.samples,
                  memory.nodes, memory.locations);
    assert_int_equal(memory.misuse, 0);
    assert_true(memory.ended && memory.closed);
    assert_string_equal(memory.cause, "exit");
    assert_int_equal(pie_engine_run_id(), 42);
    assert_int_equal(memory.threads_ended, THREADS);
    assert_int_equal(memory.fill_bytes, pie_thread_count() * pie_thread_slot_bytes());
    assert_int_equal(memory.size_bytes, pie_region_size(PIE_ARENA_THREADS));
    assert_int_equal(pie_counter_get(PIE_COUNTER_RING_FULL), 0);
    assert_int_equal(pie_counter_get(PIE_COUNTER_CCT_FULL), 0);
    assert_int_equal(pie_counter_get(PIE_COUNTER_NO_THREAD_SLOT), 0);
    assert_int_equal(memory.reasons_ns, memory.wait_ns);
    /* One that is on its way to this thread when the collection thread looks for the last time is not taken. */
    assert_int_equal(pie_counter_get(PIE_COUNTER_SAMPLES), memory.samples);
    if (strcmp(memory.clock, "perf") != 0)
        return; /* coarser clocks: no figure for threads of 20 ms */
    uint64_t truth_ns = 0, sampled_ns = 0;
    for (int id = 2; id <= THREADS + 1; id++) {
        assert_true(memory.sampled_ns[id] <= memory.thread_cpu_ns[id]);
        truth_ns += memory.thread_cpu_ns[id];
        sampled_ns += memory.sampled_ns[id];
    }
    /* What is missing is the profiler's own time and each thread's last period. */
    print_message("%.1f %% of the threads' CPU time is in samples\n",
                  100.0 * (double)sampled_ns / (double)truth_ns);
    assert_true((double)sampled_ns > 0.75 * (double)truth_ns);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_add_up_and_all_are_accounted_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
