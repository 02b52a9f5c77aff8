/* SPDX-License-Identifier: Apache-2.0 */

/* The collection thread has a descriptor table of its own (close_range(2) with CLOSE_RANGE_UNSHARE): the database, the
 * clocks and the files it reads are invisible to the program, cannot be closed by it, are not inherited by its
 * children, and do not shift the numbers it gets from open(2); nor does a copy of one of its pipes keep that pipe open
 * here.
 *
 * `work` is held whenever the thread is not asleep. fork() takes it (pie_collection_hold), so a child's copy of this
 * process never stops in the middle of something; SQLite keeps open files in global lists that a child must find empty,
 * so the file is given up before a fork, and after every flush from the first fork on.
 *
 * Order of locks: work, then nothing. */

#include "profiler/collect/collection.h"

#include "profiler/base/clocks.h"
#include "profiler/base/counters.h"
#include "profiler/base/futex.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/random.h"
#include "profiler/base/real.h"
#include "profiler/code/basic_block.h"
#include "profiler/code/decode.h"
#include "profiler/code/generation.h"
#include "profiler/code/unloads.h"
#include "profiler/collect/collectors.h"
#include "profiler/collect/flush.h"
#include "profiler/collect/govern.h"
#include "profiler/collect/own_cost.h"
#include "profiler/collect/quiet.h"
#include "profiler/collect/sample.h"
#include "profiler/collect/turn.h"
#include "profiler/govern/governor.h"
#include "profiler/govern/pace.h"
#include "profiler/machine/descriptors.h"
#include "profiler/ports/config.h"
#include "profiler/ports/facts.h"
#include "profiler/stacks/cct.h"
#include "profiler/stacks/unwind.h"
#include "profiler/symbols/naming.h"
#include "profiler/thread/ending.h"
#include "profiler/thread/thread.h"
#include "profiler/time/sample_ring.h"

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

/* Ticks and drains, by wall time, dithered. They are further apart where they cost more than they may (govern/pace.h),
 * no further than rings have room for at the rate of samples that was asked for. */
static const uint64_t TICK_NS = 20000000, TICK_MAX_NS = 80000000;
enum { SAMPLES_A_TICK_MAX = 64 };
/* The first one after the start, then when the process is twice as old, then whenever it has become a second older: a
 * process that is killed lacks at most the half of its time, or the last second. Slices of time are whole seconds of
 * its age. */
static const uint64_t FIRST_FLUSH_NS = 25000000;
static const uint64_t FLUSH_NS = 1000000000;
static const uint64_t FLUSH_NEAR_NS = 100000000; /* so soon there is none again */
static const uint64_t ADAPT_NS = 100000000;      /* new sampling periods */

/* A thread is given a clock when it is this old, or half as old when another is: it costs some 30 us, and much of a
 * thread that lives for 100. Its first sample stands for what it ran before. No older than a sample's period. */
static const uint64_t ARM_AFTER_NS = 1000000;
/* … or this old, where only a part of the threads gets one while they are young (govern/pace.h). */
static const uint64_t ARM_OLD_NS = 16000000;

/* Threads that stand still are looked at one after the other where there are more: this many in a tick. */
enum { STILL_THREADS_A_TICK = 32 };

static const uint64_t START_TIMEOUT_NS = 200000000;
static const uint64_t HANDLERS_TIMEOUT_NS = 5000000; /* at the end */
/* Of a fork; a child that cannot be profiled is a great loss. Seldom more than some ms: commits give way to it. */
static const uint64_t HOLD_TIMEOUT_NS = 1000000000;

/* All of this is reset by pie_collection_forget() in a forked child. */
static struct {
    struct pie_collection_setup setup;
    pthread_mutex_t work;
    bool working;               /* `work` was initialised in this process */
    _Atomic uint32_t armed;     /* futex: counts threads that were given a clock or cannot have one */
    _Atomic bool forks;         /* this process forks: leave no file open between flushes */
    _Atomic bool wants_release; /* a fork waits for the file to be given up */
    _Atomic uint32_t waiters;   /* threads that wait in pie_collection_hold() */
    pthread_t thread;
    struct pie_flush *flush;
    struct pie_governor governor;
    struct pie_pace pace;
    struct pie_collection given; /* to the collectors */
    struct pie_turn turn;
    struct pie_quiet quiet;
    uint32_t paced;   /* ticks, those too that were left out */
    bool all_stand;   /* no thread was found at work in this tick */
    bool is_left;     /* a thread's rings could not be emptied in this tick */
    uint32_t tick;    /* counts them */
    uint32_t running; /* threads that were, at the last tick */
    uint32_t turns;   /* a thread that stands still is looked at in one of this many ticks */
    uint64_t started_ns, next_flush_ns, next_adapt_ns;
    uint64_t next_arm_ns; /* threads wait for their clocks; UINT64_MAX: none does */
    bool arms_all;        /* however young they are */
    bool has_many_starts; /* successive looks found threads that are too young */
    uint64_t random;
    uint32_t generation; /* of code, at the last look */
} collection;

static void own_descriptor_table(void) {
    bool is_own = syscall(SYS_close_range, 0u, ~0u, 2u /* CLOSE_RANGE_UNSHARE */) == 0;

    pie_descriptors_set_own(is_own);
    if (!is_own)
        return; /* an older kernel: ours are opened with O_CLOEXEC among the program's */
    for (int i = 0; i < 3; i++)
        if (open("/dev/null", O_RDWR | O_CLOEXEC) < 0 && open("/", O_PATH | O_CLOEXEC) < 0)
            return;
}

static void drain(struct pie_thread *thread, size_t slot) {
    const struct pie_collector *const *active = pie_collectors_active();
    struct pie_record record;

    PIE_EACH_COLLECTOR(active, meet, thread, slot);
    while (pie_collectors_next_sample(thread, &record))
        PIE_EACH_COLLECTOR(active, sample, thread, slot, &record);
    PIE_EACH_COLLECTOR(active, drain, thread, slot);
}

/* A thread that ended meanwhile needs no clock. */
static void give_clocks(struct pie_thread *thread) {
    for (const struct pie_collector *const *each = pie_collectors_active(); *each; each++)
        if ((*each)->arm && (*each)->arm(thread) < 0 && pie_thread_state(thread) != PIE_THREAD_ENDED)
            pie_counter_add(PIE_COUNTER_UNARMED_THREADS, 1);
}

/* At the end it is too late for clocks. */
static void arm(struct pie_thread *thread, uint64_t word) {
    if (!pie_thread_move(thread, word, PIE_THREAD_ARMING))
        return; /* it has ended */
    if (!pie_ending_is_asked()) {
        enum pie_own_cost before = pie_own_cost_switch(collection.arms_all ? PIE_OWN_START : PIE_OWN_ARMING);
        give_clocks(thread);
        pie_own_cost_switch(before);
    }
    pie_thread_move(thread, pie_thread_with(word, PIE_THREAD_ARMING), PIE_THREAD_RUNNING);
    if (atomic_fetch_add_explicit(&collection.armed, 1, memory_order_release) == 0)
        pie_futex_wake(&collection.armed);
}

static uint64_t arm_after_ns(void) {
    uint64_t period_ns = collection.setup.config->period_ns;

    return period_ns < ARM_AFTER_NS ? period_ns : ARM_AFTER_NS;
}

static void arm_again_at(uint64_t ns) {
    if (ns < collection.next_arm_ns)
        collection.next_arm_ns = ns;
}

/* Each look for young threads costs something, whether one of them gets a clock or not. */
static uint64_t next_look_ns(uint64_t wait_ns) {
    double ns = (double)(collection.has_many_starts ? wait_ns : wait_ns / 2) / collection.pace.armed_part;

    return ns < (double)ARM_OLD_NS ? (uint64_t)ns : ARM_OLD_NS;
}

static void arm_or_wait(struct pie_thread *thread, uint64_t word) {
    uint64_t now_ns = pie_monotonic_ns(), wait_ns = arm_after_ns();
    uint64_t started_ns = atomic_load_explicit(&thread->started_ns, memory_order_relaxed);
    bool is_drawn = pie_pace_arms_young(&collection.pace, thread->id);

    if (collection.arms_all || pie_ending_is_asked() ||
        now_ns >= started_ns + (is_drawn ? wait_ns / 2 : ARM_OLD_NS))
        arm(thread, word);
    else
        arm_again_at(is_drawn ? now_ns + next_look_ns(wait_ns) : started_ns + ARM_OLD_NS);
}

static void retire(struct pie_thread *thread, size_t slot) {
    enum pie_own_cost before = pie_own_cost_switch(PIE_OWN_ARMING);

    PIE_EACH_COLLECTOR(pie_collectors_active(), disarm, thread);
    pie_own_cost_switch(before);
    drain(thread, slot);
    PIE_EACH_COLLECTOR(pie_collectors_active(), ended, thread, slot);
    pie_flush_thread_ended(collection.flush, thread, slot);
    pie_thread_give_back(thread);
}

/* May this thread wait for a later tick? */
static bool has_time(const struct pie_thread *thread, size_t slot) {
    return collection.turns > 1 && (slot + collection.tick) % collection.turns != 0 &&
           pie_collectors_are_still(thread, slot);
}

static void look_at_running(struct pie_thread *thread, size_t slot) {
    collection.running++;
    if (has_time(thread, slot))
        return;
    if (collection.quiet.stood_ns)
        PIE_EACH_COLLECTOR(pie_collectors_active(), stood, thread, slot, collection.quiet.stood_ns);
    drain(thread, slot);
    PIE_EACH_COLLECTOR(pie_collectors_active(), look, thread, slot);
    collection.all_stand = collection.all_stand && pie_collectors_are_still(thread, slot);
}

static void look_at(size_t slot, bool tick) {
    struct pie_thread *thread = pie_thread_at(slot);
    uint64_t word = pie_thread_word(thread);

    if (!pie_collectors_make_room(slot)) {
        collection.is_left = true;
        return;
    }
    if (pie_thread_stage(word) == PIE_THREAD_STARTING)
        arm_or_wait(thread, word);
    enum pie_thread_state state = pie_thread_state(thread);
    /* Its delays from before the start are known because it is seen early. */
    if (collection.arms_all && state == PIE_THREAD_RUNNING && thread->is_main)
        PIE_EACH_COLLECTOR(pie_collectors_active(), meet, thread, slot);
    if (state == PIE_THREAD_ENDED)
        retire(thread, slot);
    else if (state == PIE_THREAD_RUNNING && tick)
        look_at_running(thread, slot);
    else if (tick)
        PIE_EACH_COLLECTOR(pie_collectors_active(), drain_idle, thread);
}

static void look_at_all(bool tick) {
    collection.has_many_starts = collection.next_arm_ns != UINT64_MAX && collection.next_arm_ns != 0;
    collection.next_arm_ns = UINT64_MAX;
    pie_threads_begin_look();
    for (size_t i = 0; i < pie_thread_count(); i++)
        look_at(i, tick);
    if (collection.next_arm_ns != UINT64_MAX)
        pie_threads_end_look();
}

/* Of many threads some each time, those that stand still only if they are no more. */
static void bury(struct pie_thread *thread, size_t slot, uint64_t word) {
    if (!has_time(thread, slot) && pie_thread_is_gone(thread))
        pie_thread_bury(thread, word, pie_collectors_last_cpu_ns(thread, slot));
}

/* What is made once, in pieces, as far as the budget goes. */
static void allow_debug_info(void) {
    pie_naming_allow_debug_info(pie_flush_naming(collection.flush),
                                pie_governor_earned_ns(&collection.governor, PIE_COST_OTHER));
}

static void adapt(void) {
    pie_govern(&collection.governor, &collection.pace, collection.paced);
    allow_debug_info();
    for (size_t i = 0; i < pie_thread_count(); i++) {
        struct pie_thread *thread = pie_thread_at(i);
        if (pie_thread_state(thread) == PIE_THREAD_RUNNING && !pie_collectors_are_still(thread, i))
            PIE_EACH_COLLECTOR(pie_collectors_active(), adapt, thread, i);
    }
}

/* What is known about code by its address goes with the code. */
static void look_at_libraries(void) {
    pie_unloads_refresh();
    uint32_t generation = pie_code_generation();
    pie_naming_refresh(pie_flush_naming(collection.flush));
    if (generation == collection.generation)
        return;
    collection.generation = generation;
    pie_decode_flush_cache();
    pie_basic_blocks_refresh();
    PIE_EACH_COLLECTOR(pie_collectors_active(), code_changed);
}

/* --- Turns of the tree --- */

static bool begin_tick(void) {
    pie_half_enter();
    collection.is_left = false;
    return pie_turn_tick(&collection.turn);
}

static void flush_all(void) {
    const struct pie_collector *const *active = pie_collectors_active();
    bool is_turning = collection.turn.stage == PIE_TURN_DRAINED;

    PIE_EACH_COLLECTOR(active, flush_begins);
    for (size_t i = 0; i < pie_thread_count(); i++) {
        struct pie_thread *thread = pie_thread_at(i);
        uint64_t word = pie_thread_word(thread);
        if (pie_thread_stage(word) != PIE_THREAD_RUNNING)
            continue;
        pie_flush_thread(collection.flush, thread, i);
        bury(thread, i, word);
    }
    if (is_turning)
        PIE_EACH_COLLECTOR(active, complete);
    PIE_EACH_COLLECTOR(active, prepare, pie_ending_is_asked());
    pie_flush_write(collection.flush);
    collection.turn.is_wanted = pie_flush_wants_to_forget(collection.flush);
    if (is_turning && pie_collectors_are_written() && pie_flush_is_written(collection.flush))
        pie_turn_finish(&collection.turn, collection.flush);
    if (atomic_load_explicit(&collection.forks, memory_order_relaxed))
        pie_flush_suspend(collection.flush);
}

static uint64_t to_whole_second_ns(void) {
    int64_t over_ns = pie_flush_age_ns(collection.flush) % (int64_t)FLUSH_NS;

    return FLUSH_NS - (uint64_t)(over_ns < 0 ? over_ns + (int64_t)FLUSH_NS : over_ns);
}

/* began_ns: when the last one did. However long that took, there is half the time for something else. */
static void schedule_flush(uint64_t began_ns) {
    uint64_t now_ns = pie_monotonic_ns(), age_ns = began_ns - collection.started_ns,
             took_ns = now_ns - began_ns;
    uint64_t whole_ns = to_whole_second_ns();

    if (whole_ns < FLUSH_NEAR_NS || whole_ns < took_ns)
        whole_ns += FLUSH_NS;
    collection.next_flush_ns = now_ns + (age_ns < whole_ns ? age_ns : whole_ns);
}

/* Neither while something else is on its way than samples, nor where threads are looked at in turns. */
static bool may_be_left_out(uint64_t now_ns) {
    return collection.turn.stage == PIE_TURN_RESTING && collection.turns == 1 &&
           now_ns < collection.next_flush_ns && collection.next_arm_ns == UINT64_MAX &&
           pie_quiet_tick(&collection.quiet, now_ns);
}

static void tick_all(void) {
    bool takes_all = begin_tick();

    look_at_libraries();
    collection.tick++;
    pie_counter_add(PIE_COUNTER_TICKS, 1);
    collection.turns = takes_all ? 1 : 1 + collection.running / STILL_THREADS_A_TICK;
    collection.running = 0;
    collection.all_stand = true;
    look_at_all(true);
    pie_quiet_looked(&collection.quiet, collection.all_stand && !collection.is_left);
    PIE_EACH_COLLECTOR(pie_collectors_active(), tick);
    if (takes_all && !collection.is_left)
        pie_turn_drained(&collection.turn);
}

/* One round; tick: the time for one has come. */
static void work(bool tick) {
    uint64_t now_ns = pie_monotonic_ns();

    collection.paced += tick;
    if (!tick)
        look_at_all(false);
    else if (!may_be_left_out(now_ns))
        tick_all();
    if (now_ns >= collection.next_adapt_ns) {
        adapt();
        collection.next_adapt_ns = now_ns + ADAPT_NS;
    }
    if (now_ns >= collection.next_flush_ns) {
        enum pie_own_cost before = pie_own_cost_switch(PIE_OWN_WRITING);
        flush_all();
        schedule_flush(now_ns);
        pie_own_cost_switch(before);
    }
    if (atomic_exchange_explicit(&collection.wants_release, false, memory_order_acq_rel))
        pie_flush_suspend(collection.flush);
}

/* A handler that began before its clock stopped leaves its sample in the ring as late as it ends. One whose thread does
 * not get a processor for so long, or died inside, is not waited for. */
static void wait_for_handlers(void) {
    const struct timespec nap = {0, 50000};
    uint64_t until_ns = pie_monotonic_ns() + HANDLERS_TIMEOUT_NS;

    for (size_t i = 0; i < pie_thread_count(); i++)
        while (pie_thread_state(pie_thread_at(i)) == PIE_THREAD_RUNNING &&
               atomic_load(&pie_thread_at(i)->inside) == PIE_INSIDE_HANDLER && /* see pie_sample_allow() */
               pie_monotonic_ns() < until_ns)
            clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
}

/* Stops the clocks, takes what is left. */
static void end(void) {
    const struct pie_collector *const *active = pie_collectors_active();

    pie_own_cost_switch(PIE_OWN_END);
    PIE_EACH_COLLECTOR(active, stop);
    for (size_t i = 0; i < pie_thread_count(); i++)
        if (pie_thread_state(pie_thread_at(i)) == PIE_THREAD_RUNNING)
            PIE_EACH_COLLECTOR(active, disarm, pie_thread_at(i));
    pie_sample_allow(false);
    wait_for_handlers();
    collection.turns = 1;
    for (size_t i = 0; i < pie_thread_count(); i++)
        look_at(i, true);
    PIE_EACH_COLLECTOR(active, end);
    if (pie_flush_is_untouched(collection.flush) && strcmp(pie_ending_cause(), "exec") == 0)
        return; /* a forked child on its way to another program */
    flush_all();
    pie_flush_end(collection.flush, pie_ending_cause(), pie_ending_exit_status());
}

/* Before the first sample; a forked child has its parent's. */
static void prepare_unwinding(void) {
    const struct pie_config *config = collection.setup.config;
    size_t bytes;
    void *cache = pie_unwind_cache(&bytes);

    if (!collection.setup.is_fork && (config->has_time || config->has_memory || config->has_copies))
        pie_populate(cache, bytes);
}

static uint64_t tick_max_ns(void) {
    uint64_t most_ns = SAMPLES_A_TICK_MAX * collection.setup.config->period_ns;

    return most_ns < TICK_MAX_NS ? most_ns : TICK_MAX_NS;
}

static void set_up(void) {
    collection.started_ns = pie_monotonic_ns();
    prepare_unwinding();
    pie_decode_set_range(pie_naming_function_range, pie_flush_naming(collection.flush));
    pie_governor_begin(&collection.governor, collection.setup.config->overhead_budget,
                       collection.setup.config->is_budget_asked);
    pie_pace_begin(&collection.pace, TICK_NS, tick_max_ns());
    collection.given = (struct pie_collection){
        .governor = &collection.governor,
        .config = collection.setup.config,
        .ops = collection.setup.ops,
        .facts = collection.setup.facts,
        .naming = pie_flush_naming(collection.flush),
    };
    pie_collectors_begin(&collection.given);
    pie_govern_begin(&collection.governor);
    allow_debug_info();
    collection.turn = (struct pie_turn){
        .ops = collection.setup.ops,
        .budget_bytes = collection.setup.config->context_bytes,
        .ended_ns = collection.started_ns,
    };
    pie_flush_begin(collection.flush, &collection.given.methods);
    /* A forked child may live for a millisecond: its file is opened with its first flush. */
    if (!collection.setup.is_fork)
        pie_flush_open(collection.flush);
    collection.arms_all = true;
    look_at_all(false);
    collection.arms_all = false;
    collection.next_flush_ns = collection.started_ns + FIRST_FLUSH_NS;
    collection.next_adapt_ns = pie_monotonic_ns() + ADAPT_NS / 2; /* soon: rates are as they were asked for */
}

static void *collection_main(void *unused) {
    uint64_t next_tick_ns = 0;

    prctl(PR_SET_NAME, "pieprof");
    PIE_EACH_COLLECTOR(pie_collectors(), own_thread);
    pie_collection_set_self();
    own_descriptor_table();
    pthread_mutex_lock(&collection.work);
    set_up();
    while (!pie_ending_is_asked()) {
        uint32_t wakes = pie_ending_wakes();
        uint64_t now_ns = pie_monotonic_ns();
        bool tick = now_ns >= next_tick_ns || now_ns >= collection.next_flush_ns;
        if (tick)
            next_tick_ns = now_ns + pie_random_dither(&collection.random, collection.pace.tick_ns);
        pie_own_cost_switch(tick ? PIE_OWN_TICKS : PIE_OWN_ARMING);
        PIE_EACH_COLLECTOR(pie_collectors_active(), round_begins);
        work(tick);
        pthread_mutex_unlock(&collection.work);
        now_ns = pie_monotonic_ns();
        uint64_t next_ns = next_tick_ns < collection.next_flush_ns ? next_tick_ns : collection.next_flush_ns;
        next_ns = collection.next_arm_ns < next_ns ? collection.next_arm_ns : next_ns;
        if (now_ns < next_ns && !pie_ending_is_asked())
            pie_ending_sleep(wakes, next_ns - now_ns);
        pthread_mutex_lock(&collection.work);
    }
    end();
    pthread_mutex_unlock(&collection.work);
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
    int r = pie_real_pthread_create(&collection.thread, &attributes, collection_main, NULL);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
    pthread_attr_destroy(&attributes);
    return -r;
}

int pie_collection_start(const struct pie_collection_setup *setup) {
    collection.setup = *setup;
    collection.setup.waiters = &collection.waiters;
    pthread_mutex_init(&collection.work, NULL);
    collection.working = true;
    pie_sample_allow(true);
    if (getrandom(&collection.random, sizeof collection.random, GRND_NONBLOCK) < 0 || collection.random == 0)
        collection.random = pie_monotonic_ns() | 1;
    int r = pie_flush_create(&collection.setup, &collection.flush);
    if (r < 0)
        return r;
    r = start_thread();
    if (r < 0)
        return r;
    if (!setup->is_fork && atomic_load_explicit(&collection.armed, memory_order_acquire) == 0)
        pie_futex_wait(&collection.armed, 0, START_TIMEOUT_NS);
    return 0;
}

/* What it waits meanwhile is no doing of the program. */
static void say_that_it_waits(bool waits) {
    struct pie_thread *thread = pie_thread_self();

    if (thread)
        atomic_store_explicit(&thread->waits_for_us, waits, memory_order_relaxed);
}

void pie_collection_stop(const char *cause, int exit_status, uint64_t timeout_ns) {
    uint64_t until_ns = pie_monotonic_ns() + timeout_ns;

    say_that_it_waits(true);
    pie_ending_ask(cause, exit_status);
    while (!pie_ending_wait(100000000) && pie_monotonic_ns() < until_ns)
        ;
    if (pie_ending_wait(0))
        pthread_join(collection.thread, NULL);
    say_that_it_waits(false);
}

void pie_collection_wake(void) {
    pie_ending_wake();
}

static bool take_work(uint64_t until_ns) {
    struct timespec until = {(time_t)(until_ns / 1000000000u), (long)(until_ns % 1000000000u)};

    for (;;) {
        if (pthread_mutex_clocklock(&collection.work, CLOCK_MONOTONIC, &until) != 0)
            return false;
        if (!pie_flush_is_open(collection.flush))
            return true;
        pthread_mutex_unlock(&collection.work);
        if (pie_monotonic_ns() >= until_ns)
            return false;
        atomic_store_explicit(&collection.wants_release, true, memory_order_release);
        pie_collection_wake();
        const struct timespec nap = {0, 200000};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
    }
}

bool pie_collection_hold(void) {
    if (!collection.working)
        return false;
    atomic_store_explicit(&collection.forks, true, memory_order_relaxed);
    atomic_fetch_add_explicit(&collection.waiters, 1, memory_order_relaxed);
    say_that_it_waits(true);
    bool held = take_work(pie_monotonic_ns() + HOLD_TIMEOUT_NS);
    say_that_it_waits(false);
    atomic_fetch_sub_explicit(&collection.waiters, 1, memory_order_relaxed);
    return held;
}

void pie_collection_release(void) {
    pthread_mutex_unlock(&collection.work);
}

void pie_collection_forget(void) {
    memset(&collection, 0, sizeof collection);
    pie_own_cost_forget();
    pie_ending_forget();
    pie_collectors_forget();
    pie_code_forget_unloading();
    pie_decode_set_range(NULL, NULL);
}

int pie_collection_write_error(void) {
    return collection.flush ? pie_flush_error(collection.flush) : 0;
}

int64_t pie_collection_run_id(void) {
    return collection.flush ? pie_flush_run_id(collection.flush) : 0;
}
