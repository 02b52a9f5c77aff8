/* SPDX-License-Identifier: Apache-2.0 */

/* The collector of time: clocks for threads, sums of their samples, time off the CPU. */

#include "profiler/time/collector.h"

#include "profiler/base/clocks.h"
#include "profiler/base/counters.h"
#include "profiler/base/random.h"
#include "profiler/machine/throttle.h"
#include "profiler/govern/governor.h"
#include "profiler/govern/period.h"
#include "profiler/machine/clock_choice.h"
#include "profiler/ports/config.h"
#include "profiler/ports/sink.h"
#include "profiler/symbols/naming.h"
#include "profiler/thread/lock_holders.h"
#include "profiler/thread/thread.h"
#include "profiler/time/aggregate.h"
#include "profiler/time/clock.h"
#include "profiler/time/clock_begin.h"
#include "profiler/time/clock_perf.h"
#include "profiler/time/clock_price.h"
#include "profiler/time/clock_timer.h"
#include "profiler/time/pools.h"
#include "profiler/time/sample.h"
#include "profiler/time/tasks.h"
#include "profiler/time/thread.h"
#include "profiler/time/wait.h"
#include "profiler/time/wait_files.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Periods are looked at as often as this (profiler/collect/collection.c). */
static const double ADAPT_NS = 1e8;

enum { SAMPLES_A_MEAN = 50 };

/* Until a thread is looked at, its samples are no further apart than this number of periods. */
enum { YOUNG_PERIODS = 2 };

/* CPU time of the program's threads that is ours. */
struct costs {
    uint64_t handlers_ns, caches_ns, switches_ns;
    uint64_t reloads_ns, trap_caches_ns; /* of caches_ns, what samples emptied, and traps */
    uint64_t samples;
};

/* Of the collection thread. Fork child: forget(). */
static struct {
    const struct pie_collection *collection;
    struct pie_clock_facts facts;
    enum pie_clock_kind kind;
    struct pie_aggregate aggregate;
    struct pie_throttle throttle;
    struct pie_wait *waits; /* by slot */
    size_t n_waits;
    size_t last_holder;              /* slot of the thread that was last found to hold a lock */
    struct costs ended_costs, costs; /* of threads that have ended; of the others at the last look */
    uint64_t sample_ns;              /* what a sample has cost on average; 0: not known yet */
    uint64_t random;
    bool takes_ticks; /* of the process's timer */
} state;

static bool make_room(size_t slot) {
    if (slot < state.n_waits)
        return true;
    size_t n = slot + 64;
    struct pie_wait *grown = realloc(state.waits, n * sizeof *grown);
    if (!grown)
        return false;
    memset(grown + state.n_waits, 0, (n - state.n_waits) * sizeof *grown);
    state.waits = grown;
    state.n_waits = n;
    return true;
}

/* NULL: there was no room yet. */
static struct pie_wait *wait_of(size_t slot) {
    return slot < state.n_waits ? &state.waits[slot] : NULL;
}

static int begin(struct pie_collection *collection) {
    state.collection = collection;
    if (getrandom(&state.random, sizeof state.random, GRND_NONBLOCK) < 0 || state.random == 0)
        state.random = pie_monotonic_ns() | 1;
    pie_clock_facts_gather(&state.facts);
    state.kind =
        pie_clock_begin(collection->config, collection->facts, &state.facts, &collection->methods.clock_note);
    collection->methods.clock = pie_clock_name(state.kind);
    state.throttle.open_kept = pie_wait_files_open;
    pie_throttle_begin(&state.throttle, pie_monotonic_ns());
    return 0;
}

enum pie_clock_kind pie_time_clock(const struct pie_clock_facts **ret_facts) {
    *ret_facts = &state.facts;
    return state.kind;
}

static void forget(void) {
    memset(&state, 0, sizeof state);
    pie_clock_set_current(NULL);
    pie_clock_perf_forget();
    pie_clock_timer_forget();
    pie_clock_itimer_forget();
    pie_wait_resources_forget();
    pie_task_names_forget();
    pie_pools_forget();
}

/* The process's timer counts this thread's time too, and its signal goes to the thread that runs when it expires. Were
 * it blocked here another would get it, perhaps one that sleeps, whose call would end with EINTR. A handler may have
 * closed it (runtime/libc/signals_sigsafe.c). The system call: the program's pthread_sigmask() would not do it. */
static void round_begins(void) {
    uint64_t bit = UINT64_C(1) << (SIGPROF - 1);
    bool takes = pie_clock_current() == &pie_clock_itimer, took = state.takes_ticks;

    state.takes_ticks = takes;
    if (takes || took)
        syscall(SYS_rt_sigprocmask, takes ? SIG_UNBLOCK : SIG_BLOCK, &bit, NULL, sizeof bit);
}

/* --- Threads --- */

/* Not in step with what the program does. */
static uint64_t drawn_ns(struct pie_thread *thread, uint64_t mean_ns) {
    return pie_period_draw_ns(&pie_time_of(thread)->period, mean_ns, state.collection->config->period_ns,
                              &state.random);
}

static void disarm(struct pie_thread *thread) {
    const struct pie_clock_ops *clock = pie_clock_current();

    if (clock)
        clock->disarm(thread);
}

static void meet(const struct pie_thread *thread, size_t slot) {
    pie_wait_meet(wait_of(slot), thread);
}

static bool next_sample(struct pie_thread *thread, struct pie_record *ret_record) {
    return pie_ring_pop(&pie_time_of(thread)->ring, ret_record);
}

static void sample(const struct pie_thread *thread, size_t slot, const struct pie_record *record) {
    pie_wait_sample(wait_of(slot), record);
    pie_pools_sample(thread, record);
    if (pie_aggregate_add_sample(&state.aggregate, thread->id, record) < 0)
        pie_counter_add(PIE_COUNTER_OUT_OF_MEMORY, 1);
}

/* What its clock costs at each switch is in no handler's time. */
static void charge_switches(struct pie_thread *thread, struct pie_wait *wait) {
    const struct pie_clock_price *price = pie_clock_price_known();
    bool is_long = wait->is_seldom || state.collection->config->period_ns >= PIE_CLOCK_LONG_PERIOD_NS;
    uint64_t switches = pie_wait_switches(wait);

    if (!price)
        return;
    uint64_t cost_ns = switches * (is_long ? price->long_switch_ns : price->switch_ns);
    atomic_fetch_add_explicit(&thread->switches_ns, cost_ns, memory_order_relaxed);
}

static bool is_holder(const struct pie_thread *thread, const struct pie_wait_holder *holder) {
    return (holder->tid && thread->tid == holder->tid) ||
           (holder->tstate &&
            atomic_load_explicit(&thread->tstate, memory_order_relaxed) == holder->tstate) ||
           (holder->id_bits && (thread->id & ((1u << PIE_LOCK_HOLDER_BITS) - 1)) == holder->id_bits);
}

/* Only of threads that were looked at. */
static bool is_slot_of(size_t slot, const struct pie_wait_holder *holder) {
    const struct pie_thread *thread = pie_thread_at(slot);

    return pie_thread_state(thread) == PIE_THREAD_RUNNING && state.waits[slot].thread_id == thread->id &&
           is_holder(thread, holder);
}

/* Many threads may wait for one. */
static void find_holder(struct pie_wait_holder *holder) {
    size_t slots = pie_thread_count() < state.n_waits ? pie_thread_count() : state.n_waits, slot = 0;

    if (state.last_holder < slots && is_slot_of(state.last_holder, holder))
        slot = state.last_holder;
    while (slot < slots && !is_slot_of(slot, holder))
        slot++;
    if (slot == slots)
        return;
    state.last_holder = slot;
    holder->slot = (uint32_t)slot + 1;
    holder->id = pie_thread_at(slot)->id;
}

static struct pie_cct_id peer(struct pie_wait_holder *holder) {
    if (!holder->slot)
        find_holder(holder);
    const struct pie_wait *wait = holder->slot ? &state.waits[holder->slot - 1] : NULL;
    return wait && wait->thread_id == holder->id ? wait->known_node : (struct pie_cct_id){0};
}

static void stood(struct pie_thread *thread, size_t slot, uint64_t until_ns) {
    if (state.collection->config->has_time && wait_of(slot))
        pie_wait_stood(wait_of(slot), thread, peer, &state.aggregate, until_ns);
}

/* The kernel arms a timer for an event when it gives the thread a processor, and takes it back when it takes that: in a
 * virtual machine this costs as much as a signal, some 20 us. A thread that changes thousands of times a second, as one
 * that starts short threads does, would cost most by that. A timer that is due after the kernel's next tick costs next
 * to nothing. A sample stands for all time since the last, so only details get fewer. Not with `perf-user`, which takes
 * for system time what exceeds a period. */
static const struct pie_clock_price *switching_price(const struct pie_thread *thread,
                                                     const struct pie_wait *wait) {
    bool is_dear = pie_clock_current() == &pie_clock_perf && wait && wait->thread_id == thread->id;

    return is_dear ? pie_clock_price_known() : NULL;
}

static bool is_seldom(const struct pie_thread *thread, struct pie_wait *wait, uint64_t period_ns) {
    const struct pie_clock_price *price = switching_price(thread, wait);

    if (!price)
        return false;
    uint64_t permille = pie_wait_switching_permille(wait, price->switch_ns, pie_monotonic_ns());
    wait->is_seldom = period_ns >= PIE_CLOCK_LONG_PERIOD_NS ||
                      (double)permille > 1000 * pie_governor_switching(state.collection->governor);
    return wait->is_seldom;
}

/* What it has had since the last look at periods is too much already: five times that until the next one. */
static void slow_down(struct pie_thread *thread, struct pie_wait *wait) {
    const struct pie_clock_price *price = switching_price(thread, wait);

    if (!price || wait->is_seldom ||
        (double)(pie_wait_switches_of_late(wait) * price->switch_ns) <=
            ADAPT_NS * pie_governor_switching(state.collection->governor))
        return;
    wait->is_seldom = true;
    pie_clock_current()->set_period(thread, PIE_CLOCK_LONG_PERIOD_NS);
}

static void look(struct pie_thread *thread, size_t slot) {
    if (!state.collection->config->has_time)
        return;
    pie_wait_tick(wait_of(slot), thread, state.collection->ops, peer, &state.throttle, &state.aggregate);
    charge_switches(thread, wait_of(slot));
    slow_down(thread, wait_of(slot));
}

static void ended(struct pie_thread *thread, size_t slot) {
    if (!state.collection->config->has_time)
        return;
    pie_wait_end(wait_of(slot), thread, &state.throttle, &state.aggregate);
    charge_switches(thread, wait_of(slot));
}

static bool is_still(const struct pie_thread *thread, size_t slot) {
    const struct pie_wait *wait = wait_of(slot);

    return wait && wait->is_still && wait->thread_id == thread->id &&
           wait->samples == atomic_load_explicit(&thread->samples, memory_order_relaxed);
}

static uint64_t last_cpu_ns(const struct pie_thread *thread, size_t slot) {
    const struct pie_wait *wait = wait_of(slot);

    return wait && wait->thread_id == thread->id ? wait->last_cpu_ns : thread->cpu_last_ns;
}

static uint64_t sampling_ns(const struct pie_thread *thread) {
    return atomic_load_explicit(&thread->overhead_ns, memory_order_relaxed) +
           atomic_load_explicit(&thread->samples, memory_order_relaxed) * pie_clock_reload_ns();
}

/* Within what samples may cost. The kernel's ticks are the period of the other clocks, which cost too little to be
 * stretched. */
static uint64_t mean_ns(struct pie_thread *thread) {
    const struct pie_governor *governor = state.collection->governor;
    uint64_t shortest_ns = state.collection->config->period_ns;
    struct pie_period *period = &pie_time_of(thread)->period;

    if (pie_clock_current() != &pie_clock_perf)
        return shortest_ns;
    if (!period->mean_ns)
        period->mean_ns = state.sample_ns;
    return pie_period_mean_ns(period, atomic_load_explicit(&thread->samples, memory_order_relaxed),
                              sampling_ns(thread), shortest_ns,
                              pie_governor_share(governor, PIE_COST_SAMPLES), pie_governor_stretch(governor));
}

/* A thread that ends before its first sample has no line at all: that one is near. */
static int arm(struct pie_thread *thread) {
    const struct pie_clock_ops *clock = pie_clock_current();
    uint64_t most_ns = YOUNG_PERIODS * state.collection->config->period_ns, wanted_ns = mean_ns(thread);

    return clock ? clock->arm(thread, drawn_ns(thread, wanted_ns < most_ns ? wanted_ns : most_ns)) : 0;
}

static uint64_t period_of(struct pie_thread *thread, struct pie_wait *wait) {
    struct pie_time_thread *own = pie_time_of(thread);
    uint64_t period_ns = mean_ns(thread);

    if (own->wants_near && pie_governor_has_room(state.collection->governor, PIE_COST_SAMPLES)) {
        period_ns = state.collection->config->period_ns;
        own->wants_near = false;
    }
    uint64_t drawn = drawn_ns(thread, period_ns);
    return is_seldom(thread, wait, drawn) && drawn < PIE_CLOCK_LONG_PERIOD_NS ? PIE_CLOCK_LONG_PERIOD_NS
                                                                              : drawn;
}

static void adapt(struct pie_thread *thread, size_t slot) {
    const struct pie_clock_ops *clock = pie_clock_current();

    if (clock)
        clock->set_period(thread, period_of(thread, wait_of(slot)));
}

static void add_costs(const struct pie_thread *thread, struct costs *costs) {
    costs->handlers_ns += atomic_load_explicit(&thread->overhead_ns, memory_order_relaxed);
    costs->caches_ns += atomic_load_explicit(&thread->caches_ns, memory_order_relaxed);
    costs->switches_ns += atomic_load_explicit(&thread->switches_ns, memory_order_relaxed);
    uint64_t samples = atomic_load_explicit(&thread->samples, memory_order_relaxed);
    costs->samples += samples;
    costs->reloads_ns += samples * pie_clock_reload_ns();
    costs->trap_caches_ns += atomic_load_explicit(&thread->trap_caches_ns, memory_order_relaxed);
}

/* Who empties the caches pays for them: samples, traps, and sampled allocations, which have the rest. */
static void spent(uint64_t spent_ns[PIE_COSTS]) {
    struct costs all = state.ended_costs;

    for (size_t i = 0; i < pie_thread_count(); i++)
        if (pie_thread_state(pie_thread_at(i)) == PIE_THREAD_RUNNING)
            add_costs(pie_thread_at(i), &all);
    uint64_t paid_ns = all.reloads_ns + all.trap_caches_ns;
    state.sample_ns = all.samples >= SAMPLES_A_MEAN ? (all.handlers_ns + all.reloads_ns) / all.samples : 0;
    spent_ns[PIE_COST_SAMPLES] += all.handlers_ns + all.reloads_ns;
    spent_ns[PIE_COST_WATCHES] += all.trap_caches_ns;
    spent_ns[PIE_COST_MEMORY] += all.caches_ns > paid_ns ? all.caches_ns - paid_ns : 0;
    spent_ns[PIE_COST_OTHER] += all.switches_ns;
}

/* --- A flush --- */

static void settle_pools(void) {
    pie_pools_settle(&state.aggregate);
}

static void flush_begins(void) {
    state.costs = (struct costs){0};
    settle_pools(); /* of threads that have ended since the tick */
}

static void thread_row(const struct pie_thread *thread, size_t slot, bool has_ended,
                       struct pie_thread_row *row) {
    add_costs(thread, has_ended ? &state.ended_costs : &state.costs);
    if (row && state.collection->config->has_time && wait_of(slot))
        pie_wait_totals(wait_of(slot), thread, row);
}

static void name_nodes(void) {
    for (size_t i = 0; i < state.aggregate.count; i++)
        pie_naming_node(state.collection->naming, state.aggregate.rows[i].node);
    for (size_t i = 0; i < state.aggregate.n_waits; i++) {
        const struct pie_wait_reason *reason = &state.aggregate.waits[i].reason;
        if (reason->peer.value)
            pie_naming_node(state.collection->naming, reason->peer);
        if (reason->coroutine.value)
            pie_naming_node(state.collection->naming, reason->coroutine);
    }
    for (size_t i = 0; i < state.aggregate.n_tasks; i++)
        if (state.aggregate.tasks[i].coroutine.value)
            pie_naming_node(state.collection->naming, state.aggregate.tasks[i].coroutine);
}

static int write_waits(struct pie_sink *sink, const struct pie_aggregate_row *of, struct pie_node_id node) {
    int r = 0;

    for (uint32_t i = of->waits; i && r == 0; i = state.aggregate.waits[i - 1].next) {
        const struct pie_aggregate_wait *wait = &state.aggregate.waits[i - 1];
        struct pie_wait_row row = {
            .thread = of->sums.thread,
            .node = node,
            .cause = wait->reason.cause,
            .resource = pie_wait_resource(wait->reason.resource),
            .holds_gil = wait->reason.holds_gil,
            .wait_ns = wait->wait_ns,
            .looks = wait->looks,
        };
        if (wait->reason.peer.value)
            row.peer = pie_naming_node(state.collection->naming, wait->reason.peer);
        r = sink->ops->put_wait(sink, &row);
    }
    return r;
}

static int write_tasks(struct pie_sink *sink, const struct pie_aggregate_row *of, struct pie_node_id node) {
    int r = 0;

    for (uint32_t i = of->waits; i && r == 0; i = state.aggregate.waits[i - 1].next) {
        const struct pie_aggregate_wait *wait = &state.aggregate.waits[i - 1];
        if (!wait->reason.coroutine.value)
            continue;
        const struct pie_task_row row = {
            .thread = of->sums.thread,
            .node = node,
            .coroutine = pie_naming_node(state.collection->naming, wait->reason.coroutine),
            .cause = wait->reason.cause,
            .name = pie_task_names_get(wait->reason.task),
            .wait_ns = wait->wait_ns,
        };
        r = sink->ops->put_task(sink, &row);
    }
    return r;
}

static int write_running_tasks(struct pie_sink *sink, const struct pie_aggregate_row *of,
                               struct pie_node_id node) {
    int r = 0;

    for (uint32_t i = of->tasks; i && r == 0; i = state.aggregate.tasks[i - 1].next) {
        const struct pie_aggregate_task *task = &state.aggregate.tasks[i - 1];
        struct pie_task_row row = {
            .thread = of->sums.thread,
            .node = node,
            .cause = PIE_TASK_RUNS,
            .name = pie_task_names_get(task->name),
            .cpu_ns = task->cpu_ns,
        };
        if (task->coroutine.value)
            row.coroutine = pie_naming_node(state.collection->naming, task->coroutine);
        r = sink->ops->put_task(sink, &row);
    }
    return r;
}

static int write_related(struct pie_sink *sink, const struct pie_aggregate_row *of, struct pie_node_id node) {
    int r = 0;

    for (int kind = 1; kind <= PIE_RELATED_KINDS && r == 0; kind++) {
        const struct pie_related_row row = {.thread = of->sums.thread,
                                            .node = node,
                                            .kind = (enum pie_related_kind)kind,
                                            .time_ns = of->related_ns[kind - 1]};
        if (row.time_ns)
            r = sink->ops->put_related(sink, &row);
    }
    return r;
}

static int write_samples(struct pie_sink *sink) {
    int r = 0;

    for (size_t i = 0; r == 0 && i < state.aggregate.count; i++) {
        struct pie_sample_row row = state.aggregate.rows[i].sums;
        row.node = pie_naming_node(state.collection->naming, state.aggregate.rows[i].node);
        if (row.node.value)
            r = sink->ops->put_sample(sink, &row);
        if (row.node.value && r == 0)
            r = write_waits(sink, &state.aggregate.rows[i], row.node);
        if (row.node.value && r == 0)
            r = write_tasks(sink, &state.aggregate.rows[i], row.node);
        if (row.node.value && r == 0)
            r = write_running_tasks(sink, &state.aggregate.rows[i], row.node);
        if (row.node.value && r == 0)
            r = write_related(sink, &state.aggregate.rows[i], row.node);
    }
    return r;
}

static int write_overhead(struct pie_sink *sink) {
    double rate_hz = 1e9 / (double)state.collection->config->period_ns;
    int r = sink->ops->put_overhead(sink, "time", state.ended_costs.handlers_ns + state.costs.handlers_ns,
                                    rate_hz);

    if (r == 0)
        r = sink->ops->put_overhead(sink, "caches", state.ended_costs.caches_ns + state.costs.caches_ns, 0);
    if (r == 0)
        r = sink->ops->put_overhead(sink, "switches", state.ended_costs.switches_ns + state.costs.switches_ns,
                                    0);
    return r;
}

static void clear(void) {
    pie_aggregate_clear(&state.aggregate);
}

/* --- A turn of the trees --- */

static void move_thread(struct pie_thread *thread, pie_move_word_fn move_word, void *data) {
    move_word(data, &pie_time_of(thread)->last_node);
}

static void move(pie_moved_fn moved, void *data) {
    for (size_t i = 0; i < state.n_waits; i++)
        pie_wait_move(&state.waits[i], moved, data);
}

static bool is_written(void) {
    return state.aggregate.count == 0;
}

const struct pie_collector pie_time_collector = {
    .name = "time",
    .part = &pie_time_part,
    .begin = begin,
    .forget = forget,
    .round_begins = round_begins,
    .sampled = pie_time_sampled,
    .make_room = make_room,
    .arm = arm,
    .disarm = disarm,
    .meet = meet,
    .next_sample = next_sample,
    .sample = sample,
    .stood = stood,
    .look = look,
    .ended = ended,
    .is_still = is_still,
    .last_cpu_ns = last_cpu_ns,
    .adapt = adapt,
    .spent = spent,
    .tick = settle_pools,
    .flush_begins = flush_begins,
    .thread_row = thread_row,
    .name_nodes = name_nodes,
    .write = write_samples,
    .write_overhead = write_overhead,
    .clear = clear,
    .move_thread = move_thread,
    .move = move,
    .is_written = is_written,
};
