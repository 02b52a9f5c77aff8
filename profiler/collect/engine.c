/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/collect/engine.h"

#include "profiler/base/clocks.h"
#include "profiler/base/counters.h"
#include "profiler/base/home.h"
#include "profiler/base/real.h"
#include "profiler/base/region.h"
#include "profiler/collect/collection.h"
#include "profiler/collect/collectors.h"
#include "profiler/ports/config.h"
#include "profiler/ports/facts.h"
#include "profiler/process/table.h"
#include "profiler/stacks/cct.h"
#include "profiler/symbols/symbol_cache.h"
#include "profiler/thread/ending.h"
#include "profiler/thread/filtered.h"
#include "profiler/thread/thread.h"
#include "profiler/watch/debug_registers.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A program must not hang at its end because a disk does. */
static const uint64_t FINISH_TIMEOUT_NS = UINT64_C(60000000000);

/* CPU time of the process; 0 before its overhead has been reported. Release, acquire. */
static _Atomic uint64_t reported_ns;

static struct {
    struct pie_collection_setup setup;
    /* What the process used before its program began; the collection thread may write it down already. Relaxed:
     * alone. */
    _Atomic uint64_t start_ns;
    /* Sums of the program's threads; the collection thread reads them. Relaxed: alone. Fork child: 0. */
    _Atomic uint64_t threads_ns, forks_ns;
    _Atomic int64_t run_id; /* known before the fork to a forked child */
} engine;

/* What is longer was another thread's turn, for the most part. */
static const uint64_t THREAD_HOOK_MAX_NS = 10000;

/* Between the fork handlers of one thread: its CPU clock at the beginning of the first. */
static __thread uint64_t fork_begun_ns;
/* … it has the collection thread in hand. */
static __thread bool held;
/* … for a fork without handlers. */
static __thread bool bare_held;
/* … and has kept descriptors out of the program's table. */
static __thread bool gated;
/* The child that this thread is about to fork or has just forked; NULL: it is not in the process table. */
static __thread struct pie_process_entry *forked;

static int start(void) {
    struct pie_thread *thread;
    int r = pie_cct_init();

    if (r == 0)
        r = pie_collectors_reserve();
    if (r < 0)
        return r;
    thread = pie_thread_begin(true, "MainThread");
    if (!thread)
        return -ENOMEM;
    r = pie_collection_start(&engine.setup);
    if (r < 0) {
        pie_thread_end();
        return r;
    }
    pie_ending_set_owner((int32_t)syscall(SYS_getpid));
    return 0;
}

uint64_t pie_engine_start_ns(void) {
    return atomic_load_explicit(&engine.start_ns, memory_order_relaxed);
}

uint64_t pie_engine_threads_ns(void) {
    return atomic_load_explicit(&engine.threads_ns, memory_order_relaxed);
}

uint64_t pie_engine_forks_ns(void) {
    return atomic_load_explicit(&engine.forks_ns, memory_order_relaxed);
}

/* By the wall clock: asking for the thread's own takes as long as half of the hook. 0: under a filter, which may refuse
 * either. */
static uint64_t hook_begins_ns(void) {
    return pie_filtered() ? 0 : pie_monotonic_ns();
}

static void charge_thread(uint64_t begun_ns) {
    uint64_t took_ns = begun_ns ? pie_monotonic_ns() - begun_ns : 0;

    atomic_fetch_add_explicit(&engine.threads_ns, took_ns < THREAD_HOOK_MAX_NS ? took_ns : THREAD_HOOK_MAX_NS,
                              memory_order_relaxed);
}

void pie_engine_note_overhead(void) {
    atomic_store_explicit(&reported_ns, pie_process_cpu_ns(), memory_order_release);
}

uint64_t pie_engine_unwritten_ns(void) {
    uint64_t since_ns = atomic_load_explicit(&reported_ns, memory_order_acquire);

    return since_ns ? pie_process_cpu_ns() - since_ns : 0;
}

int pie_engine_start(const struct pie_config *config, const struct pie_pystack_ops *ops,
                     const struct pie_process_facts *facts, pie_sink_open_fn open_sink) {
    pie_real_init();
    pie_home_init();
    pie_symbol_cache_begin();
    pie_collectors_lay_out_threads();
    int r = pie_region_init();
    if (r < 0)
        return r;
    PIE_EACH_COLLECTOR(pie_collectors(), configure, config, ops, facts);
    if (config->has_children)
        pie_process_table_init();
    engine.setup = (struct pie_collection_setup){
        .config = config, .ops = ops, .facts = facts, .open_sink = open_sink, .is_fork = false};
    r = start();
    atomic_store_explicit(&engine.start_ns, pie_thread_cpu_ns(), memory_order_relaxed);
    return r;
}

bool pie_engine_is_running(void) {
    return !pie_filtered() && !pie_ending_is_claimed() && pie_ending_is_owner();
}

int64_t pie_engine_run_id(void) {
    int64_t run_id = atomic_load_explicit(&engine.run_id, memory_order_relaxed);

    if (!run_id) {
        run_id = pie_collection_run_id();
        atomic_store_explicit(&engine.run_id, run_id, memory_order_relaxed);
    }
    return run_id;
}

int pie_engine_write_error(void) {
    return pie_collection_write_error();
}

void pie_engine_finish(const char *cause, int exit_status) {
    int error = errno;

    if (!pie_ending_is_owner() || !pie_ending_claim())
        return;
    PIE_EACH_COLLECTOR(pie_collectors(), finish);
    pie_collection_stop(cause, exit_status, FINISH_TIMEOUT_NS);
    errno = error;
}

void pie_engine_thread_started(const char *name) {
    uint64_t begun_ns = hook_begins_ns();
    int error = errno;

    if (pie_engine_is_running() && pie_thread_begin(false, name) && pie_threads_changed())
        pie_collection_wake();
    charge_thread(begun_ns);
    errno = error;
}

void pie_engine_thread_ended(void) {
    uint64_t begun_ns = hook_begins_ns();
    int error = errno;

    if (pie_thread_end() && pie_engine_is_running() && pie_threads_changed())
        pie_collection_wake();
    charge_thread(begun_ns);
    errno = error;
}

void pie_engine_fork_prepare(void) {
    int error = errno;

    held = false;
    forked = NULL;
    if (pie_filtered())
        return;
    fork_begun_ns = pie_thread_cpu_ns();
    pie_debug_ptrace_pause(pie_thread_self());
    held = pie_engine_is_running() && engine.setup.config->has_children && !pie_thread_is_on_stack() &&
           pie_collection_hold();
    if (held && pie_engine_run_id() == 0) { /* there is nothing a child could join */
        pie_collection_release();
        held = false;
    }
    forked = held ? pie_process_claim((int32_t)syscall(SYS_getpid)) : NULL;
    if (held && !forked)
        pie_counter_add(PIE_COUNTER_PROCESSES_UNTRACKED, 1);
    if (held)
        pie_process_table_lend();
    pie_debug_before_fork();
    gated = true;
    errno = error;
}

/* Its child is not profiled and has one thread. What the collection thread holds at that moment, such as the C
 * library's lock of its memory, the child would find held for ever: its own fork() waits for that. Hence it rests. */
void pie_engine_bare_fork_prepare(void) {
    bare_held = pie_engine_is_running() && !pie_thread_is_on_stack() && pie_collection_hold();
    pie_debug_before_fork();
}

void pie_engine_bare_fork_done(bool is_child) {
    if (is_child)
        pie_debug_fork_child();
    else
        pie_debug_after_fork();
    if (bare_held)
        pie_collection_release();
    bare_held = false;
}

void pie_engine_forked(int32_t pid) {
    if (pid > 0)
        pie_process_forked(forked, pid);
    else
        pie_process_release(forked);
    forked = NULL;
}

void pie_engine_fork_parent(void) {
    int error = errno;

    if (gated)
        pie_debug_after_fork();
    gated = false;
    if (pie_filtered()) {
        pie_counter_add(PIE_COUNTER_FORKS_UNPROFILED, !pie_ending_is_claimed());
        return;
    }
    if (held) {
        pie_process_table_keep();
        pie_collection_release();
    } else if (pie_engine_is_running() && engine.setup.config->has_children) {
        pie_counter_add(PIE_COUNTER_FORKS_UNPROFILED, 1);
    }
    held = false;
    pie_debug_ptrace_resume(pie_thread_self());
    atomic_fetch_add_explicit(&engine.forks_ns, pie_thread_cpu_ns() - fork_begun_ns, memory_order_relaxed);
    errno = error;
}

/* While the region is replaced the alternate stack lies in memory that cannot be touched, and any handler on it would
 * be a SIGSEGV: signals wait. Those that tell of faults cannot, and none comes. By the system call itself, since the
 * exported functions are about the mask that the program sees. Returns the mask to be given back. */
static uint64_t block_signals(void) {
    const uint64_t faults =
        UINT64_C(1) << (SIGSEGV - 1) | UINT64_C(1) << (SIGBUS - 1) | UINT64_C(1) << (SIGTRAP - 1);
    uint64_t all = ~faults, before = 0;

    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof before);
    return before;
}

static void start_fork(void) {
    uint64_t begun_ns = pie_thread_cpu_ns();
    atomic_store_explicit(&engine.threads_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&engine.forks_ns, 0, memory_order_relaxed);
    uint64_t mask = block_signals();
    int r = pie_region_reset();

    if (r == 0) {
        pie_counters_reset();
        engine.setup.is_fork = true;
        r = start();
    }
    atomic_store_explicit(&engine.start_ns, pie_thread_cpu_ns() - begun_ns, memory_order_relaxed);
    if (r < 0)
        pie_process_lost(r);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
}

void pie_engine_fork_child(void) {
    int error = errno;

    pie_debug_fork_child();
    gated = false;
    PIE_EACH_COLLECTOR(pie_collectors(), forked);
    pie_ending_set_owner(0);
    if (held)
        pie_process_table_inherited();
    pie_process_enter(forked);
    forked = NULL;
    if (!pie_ending_is_claimed()) {
        pie_debug_own_table_forget();
        pie_threads_reset();
        pie_collection_forget();
        if (held)
            start_fork();
    }
    held = false;
    errno = error;
}
