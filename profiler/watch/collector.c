/* SPDX-License-Identifier: Apache-2.0 */

/* The collector of redundant loads and stores: samples of accesses, watches, what comes of them. */

#include "profiler/watch/collector.h"

#include "profiler/govern/governor.h"
#include "profiler/ports/config.h"
#include "profiler/ports/facts.h"
#include "profiler/ports/sink.h"
#include "profiler/stacks/cct.h"
#include "profiler/time/sample_ring.h"
#include "profiler/thread/thread.h"
#include "profiler/time/collector.h"
#include "profiler/time/thread.h"
#include "profiler/watch/debug_registers.h"
#include "profiler/watch/drain.h"
#include "profiler/watch/internal.h"
#include "profiler/watch/sampler.h"
#include "profiler/watch/setup.h"
#include "profiler/watch/watch.h"

#include <errno.h>

/* Of the collection thread. Fork child: forget(). */
static struct {
    uint64_t period_ns;
    struct pie_watch_drain *drain;
    uint64_t ended_ns, spent_ns; /* on watching: by threads that have ended; by the others at the last look */
} state;

static int begin(struct pie_collection *collection) {
    const struct pie_config *config = collection->config;
    const struct pie_clock_facts *facts;
    enum pie_clock_kind clock = pie_time_clock(&facts);
    const struct pie_access_sampler_ops *sampler =
        pie_watch_set_up(config, collection->ops, facts, clock, collection->facts->take_signal,
                         &collection->methods.sampler_note);

    collection->methods.sampler = sampler->name;
    state.period_ns = config->period_ns;
    int r = sampler == &pie_access_sampler_none ? -ENOTSUP
                                                : pie_watch_drain_create(collection->ops, collection->naming,
                                                                         config->fp_tolerance, &state.drain);
    if (r < 0) {
        pie_watch_set(NULL);
        return r;
    }
    pie_access_sampler_set_current(sampler);
    return 0;
}

static void stop(void) {
    pie_watch_set(NULL);
}

static void end(void) {
    for (size_t i = 0; i < pie_thread_count(); i++)
        pie_watch_drain_thread_ended(state.drain, i);
}

static void forget(void) {
    state.drain = NULL;
    state.ended_ns = state.spent_ns = 0;
    pie_watch_allow(0);
    pie_access_sampler_set_current(NULL);
    pie_watch_set(NULL);
    pie_access_samplers_forget();
}

/* --- Threads --- */

static uint64_t rate_hz(void) {
    return 1000000000 / state.period_ns;
}

static int arm(struct pie_thread *thread) {
    return pie_access_sampler_current()->arm(thread, rate_hz());
}

static void disarm(struct pie_thread *thread) {
    pie_access_sampler_current()->disarm(thread);
}

static void adapt(struct pie_thread *thread, size_t slot) {
    pie_access_sampler_current()->adapt(thread, rate_hz());
}

static uint64_t spent_of(const struct pie_thread *thread) {
    return atomic_load_explicit(&pie_watch_of(thread)->spent_ns, memory_order_relaxed);
}

static void spent(uint64_t spent_ns[PIE_COSTS]) {
    spent_ns[PIE_COST_WATCHES] += state.ended_ns;
    for (size_t i = 0; i < pie_thread_count(); i++)
        if (pie_thread_state(pie_thread_at(i)) == PIE_THREAD_RUNNING)
            spent_ns[PIE_COST_WATCHES] += spent_of(pie_thread_at(i));
}

static void govern(const struct pie_governor *governor) {
    pie_watch_allow(pie_governor_share(governor, PIE_COST_WATCHES));
    pie_watch_drain_learn_within(state.drain, pie_governor_earned_ns(governor, PIE_COST_WATCHES));
}

static void sample(const struct pie_thread *thread, size_t slot, const struct pie_record *record) {
    pie_watch_drain_sample(state.drain, record->node, record->user_ns + record->system_ns);
}

static void drain(struct pie_thread *thread, size_t slot) {
    pie_watch_drain_thread(state.drain, thread, slot);
}

static void look(struct pie_thread *thread, size_t slot) {
    pie_debug_hidden_serve(thread);
}

static void ended(struct pie_thread *thread, size_t slot) {
    pie_watch_drain_thread_ended(state.drain, slot);
    pie_debug_hidden_close(thread);
}

static void code_changed(void) {
    pie_watch_drain_forget_code(state.drain);
}

/* --- A flush --- */

static void flush_begins(void) {
    state.spent_ns = 0;
}

static void thread_row(const struct pie_thread *thread, size_t slot, bool has_ended,
                       struct pie_thread_row *row) {
    *(has_ended ? &state.ended_ns : &state.spent_ns) += spent_of(thread);
}

static void prepare(bool is_last) {
    if (!is_last)
        pie_watch_check_debugger();
}

static int write_watches(struct pie_sink *sink) {
    size_t count;
    const struct pie_watch_row *rows = pie_watch_drain_rows(state.drain, &count);
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++)
        r = sink->ops->put_watch(sink, &rows[i]);
    return r;
}

static int write_overhead(struct pie_sink *sink) {
    return sink->ops->put_overhead(sink, "redundancy", state.ended_ns + state.spent_ns,
                                   1e9 / (double)state.period_ns);
}

static void clear(void) {
    pie_watch_drain_clear(state.drain);
}

/* --- A turn of the trees --- */

static void move_thread(struct pie_thread *thread, pie_move_word_fn move, void *data) {
    for (int i = 0; i < PIE_DEBUG_REGISTERS; i++) {
        struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[i];
        move(data, &slot->first_node);
        move(data, &slot->touch.first_node);
        move(data, &slot->touch.second_node);
    }
}

static void move(pie_moved_fn moved, void *data) {
    pie_watch_drain_move(state.drain, moved, data);
}

static bool holds(struct pie_node_id node) {
    return pie_watch_drain_holds(state.drain, node);
}

static void forget_nodes(void) {
    pie_watch_drain_forget(state.drain);
}

const struct pie_collector pie_watch_collector = {
    .name = "redundancy",
    .part = &pie_watch_part,
    .begin = begin,
    .stop = stop,
    .end = end,
    .forget = forget,
    .after_sample = pie_watch_after_sample,
    .arm = arm,
    .disarm = disarm,
    .sample = sample,
    .drain = drain,
    .look = look,
    .ended = ended,
    .adapt = adapt,
    .spent = spent,
    .govern = govern,
    .code_changed = code_changed,
    .flush_begins = flush_begins,
    .thread_row = thread_row,
    .prepare = prepare,
    .write = write_watches,
    .write_overhead = write_overhead,
    .clear = clear,
    .move_thread = move_thread,
    .move = move,
    .holds = holds,
    .forget_nodes = forget_nodes,
};
