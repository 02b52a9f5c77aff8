/* SPDX-License-Identifier: Apache-2.0 */

/* The collector of memory and of copies: what is allocated, held and copied, and where. */

#include "profiler/heap/collector.h"

#include "profiler/govern/governor.h"
#include "profiler/heap/drain.h"
#include "profiler/heap/engine.h"
#include "profiler/ports/config.h"
#include "profiler/ports/facts.h"
#include "profiler/ports/retention.h"
#include "profiler/ports/sink.h"

#include <errno.h>

/* Of the time that one kind of sample may take, one part in these: Python's memory, native memory, crossings,
 * copies. */
enum { PART_MIN = 100, PART_MAX = 500, ASKED_PART_MAX = 4000 };

/* Since configure(); in a forked child too. */
static struct pie_heap_settings settings;

/* Of the collection thread. Fork child: forget(). */
static struct {
    const struct pie_config *config;
    const struct pie_retention_ops *retention; /* NULL: no paths are found */
    struct pie_heap_drain *drain;
} state;

static void configure(const struct pie_config *config, const struct pie_pystack_ops *ops,
                      const struct pie_process_facts *facts) {
    if (!facts->memory || (!config->has_memory && !config->has_copies))
        return;
    settings = (struct pie_heap_settings){
        .ops = ops,
        .has_memory = config->has_memory && facts->memory->is_counted,
        .has_copies = config->has_copies,
        .threshold_bytes = config->threshold_bytes,
        .is_fixed = config->threshold_bytes > 0,
        .is_child = config->is_child,
        .is_frugal = config->is_budget_asked && config->overhead_budget > 0,
        .is_finalizing = facts->memory->is_finalizing,
    };
    pie_heap_set(&settings);
}

static int reserve(void) {
    return pie_heap_settings() ? pie_heap_table_init() : 0;
}

static int begin(struct pie_collection *collection) {
    state.config = collection->config;
    state.retention = collection->facts->memory ? collection->facts->memory->retention : NULL;
    if (!pie_heap_settings())
        return -ENOTSUP;
    int r =
        pie_heap_drain_create(collection->ops, collection->facts->memory, collection->naming, &state.drain);
    if (r < 0)
        pie_heap_set(NULL);
    return r;
}

static void stop(void) {
    pie_heap_set(NULL);
}

static void tick(void) {
    pie_heap_drain_tick(state.drain);
}

static void forget(void) {
    state.drain = NULL;
}

static void drain(struct pie_thread *thread, size_t slot) {
    pie_heap_drain_thread(state.drain, thread);
}

static void drain_idle(struct pie_thread *thread) {
    pie_heap_drain_slot(state.drain, thread);
}

static uint64_t retention_ns(void) {
    return state.retention ? state.retention->spent_ns() : 0;
}

static void spent(uint64_t spent_ns[PIE_COSTS]) {
    uint64_t memory_ns, copies_ns;

    pie_heap_drain_spent(state.drain, &memory_ns, &copies_ns);
    spent_ns[PIE_COST_MEMORY] += memory_ns;
    spent_ns[PIE_COST_COPIES] += copies_ns;
    spent_ns[PIE_COST_COUNTING] += pie_heap_drain_counting_ns(state.drain);
    spent_ns[PIE_COST_OTHER] += retention_ns();
}

/* The part of a thread's wall time for each kind of sample. Seldom all kinds take theirs; then the share becomes less.
 * More seldom than part_max, a line's figures would be guesses. Under a budget that the user named, they are that where
 * nothing is left: the names and rows of a sample's context cost ten times what its handler does. */
static uint32_t part_of(double share, double part_max) {
    double part = share > 0 ? 1 / share : PART_MIN;

    return (uint32_t)(part < PART_MIN ? PART_MIN : part > part_max ? part_max : part);
}

static void govern(const struct pie_governor *governor) {
    double part_max = (governor->is_asked ? ASKED_PART_MAX : PART_MAX) * pie_governor_scarcity(governor);

    pie_heap_allow(part_of(pie_governor_share(governor, PIE_COST_MEMORY), part_max),
                   part_of(pie_governor_share(governor, PIE_COST_COPIES), part_max));
    pie_heap_drain_count_share(state.drain, governor->counted);
}

/* --- A flush --- */

static void prepare(bool is_last) {
    pie_heap_drain_prepare(state.drain, is_last);
}

static int write_memory(struct pie_sink *sink) {
    return pie_heap_drain_write(state.drain, sink);
}

static int write_overhead(struct pie_sink *sink) {
    uint64_t memory_ns, copies_ns;
    int r = 0;

    pie_heap_drain_spent(state.drain, &memory_ns, &copies_ns);
    if (state.config->has_memory)
        r = sink->ops->put_overhead(sink, "memory", memory_ns, 0);
    if (r == 0 && state.config->has_memory)
        r = sink->ops->put_overhead(sink, "counting", pie_heap_drain_counting_ns(state.drain), 0);
    if (r == 0 && retention_ns())
        r = sink->ops->put_overhead(sink, "retention paths", retention_ns(), 0);
    if (r == 0 && state.config->has_copies)
        r = sink->ops->put_overhead(sink, "copies", copies_ns, 0);
    return r;
}

static void clear(void) {
    pie_heap_drain_clear(state.drain);
}

/* --- A turn of the trees --- */

static void complete(void) {
    pie_heap_drain_complete(state.drain);
}

static void move_thread(struct pie_thread *thread, pie_move_word_fn move, void *data) {
    move(data, &pie_heap_of(thread)->copied_node);
}

static bool holds(struct pie_node_id node) {
    return pie_heap_drain_holds(state.drain, node);
}

static void forget_nodes(void) {
    pie_heap_drain_forget(state.drain);
}

const struct pie_collector pie_heap_collector = {
    .name = "memory",
    .part = &pie_heap_part,
    .configure = configure,
    .reserve = reserve,
    .begin = begin,
    .stop = stop,
    .end = tick,
    .finish = pie_heap_take_rest,
    .forked = pie_heap_forget,
    .forget = forget,
    .own_thread = pie_heap_own_thread,
    .drain = drain,
    .drain_idle = drain_idle,
    .spent = spent,
    .govern = govern,
    .tick = tick,
    .prepare = prepare,
    .write = write_memory,
    .write_overhead = write_overhead,
    .clear = clear,
    .complete = complete,
    .move_thread = move_thread,
    .holds = holds,
    .forget_nodes = forget_nodes,
};
