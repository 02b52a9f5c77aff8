/* SPDX-License-Identifier: Apache-2.0 */

/* The collection thread has a descriptor table of its own (close_range(2) with CLOSE_RANGE_UNSHARE): the database, the
 * clocks and the files it reads are invisible to the program, cannot be closed by it, are not inherited by its children,
 * and do not shift the numbers it gets from open(2); nor does a copy of one of its pipes keep that pipe open here.
 *
 * `work` is held whenever the thread is not asleep. fork() takes it (pie_collector_hold), so a child's copy of this
 * process never stops in the middle of something; SQLite keeps open files in global lists that a child must find empty,
 * so the file is given up before a fork, and after every flush from the first fork on.
 *
 * Order of locks: work, then nothing. */

#include "profiler/collect/collector.h"

#include "profiler/base/clocks.h"
#include "profiler/base/counters.h"
#include "profiler/base/futex.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/random.h"
#include "profiler/base/real.h"
#include "profiler/base/throttle.h"
#include "profiler/code/block.h"
#include "profiler/code/decode.h"
#include "profiler/code/generation.h"
#include "profiler/code/unloads.h"
#include "profiler/time/clock_begin.h"
#include "profiler/collect/flush.h"
#include "profiler/collect/turn.h"
#include "profiler/collect/turn_end.h"
#include "profiler/copies/loop.h"
#include "profiler/copies/loop_drain.h"
#include "profiler/heap/drain.h"
#include "profiler/heap/engine.h"
#include "profiler/machine/clock_choice.h"
#include "profiler/ports/config.h"
#include "profiler/ports/facts.h"
#include "profiler/ports/pystack.h"
#include "profiler/stacks/cct.h"
#include "profiler/stacks/unwind.h"
#include "profiler/symbols/naming.h"
#include "profiler/thread/ending.h"
#include "profiler/thread/thread.h"
#include "profiler/time/aggregate.h"
#include "profiler/time/clock.h"
#include "profiler/time/clock_perf.h"
#include "profiler/time/clock_price.h"
#include "profiler/time/clock_timer.h"
#include "profiler/time/wall.h"
#include "profiler/watch/debug_registers.h"
#include "profiler/watch/drain.h"
#include "profiler/watch/sampler.h"
#include "profiler/watch/setup.h"
#include "profiler/watch/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const uint64_t TICK_NS = 20000000; /* wall ticks and drains, dithered */
/* The first one after the start, then when the process is twice as old, then whenever it has become a second older: a process
 * that is killed lacks at most the half of its time, or the last second. Slices of time are whole seconds of its age. */
static const uint64_t FIRST_FLUSH_NS = 25000000;
static const uint64_t FLUSH_NS = 1000000000;
static const uint64_t FLUSH_NEAR_NS = 100000000; /* so soon there is none again */
static const uint64_t DITHER_NS = 100000000;     /* new sampling periods */

/* A thread is given a clock when it is this old, or half as old when another is: it costs some 30 us, and much of a thread
 * that lives for 100. Its first sample stands for what it ran before. No older than a sample's period. */
static const uint64_t ARM_AFTER_NS = 1000000;

/* A thread whose clock would take more than this part of the time by being switched on and off is sampled seldom. */
enum { SWITCHING_PERMILLE = 100 };

/* Threads that stand still are looked at one after the other where there are more: so many in a tick. */
enum { STILL_THREADS_A_TICK = 32 };

static const uint64_t START_TIMEOUT_NS = 200000000;
/* Of a fork; a child that cannot be profiled is a great loss. Seldom more than some ms: commits give way to it. */
static const uint64_t HOLD_TIMEOUT_NS = 1000000000;

/* All of this is reset by pie_collector_forget() in a forked child. */
static struct {
    struct pie_collector_setup setup;
    pthread_mutex_t work;
    bool working;               /* `work` was initialised in this process */
    _Atomic uint32_t armed;     /* futex: counts threads that were given a clock or cannot have one */
    _Atomic bool forks;         /* this process forks: leave no file open between flushes */
    _Atomic bool wants_release; /* a fork waits for the file to be given up */
    _Atomic uint32_t waiters;   /* threads that wait in pie_collector_hold() */
    pthread_t thread;
    struct pie_flush *flush;
    struct pie_aggregate aggregate;
    struct pie_watch_drain *watches; /* NULL: no accesses are watched */
    struct pie_heap_drain *heap;     /* NULL: neither memory nor copies are profiled */
    struct pie_copy_loops *loops;    /* NULL: copy loops are not looked for */
    struct pie_throttle throttle;
    struct pie_turn turn;
    bool is_left;           /* a thread's rings could not be emptied in this tick */
    struct pie_wall *walls; /* by slot */
    size_t n_walls;
    uint32_t tick;    /* counts them */
    uint32_t running; /* threads that were, at the last tick */
    uint32_t turns;   /* a thread that stands still is looked at in one of so many ticks */
    uint64_t started_ns, next_flush_ns, next_dither_ns;
    uint64_t next_arm_ns; /* threads wait for their clocks; UINT64_MAX: none does */
    bool arms_all;        /* however young they are */
    bool has_many_starts; /* look after look found threads that are too young */
    uint64_t random;
    bool takes_ticks;    /* of the process's timer */
    uint32_t generation; /* of code, at the last look */
    bool failed;         /* short of memory: nothing is collected any more */
} collector;

static void own_descriptor_table(void) {
    if (syscall(SYS_close_range, 0u, ~0u, 2u /* CLOSE_RANGE_UNSHARE */) != 0)
        return; /* an older kernel: ours are opened with O_CLOEXEC among the program's */
    for (int i = 0; i < 3; i++)
        if (open("/dev/null", O_RDWR | O_CLOEXEC) < 0 && open("/", O_PATH | O_CLOEXEC) < 0)
            return;
}

/* How time and accesses are sampled in this process. */
static struct pie_flush_methods choose_methods(void) {
    const struct pie_config *config = collector.setup.config;
    struct pie_flush_methods methods = {0};
    struct pie_clock_facts facts;

    pie_clock_facts_gather(&facts);
    enum pie_clock_kind clock = pie_clock_begin(config, collector.setup.facts, &facts, &methods.clock_note);
    const struct pie_access_sampler_ops *accesses =
        pie_watch_set_up(config, collector.setup.ops, &facts, clock, collector.setup.facts->take_signal,
                         &methods.sampler_note);
    methods.clock = pie_clock_name(clock);
    methods.sampler = accesses->name;
    if (accesses != &pie_access_sampler_none &&
        pie_watch_drain_create(collector.setup.ops, pie_flush_naming(collector.flush), config->fp_tolerance,
                               &collector.watches) == 0)
        pie_access_sampler_set_current(accesses);
    else
        pie_watch_set(NULL);
    return methods;
}

static struct pie_wall *wall_of(size_t slot) {
    if (slot >= collector.n_walls) {
        size_t n = slot + 64;
        struct pie_wall *grown = realloc(collector.walls, n * sizeof *grown);
        if (!grown)
            return NULL;
        memset(grown + collector.n_walls, 0, (n - collector.n_walls) * sizeof *grown);
        collector.walls = grown;
        collector.n_walls = n;
    }
    return &collector.walls[slot];
}

static void drain(struct pie_thread *thread, size_t slot, struct pie_wall *wall) {
    struct pie_record record;

    pie_wall_meet(wall, thread);
    while (pie_ring_pop(&thread->ring, &record)) {
        pie_wall_sample(wall, &record);
        if (pie_aggregate_add_sample(&collector.aggregate, thread->id, &record) < 0)
            pie_counter_add(PIE_COUNTER_OUT_OF_MEMORY, 1);
        if (collector.watches)
            pie_watch_drain_sample(collector.watches, record.node, record.user_ns + record.system_ns);
    }
    if (collector.watches)
        pie_watch_drain_thread(collector.watches, thread, slot);
    if (collector.heap)
        pie_heap_drain_thread(collector.heap, thread);
    if (collector.loops)
        pie_copy_loops_thread(collector.loops, thread, slot);
}

/* r: of a clock. A thread that ended meanwhile needs none. */
static void count_unarmed(const struct pie_thread *thread, int r) {
    if (r < 0 && pie_thread_state(thread) != PIE_THREAD_ENDED)
        pie_counter_add(PIE_COUNTER_UNARMED_THREADS, 1);
}

static void give_clocks(struct pie_thread *thread) {
    const struct pie_clock_ops *clock = pie_clock_current();
    const struct pie_access_sampler_ops *accesses = pie_access_sampler_current();

    if (clock)
        count_unarmed(thread, clock->arm(thread, pie_random_dither(&collector.random,
                                                                     collector.setup.config->period_ns)));
    if (accesses)
        count_unarmed(thread, accesses->arm(thread, 1000000000 / collector.setup.config->period_ns));
}

/* At the end it is too late for clocks. */
static void arm(struct pie_thread *thread, uint64_t word) {
    if (!pie_thread_move(thread, word, PIE_THREAD_ARMING))
        return; /* it has ended */
    if (!pie_ending_is_asked())
        give_clocks(thread);
    pie_thread_move(thread, pie_thread_with(word, PIE_THREAD_ARMING), PIE_THREAD_RUNNING);
    if (atomic_fetch_add_explicit(&collector.armed, 1, memory_order_release) == 0)
        pie_futex_wake(&collector.armed);
}

static uint64_t arm_after_ns(void) {
    uint64_t period_ns = collector.setup.config->period_ns;

    return period_ns < ARM_AFTER_NS ? period_ns : ARM_AFTER_NS;
}

static void arm_or_wait(struct pie_thread *thread, uint64_t word) {
    uint64_t now_ns = pie_monotonic_ns(), wait_ns = arm_after_ns();
    uint64_t started_ns = atomic_load_explicit(&thread->started_ns, memory_order_relaxed);

    if (collector.arms_all || pie_ending_is_asked() || now_ns >= started_ns + wait_ns / 2)
        arm(thread, word);
    else if (collector.next_arm_ns == UINT64_MAX)
        collector.next_arm_ns = now_ns + (collector.has_many_starts ? wait_ns : wait_ns / 2);
}

static void disarm(struct pie_thread *thread) {
    const struct pie_clock_ops *clock = pie_clock_current();
    const struct pie_access_sampler_ops *accesses = pie_access_sampler_current();

    if (clock)
        clock->disarm(thread);
    if (accesses)
        accesses->disarm(thread);
}

/* What its clock costs at each switch is in no handler's time. */
static void charge_switches(struct pie_thread *thread, struct pie_wall *wall) {
    const struct pie_clock_price *price = pie_clock_price_known();
    bool is_long = wall->is_seldom || collector.setup.config->period_ns >= PIE_CLOCK_LONG_PERIOD_NS;
    uint64_t switches = pie_wall_switches(wall);

    if (!price)
        return;
    uint64_t cost_ns = switches * (is_long ? price->long_switch_ns : price->switch_ns);
    atomic_fetch_add_explicit(&thread->switches_ns, cost_ns, memory_order_relaxed);
}

static void retire(struct pie_thread *thread, size_t slot, struct pie_wall *wall) {
    disarm(thread);
    drain(thread, slot, wall);
    if (collector.setup.config->time) {
        pie_wall_end(wall, thread, &collector.throttle, &collector.aggregate);
        charge_switches(thread, wall);
    }
    if (collector.watches) {
        pie_watch_drain_thread_ended(collector.watches, slot);
        pie_debug_hidden_close(thread);
    }
    if (collector.loops)
        pie_copy_loops_thread_ended(collector.loops, slot);
    pie_flush_thread_ended(collector.flush, thread, wall);
    pie_thread_give_back(thread);
}

static bool is_still(const struct pie_thread *thread, const struct pie_wall *wall) {
    return wall && wall->is_still && wall->thread_id == thread->id &&
           wall->samples == atomic_load_explicit(&thread->samples, memory_order_relaxed);
}

/* May this thread wait for a later tick? */
static bool has_time(const struct pie_thread *thread, size_t slot, const struct pie_wall *wall) {
    return collector.turns > 1 && (slot + collector.tick) % collector.turns != 0 && is_still(thread, wall);
}

static void look_at_running(struct pie_thread *thread, size_t slot, struct pie_wall *wall) {
    collector.running++;
    if (has_time(thread, slot, wall))
        return;
    drain(thread, slot, wall);
    if (collector.watches)
        pie_debug_hidden_serve(thread);
    if (collector.setup.config->time) {
        pie_wall_tick(wall, thread, collector.setup.ops, &collector.throttle, &collector.aggregate);
        charge_switches(thread, wall);
    }
}

static void look_at(size_t slot, bool tick) {
    struct pie_thread *thread = pie_thread_at(slot);
    struct pie_wall *wall = wall_of(slot);
    uint64_t word = pie_thread_word(thread);

    if (!wall) {
        collector.is_left = true;
        return;
    }
    if (pie_thread_stage(word) == PIE_THREAD_STARTING)
        arm_or_wait(thread, word);
    if (collector.arms_all &&
        thread->is_main) /* its delays of before the start are told apart by being seen early */
        pie_wall_meet(wall, thread);
    enum pie_thread_state state = pie_thread_state(thread);
    if (state == PIE_THREAD_ENDED)
        retire(thread, slot, wall);
    else if (state == PIE_THREAD_RUNNING && tick)
        look_at_running(thread, slot, wall);
    else if (tick && collector.heap)
        pie_heap_drain_slot(collector.heap, thread);
}

static void look_at_all(bool tick) {
    collector.has_many_starts = collector.next_arm_ns != UINT64_MAX && collector.next_arm_ns != 0;
    collector.next_arm_ns = UINT64_MAX;
    pie_threads_heed();
    for (size_t i = 0; i < pie_thread_count(); i++)
        look_at(i, tick);
    if (collector.next_arm_ns != UINT64_MAX)
        pie_threads_are_heeded();
}

/* Of many threads some each time, those that stand still only if they are no more. */
static void bury(struct pie_thread *thread, size_t slot, uint64_t word) {
    const struct pie_wall *wall = wall_of(slot);
    bool is_known = wall && wall->thread_id == thread->id;

    if (!has_time(thread, slot, wall) && pie_thread_is_gone(thread))
        pie_thread_bury(thread, word, is_known ? wall->last_cpu_ns : thread->cpu_last_ns);
}

/* The kernel arms a timer for an event when it gives the thread a processor, and takes it back when it takes that: in a
 * virtual machine this costs as much as a signal, some 20 us. A thread that changes thousands of times a second, as one that
 * starts short threads does, would cost most by that. A timer that is due after the kernel's next tick costs next to nothing. A
 * sample stands for all time since the last, so only details get fewer. Not with `perf-user`, which takes for system
 * time what exceeds a period. */
static uint64_t period_of(const struct pie_thread *thread, struct pie_wall *wall) {
    const struct pie_clock_price *price = pie_clock_price_known();
    uint64_t period_ns = collector.setup.config->period_ns;

    if (pie_clock_current() != &pie_clock_perf || !price || !wall || wall->thread_id != thread->id ||
        period_ns >= PIE_CLOCK_LONG_PERIOD_NS)
        return period_ns;
    wall->is_seldom =
        pie_wall_switching_permille(wall, price->switch_ns, pie_monotonic_ns()) > SWITCHING_PERMILLE;
    return wall->is_seldom ? PIE_CLOCK_LONG_PERIOD_NS : period_ns;
}

static void dither(void) {
    const struct pie_clock_ops *clock = pie_clock_current();
    const struct pie_access_sampler_ops *accesses = pie_access_sampler_current();
    uint64_t period_ns = collector.setup.config->period_ns;

    for (size_t i = 0; i < pie_thread_count(); i++) {
        struct pie_thread *thread = pie_thread_at(i);
        if (pie_thread_state(thread) != PIE_THREAD_RUNNING || is_still(thread, wall_of(i)))
            continue;
        if (clock)
            clock->set_period(thread, pie_random_dither(&collector.random, period_of(thread, wall_of(i))));
        if (accesses)
            accesses->adapt(thread, 1000000000 / period_ns);
    }
}

/* What is known about code by its address goes with the code. */
static void heed_libraries(void) {
    pie_unloads_heed();
    uint32_t generation = pie_code_generation();
    pie_naming_refresh(pie_flush_naming(collector.flush));
    if (generation == collector.generation)
        return;
    collector.generation = generation;
    pie_decode_flush_cache();
    pie_blocks_heed();
    if (collector.watches)
        pie_watch_drain_forget_code(collector.watches);
    if (collector.loops)
        pie_copy_loops_forget(collector.loops);
}

/* --- Turns of the tree --- */

static struct pie_turn_parts turn_parts(void) {
    return (struct pie_turn_parts){collector.walls, collector.n_walls, collector.watches,
                                   collector.heap,  collector.loops,   collector.flush};
}

static bool begin_tick(void) {
    pie_half_enter();
    collector.is_left = false;
    return pie_turn_tick(&collector.turn);
}

static void flush_all(void) {
    bool is_turning = collector.turn.stage == PIE_TURN_DRAINED;

    for (size_t i = 0; i < pie_thread_count(); i++) {
        struct pie_thread *thread = pie_thread_at(i);
        uint64_t word = pie_thread_word(thread);
        if (pie_thread_stage(word) != PIE_THREAD_RUNNING)
            continue;
        pie_flush_thread(collector.flush, thread, collector.setup.config->time ? wall_of(i) : NULL);
        bury(thread, i, word);
    }
    struct pie_turn_parts parts = turn_parts();
    if (is_turning)
        pie_turn_prepare(&parts);
    if (collector.heap)
        pie_heap_drain_prepare(collector.heap, pie_ending_is_asked());
    pie_flush_write(collector.flush, &collector.aggregate, collector.watches, collector.heap,
                    collector.loops);
    collector.turn.is_wanted = pie_flush_wants_to_forget(collector.flush);
    if (is_turning && collector.aggregate.count == 0 && pie_flush_is_written(collector.flush))
        pie_turn_finish(&collector.turn, &parts);
    if (atomic_load_explicit(&collector.forks, memory_order_relaxed))
        pie_flush_suspend(collector.flush);
}

static uint64_t to_whole_second_ns(void) {
    int64_t over_ns = pie_flush_age_ns(collector.flush) % (int64_t)FLUSH_NS;

    return FLUSH_NS - (uint64_t)(over_ns < 0 ? over_ns + (int64_t)FLUSH_NS : over_ns);
}

/* began_ns: when the last one did. However long that took, there is half the time for something else. */
static void schedule_flush(uint64_t began_ns) {
    uint64_t now_ns = pie_monotonic_ns(), age_ns = began_ns - collector.started_ns,
             took_ns = now_ns - began_ns;
    uint64_t whole_ns = to_whole_second_ns();

    if (whole_ns < FLUSH_NEAR_NS || whole_ns < took_ns)
        whole_ns += FLUSH_NS;
    collector.next_flush_ns = now_ns + (age_ns < whole_ns ? age_ns : whole_ns);
}

/* The process's timer counts this thread's time too, and its signal goes to the thread that runs when it expires. Were it
 * blocked here another would get it, perhaps one that sleeps, whose call would end with EINTR. A handler may have closed
 * it (runtime/signals_sigsafe.c). The system call: the program's pthread_sigmask() would not do it. */
static void take_own_ticks(void) {
    uint64_t bit = UINT64_C(1) << (SIGPROF - 1);
    bool takes = pie_clock_current() == &pie_clock_itimer, took = collector.takes_ticks;

    collector.takes_ticks = takes;
    if (takes || took)
        syscall(SYS_rt_sigprocmask, takes ? SIG_UNBLOCK : SIG_BLOCK, &bit, NULL, sizeof bit);
}

/* One round; tick: the time for one has come. */
static void work(bool tick) {
    uint64_t now_ns = pie_monotonic_ns();
    bool takes_all = tick && begin_tick();

    if (tick) {
        heed_libraries();
        collector.tick++;
        collector.turns = takes_all ? 1 : 1 + collector.running / STILL_THREADS_A_TICK;
        collector.running = 0;
    }
    look_at_all(tick);
    if (tick && collector.heap)
        pie_heap_drain_tick(collector.heap);
    if (takes_all && !collector.is_left)
        pie_turn_drained(&collector.turn);
    if (now_ns >= collector.next_dither_ns) {
        dither();
        collector.next_dither_ns = now_ns + DITHER_NS;
    }
    if (now_ns >= collector.next_flush_ns) {
        pie_watch_heed_debugger();
        flush_all();
        schedule_flush(now_ns);
    }
    if (atomic_exchange_explicit(&collector.wants_release, false, memory_order_acq_rel))
        pie_flush_suspend(collector.flush);
}

/* Stops the clocks, takes what is left. */
static void end(void) {
    pie_watch_set(NULL);
    pie_heap_set(NULL);
    for (size_t i = 0; i < pie_thread_count(); i++)
        if (pie_thread_state(pie_thread_at(i)) == PIE_THREAD_RUNNING)
            disarm(pie_thread_at(i));
    collector.turns = 1;
    for (size_t i = 0; i < pie_thread_count(); i++) {
        look_at(i, true);
        if (collector.watches)
            pie_watch_drain_thread_ended(collector.watches, i);
    }
    if (collector.heap)
        pie_heap_drain_tick(collector.heap);
    if (collector.loops)
        pie_copy_loops_end(collector.loops);
    if (pie_flush_is_untouched(collector.flush) && strcmp(pie_ending_cause(), "exec") == 0)
        return; /* a forked child on its way to another program */
    flush_all();
    pie_flush_end(collector.flush, pie_ending_cause(), pie_ending_exit_status());
}

static void set_up_heap(void) {
    const struct pie_memory_facts *facts = collector.setup.facts->memory;

    if (!pie_heap_settings())
        return;
    if (pie_heap_drain_create(collector.setup.ops, facts, pie_flush_naming(collector.flush),
                              &collector.heap) < 0)
        pie_heap_set(NULL);
}

/* Before the first sample; a forked child has its parent's. */
static void prepare_unwinding(void) {
    size_t bytes;
    void *cache = pie_unwind_cache(&bytes);

    if (!collector.setup.is_fork && (collector.setup.config->time || pie_heap_settings()))
        pie_populate(cache, bytes);
}

static void set_up(void) {
    collector.started_ns = pie_monotonic_ns();
    prepare_unwinding();
    pie_decode_set_range(pie_naming_function_range, pie_flush_naming(collector.flush));
    struct pie_flush_methods methods = choose_methods();

    set_up_heap();
    pie_throttle_begin(&collector.throttle, collector.started_ns);
    if (collector.setup.config->copies && pie_clock_current() &&
        pie_copy_loops_create(pie_flush_naming(collector.flush), &collector.loops) < 0)
        collector.loops = NULL;

    collector.turn = (struct pie_turn){
        .ops = collector.setup.ops,
        .budget_bytes = collector.setup.config->context_bytes,
        .ended_ns = collector.started_ns,
    };
    pie_flush_begin(collector.flush, &methods);
    /* A forked child may live for a millisecond: its file is opened with its first flush. */
    if (!collector.setup.is_fork)
        pie_flush_open(collector.flush);
    collector.arms_all = true;
    look_at_all(false);
    collector.arms_all = false;
    collector.next_flush_ns = collector.started_ns + FIRST_FLUSH_NS;
    collector.next_dither_ns = pie_monotonic_ns() + DITHER_NS;
}

static void *collector_main(void *unused) {
    uint64_t next_tick_ns = 0;

    prctl(PR_SET_NAME, "pieprof");
    pie_heap_own_thread();
    pie_collector_set_self();
    own_descriptor_table();
    pthread_mutex_lock(&collector.work);
    set_up();
    while (!pie_ending_is_asked()) {
        uint32_t wakes = pie_ending_wakes();
        uint64_t now_ns = pie_monotonic_ns();
        bool tick = now_ns >= next_tick_ns || now_ns >= collector.next_flush_ns;
        if (tick)
            next_tick_ns = now_ns + pie_random_dither(&collector.random, TICK_NS);
        take_own_ticks();
        work(tick);
        pthread_mutex_unlock(&collector.work);
        now_ns = pie_monotonic_ns();
        uint64_t next_ns = next_tick_ns < collector.next_flush_ns ? next_tick_ns : collector.next_flush_ns;
        next_ns = collector.next_arm_ns < next_ns ? collector.next_arm_ns : next_ns;
        if (now_ns < next_ns && !pie_ending_is_asked())
            pie_ending_sleep(wakes, next_ns - now_ns);
        pthread_mutex_lock(&collector.work);
    }
    end();
    pthread_mutex_unlock(&collector.work);
    pie_ending_done();
    return NULL;
}

static uint64_t signal_bit(int signal) {
    return UINT64_C(1) << (signal - 1);
}

/* All signals stay with the program's threads, but for those of a faulting load and the two that the C library keeps to
 * itself (32: cancellation, 33: setuid() and friends wait until every thread has answered it). */
static int start_thread(void) {
    uint64_t all = ~(signal_bit(SIGSEGV) | signal_bit(SIGBUS) | signal_bit(32) | signal_bit(33)), before;
    pthread_attr_t attributes;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)1 << 20);
    /* the system call: the program's pthread_sigmask() does not let our own signals be blocked */
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    int r = pie_real_pthread_create(&collector.thread, &attributes, collector_main, NULL);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
    pthread_attr_destroy(&attributes);
    return -r;
}

int pie_collector_start(const struct pie_collector_setup *setup) {
    collector.setup = *setup;
    collector.setup.waiters = &collector.waiters;
    pthread_mutex_init(&collector.work, NULL);
    collector.working = true;
    if (getrandom(&collector.random, sizeof collector.random, GRND_NONBLOCK) < 0 || collector.random == 0)
        collector.random = pie_monotonic_ns() | 1;
    int r = pie_flush_create(&collector.setup, &collector.flush);
    if (r < 0)
        return r;
    r = start_thread();
    if (r < 0)
        return r;
    if (!setup->is_fork && atomic_load_explicit(&collector.armed, memory_order_acquire) == 0)
        pie_futex_wait(&collector.armed, 0, START_TIMEOUT_NS);
    return 0;
}

void pie_collector_stop(const char *cause, int exit_status, uint64_t timeout_ns) {
    uint64_t until_ns = pie_monotonic_ns() + timeout_ns;

    pie_ending_ask(cause, exit_status);
    while (!pie_ending_wait(100000000) && pie_monotonic_ns() < until_ns)
        ;
    if (pie_ending_wait(0))
        pthread_join(collector.thread, NULL);
}

void pie_collector_wake(void) {
    pie_ending_wake();
}

static bool take_work(uint64_t until_ns) {
    struct timespec until = {(time_t)(until_ns / 1000000000u), (long)(until_ns % 1000000000u)};

    for (;;) {
        if (pthread_mutex_clocklock(&collector.work, CLOCK_MONOTONIC, &until) != 0)
            return false;
        if (!pie_flush_is_open(collector.flush))
            return true;
        pthread_mutex_unlock(&collector.work);
        if (pie_monotonic_ns() >= until_ns)
            return false;
        atomic_store_explicit(&collector.wants_release, true, memory_order_release);
        pie_collector_wake();
        const struct timespec nap = {0, 200000};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
    }
}

bool pie_collector_hold(void) {
    if (!collector.working)
        return false;
    atomic_store_explicit(&collector.forks, true, memory_order_relaxed);
    atomic_fetch_add_explicit(&collector.waiters, 1, memory_order_relaxed);
    bool held = take_work(pie_monotonic_ns() + HOLD_TIMEOUT_NS);
    atomic_fetch_sub_explicit(&collector.waiters, 1, memory_order_relaxed);
    return held;
}

void pie_collector_release(void) {
    pthread_mutex_unlock(&collector.work);
}

void pie_collector_forget(void) {
    memset(&collector, 0, sizeof collector);
    pie_ending_forget();
    pie_clock_set_current(NULL);
    pie_access_sampler_set_current(NULL);
    pie_code_forget_unloading();
    pie_watch_set(NULL);
    pie_decode_set_range(NULL, NULL);
    pie_copy_sites_set(false);
    pie_access_samplers_forget();
    pie_clock_perf_forget();
    pie_clock_timer_forget();
    pie_clock_itimer_forget();
}

int pie_collector_write_error(void) {
    return collector.flush ? pie_flush_error(collector.flush) : 0;
}

int64_t pie_collector_run_id(void) {
    return collector.flush ? pie_flush_run_id(collector.flush) : 0;
}
