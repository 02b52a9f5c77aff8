/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/collect/flush.h"

#include "profiler/base/clocks.h"
#include "profiler/base/counters.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/proc_file.h"
#include "profiler/copies/loop_drain.h"
#include "profiler/heap/drain.h"
#include "profiler/learn/learn.h"
#include "profiler/ports/config.h"
#include "profiler/ports/facts.h"
#include "profiler/process/ends.h"
#include "profiler/process/environment.h"
#include "profiler/process/table.h"
#include "profiler/symbols/naming.h"
#include "profiler/thread/thread.h"
#include "profiler/time/aggregate.h"
#include "profiler/time/clock.h"
#include "profiler/time/wall.h"
#include "profiler/watch/drain.h"
#include "profiler/watch/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { NAME_BYTES = sizeof((struct pie_thread *)0)->name };

struct thread_state {
    struct pie_thread_row row;
    char name[NAME_BYTES];
};

/* CPU time of the program's threads that is ours. */
struct costs {
    uint64_t handlers_ns, watching_ns, caches_ns, switches_ns;
};

struct pie_flush {
    struct pie_collector_setup setup;
    struct pie_naming *naming;
    struct pie_sink *sink; /* NULL: not open yet, or given up */
    struct pie_flush_methods methods;
    int64_t started_ns; /* CLOCK_REALTIME */
    int64_t since_ns;   /* CLOCK_REALTIME: what is not written yet was measured from then on */
    int32_t parent_pid; /* valid with is_child */
    bool is_child;      /* not the first process of the run */
    bool failed;        /* the sink is given up */
    bool suspended;
    struct thread_state *threads; /* to be written next */
    size_t n_threads, room;
    uint64_t short_threads;          /* that have been written */
    struct costs ended_costs, costs; /* of threads that have ended; of the others at the last look */
    _Atomic int64_t run_id;
    _Atomic int error; /* -errno that made it give up, or of the last commit */
};

int pie_flush_create(const struct pie_collector_setup *setup, struct pie_flush **ret_flush) {
    struct pie_flush *flush = pie_calloc(1, sizeof *flush);

    if (!flush)
        return -ENOMEM;
    flush->setup = *setup;
    flush->started_ns = flush->since_ns = pie_realtime_ns();
    int r = pie_naming_create(setup->ops, &flush->naming);
    if (r < 0) {
        pie_free(flush);
        return r;
    }
    *ret_flush = flush;
    return 0;
}

void pie_flush_begin(struct pie_flush *flush, const struct pie_flush_methods *methods) {
    flush->methods = *methods;
}

struct pie_naming *pie_flush_naming(struct pie_flush *flush) {
    return flush->naming;
}

static void give_up(struct pie_flush *flush, int error) {
    atomic_store_explicit(&flush->error, error, memory_order_relaxed);
    pie_counter_add(PIE_COUNTER_SINK_ERRORS, 1);
    flush->failed = true;
    pie_process_lost(error);
}

/* The parent may be dead by now. */
static int32_t forked_by(void) {
    const struct pie_process_entry *entry = pie_process_own();

    return entry ? entry->parent_pid : (int32_t)getppid();
}

void pie_flush_open(struct pie_flush *flush) {
    const struct pie_config *config = flush->setup.config;
    const struct pie_process_facts *facts = flush->setup.facts;
    struct pie_config own = *config;
    int64_t run_id = 0;

    if (flush->sink || flush->failed)
        return;
    own.is_child = config->is_child || flush->setup.is_fork;
    int r = flush->setup.open_sink(&own, &flush->sink);
    if (r < 0) {
        flush->sink = NULL;
        give_up(flush, r);
        return;
    }
    flush->sink->waiters = flush->setup.waiters;
    flush->sink->made_source = flush->setup.facts->made_source;
    struct pie_process_row row = {
        .pid = (int32_t)getpid(),
        .parent_pid = flush->setup.is_fork ? forked_by() : config->parent_pid,
        .is_child = own.is_child,
        .run_id = flush->setup.is_fork ? pie_engine_run_id() : config->run_id,
        .started_ns = flush->started_ns,
        .argv = config->keep_argv ? facts->argv : NULL,
        .executable = facts->executable,
        .clock = flush->methods.clock,
        .clock_note = flush->methods.clock_note,
        .sampler = flush->methods.sampler,
        .sampler_note = flush->methods.sampler_note,
        .period_ns = config->period_ns,
    };
    r = flush->sink->ops->begin_process(flush->sink, &row, &run_id);
    if (r == 0)
        r = pie_environment_put(flush->sink, facts);
    if (r < 0) {
        give_up(flush, r);
        return;
    }
    flush->parent_pid = row.parent_pid;
    flush->is_child = row.is_child;
    pie_process_has_row();
    atomic_store_explicit(&flush->run_id, run_id, memory_order_release);
}

int64_t pie_flush_age_ns(const struct pie_flush *flush) {
    return pie_realtime_ns() - flush->started_ns;
}

bool pie_flush_is_open(const struct pie_flush *flush) {
    return flush && flush->sink && !flush->suspended;
}

bool pie_flush_is_untouched(const struct pie_flush *flush) {
    return !flush->sink && !flush->failed;
}

void pie_flush_suspend(struct pie_flush *flush) {
    if (!pie_flush_is_open(flush))
        return;
    flush->sink->ops->suspend(flush->sink);
    flush->suspended = true;
}

static void read_name(int32_t tid, char name[NAME_BYTES]) {
    if (pie_proc_read_task(tid, "comm", name, NAME_BYTES) <= 0)
        name[0] = '\0';
    name[strcspn(name, "\n")] = '\0';
}

static struct thread_state *note_thread(struct pie_flush *flush, struct pie_thread *thread) {
    if (flush->n_threads == flush->room) {
        size_t room = flush->room ? flush->room * 2 : 16;
        struct thread_state *grown = pie_realloc(flush->threads, room * sizeof *grown);
        if (!grown)
            return NULL;
        flush->threads = grown;
        flush->room = room;
    }
    struct thread_state *state = &flush->threads[flush->n_threads++];
    *state = (struct thread_state){
        .row =
            {
                .id = thread->id,
                .tid = thread->tid,
                .is_main = thread->is_main,
                .started_ns = thread->started_real_ns,
                .samples = atomic_load_explicit(&thread->samples, memory_order_relaxed),
            },
    };
    return state;
}

static void add_costs(struct costs *costs, const struct pie_thread *thread) {
    costs->handlers_ns += atomic_load_explicit(&thread->overhead_ns, memory_order_relaxed);
    costs->watching_ns += atomic_load_explicit(&pie_watch_of(thread)->spent_ns, memory_order_relaxed);
    costs->caches_ns += atomic_load_explicit(&thread->caches_ns, memory_order_relaxed);
    costs->switches_ns += atomic_load_explicit(&thread->switches_ns, memory_order_relaxed);
}

/* acquire: pairs with pie_thread_end(), which a thread that has just gone has been through. */
static uint64_t cpu_so_far(const struct pie_thread *thread) {
    uint64_t cpu_ns = pie_thread_cpu_of(thread->tid);

    if (cpu_ns == 0 && pie_thread_state(thread) == PIE_THREAD_ENDED)
        return thread->ended_cpu_ns;
    return cpu_ns;
}

void pie_flush_thread(struct pie_flush *flush, struct pie_thread *thread, const struct pie_wall *wall) {
    struct thread_state *state = note_thread(flush, thread);

    if (!state)
        return;
    if (thread->name[0])
        memcpy(state->name, thread->name, NAME_BYTES);
    else
        read_name(thread->tid, state->name);
    uint64_t cpu_ns = cpu_so_far(thread);
    state->row.cpu_ns = cpu_ns > thread->started_cpu_ns ? cpu_ns - thread->started_cpu_ns : 0;
    state->row.wall_ns = pie_monotonic_ns() - atomic_load_explicit(&thread->started_ns, memory_order_relaxed);
    if (wall)
        pie_wall_totals(wall, thread, &state->row);
    add_costs(&flush->costs, thread);
}

void pie_flush_thread_ended(struct pie_flush *flush, struct pie_thread *thread, const struct pie_wall *wall) {
    struct thread_state *state = note_thread(flush, thread);

    add_costs(&flush->ended_costs, thread);
    if (!state)
        return;
    memcpy(state->name, thread->name[0] ? thread->name : thread->kernel_name,
           thread->name[0] ? NAME_BYTES : sizeof thread->kernel_name);
    state->row.cpu_ns = thread->ended_cpu_ns - thread->started_cpu_ns;
    state->row.wall_ns = thread->ended_ns - atomic_load_explicit(&thread->started_ns, memory_order_relaxed);
    if (flush->setup.config->time)
        pie_wall_totals(wall, thread, &state->row);
    state->row.ended_ns = thread->started_real_ns + (int64_t)state->row.wall_ns;
}

static int write_threads(struct pie_flush *flush) {
    int r = 0;

    for (size_t i = 0; r == 0 && i < flush->n_threads; i++) {
        struct thread_state *state = &flush->threads[i];
        state->row.name = state->name;
        r = flush->sink->ops->put_thread(flush->sink, &state->row);
    }
    return r;
}

/* One row for all threads that ended before they had a clock. */
static int write_short_threads(struct pie_flush *flush) {
    struct pie_short_threads shorts;

    pie_threads_short(&shorts);
    if (shorts.count == flush->short_threads)
        return 0;
    flush->short_threads = shorts.count;
    const struct pie_thread_row row = {
        .id = PIE_THREADS_SHORT,
        .name = "(short threads)",
        .started_ns = shorts.first_started_ns,
        .ended_ns = shorts.last_ended_ns,
        .cpu_ns = shorts.cpu_ns,
        .wall_ns = shorts.wall_ns,
        .folded = shorts.count,
    };
    return flush->sink->ops->put_thread(flush->sink, &row);
}

static int write_samples(struct pie_flush *flush, const struct pie_aggregate *aggregate) {
    int r = 0;

    for (size_t i = 0; r == 0 && i < aggregate->count; i++) {
        struct pie_sample_row row = aggregate->rows[i];
        row.node = pie_naming_node(flush->naming, row.node);
        if (row.node)
            r = flush->sink->ops->put_sample(flush->sink, &row);
    }
    return r;
}

static int write_heap_overhead(struct pie_flush *flush, const struct pie_heap_drain *heap) {
    const struct pie_config *config = flush->setup.config;
    struct pie_sink *sink = flush->sink;
    uint64_t memory_ns, copies_ns;
    int r = 0;

    pie_heap_drain_spent(heap, &memory_ns, &copies_ns);
    if (config->memory)
        r = sink->ops->put_overhead(sink, "memory", memory_ns, 0);
    if (r == 0 && config->memory)
        r = sink->ops->put_overhead(sink, "counting", pie_heap_drain_counting_ns(heap), 0);
    if (r == 0 && config->copies)
        r = sink->ops->put_overhead(sink, "copies", copies_ns, 0);
    return r;
}

static int write_costs(struct pie_flush *flush) {
    struct costs sum = {
        .handlers_ns = flush->ended_costs.handlers_ns + flush->costs.handlers_ns,
        .watching_ns = flush->ended_costs.watching_ns + flush->costs.watching_ns,
        .caches_ns = flush->ended_costs.caches_ns + flush->costs.caches_ns,
        .switches_ns = flush->ended_costs.switches_ns + flush->costs.switches_ns,
    };
    double rate_hz = 1e9 / (double)flush->setup.config->period_ns;
    struct pie_sink *sink = flush->sink;
    int r = sink->ops->put_overhead(sink, "time", sum.handlers_ns, rate_hz);

    if (r == 0 && strcmp(flush->methods.sampler, "none") != 0)
        r = sink->ops->put_overhead(sink, "redundancy", sum.watching_ns, rate_hz);
    if (r == 0)
        r = sink->ops->put_overhead(sink, "caches", sum.caches_ns, 0);
    if (r == 0)
        r = sink->ops->put_overhead(sink, "switches", sum.switches_ns, 0);
    return r;
}

static int write_counters(struct pie_flush *flush, const struct pie_heap_drain *heap) {
    struct pie_sink *sink = flush->sink;
    int r = 0;

    for (int i = 0; r == 0 && i < PIE_COUNTER_COUNT; i++)
        if (pie_counter_get((enum pie_counter)i))
            r = sink->ops->put_counter(sink, pie_counter_name((enum pie_counter)i),
                                       pie_counter_get((enum pie_counter)i),
                                       pie_counter_is_drop((enum pie_counter)i));
    if (r == 0)
        r = write_costs(flush);
    if (r == 0 && heap)
        r = write_heap_overhead(flush, heap);
    if (r == 0 && pie_learn_spent_ns())
        r = sink->ops->put_overhead(sink, "learning", pie_learn_spent_ns(), 0);
    if (r == 0 && pie_engine_start_ns())
        r = sink->ops->put_overhead(sink, "start", pie_engine_start_ns(), 0);
    if (r == 0)
        r = sink->ops->put_overhead(sink, "collection thread", pie_thread_cpu_ns(), 0);
    return r;
}

static int write_watches(struct pie_flush *flush, const struct pie_watch_drain *watches) {
    size_t count = 0;
    const struct pie_watch_row *rows = watches ? pie_watch_drain_rows(watches, &count) : NULL;
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++)
        r = flush->sink->ops->put_watch(flush->sink, &rows[i]);
    return r;
}

static int write_copy_loops(struct pie_flush *flush, struct pie_copy_loops *loops) {
    size_t count = 0;
    const struct pie_copy_row *rows = loops ? pie_copy_loops_rows(loops, &count) : NULL;
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++)
        r = flush->sink->ops->put_copy(flush->sink, &rows[i]);
    return r;
}

static int write_rows(struct pie_flush *flush, const struct pie_aggregate *aggregate,
                      const struct pie_watch_drain *watches, struct pie_heap_drain *heap,
                      struct pie_copy_loops *loops) {
    int r = pie_naming_write(flush->naming, flush->sink);

    if (r == 0)
        r = write_threads(flush);
    if (r == 0)
        r = write_short_threads(flush);
    if (r == 0)
        r = write_samples(flush, aggregate);
    if (r == 0)
        r = write_watches(flush, watches);
    if (r == 0 && heap)
        r = pie_heap_drain_write(heap, flush->sink);
    if (r == 0)
        r = write_copy_loops(flush, loops);
    if (r == 0)
        r = pie_learn_drain(flush->sink);
    if (r == 0)
        r = pie_process_ends_write(flush->sink, flush->setup.config, flush->setup.facts);
    if (r == 0)
        r = write_counters(flush, heap);
    return r;
}

/* A row that the sink could not take is lost, and what refers to it would be wrong. What it could not put into the file
 * it keeps, and tries again with the next commit: another process is writing, the disk is full for a while. */
static void commit(struct pie_flush *flush) {
    int r = flush->sink->ops->commit(flush->sink, pie_realtime_ns());

    atomic_store_explicit(&flush->error, r, memory_order_relaxed);
}

/* What was written, or will never be. */
static void clear(struct pie_flush *flush, struct pie_aggregate *aggregate, struct pie_watch_drain *watches,
                  struct pie_heap_drain *heap, struct pie_copy_loops *loops) {
    pie_aggregate_clear(aggregate);
    if (watches)
        pie_watch_drain_clear(watches);
    if (heap)
        pie_heap_drain_clear(heap);
    if (loops)
        pie_copy_loops_clear(loops);
    flush->n_threads = 0;
    flush->costs = (struct costs){0};
}

void pie_flush_write(struct pie_flush *flush, struct pie_aggregate *aggregate,
                     struct pie_watch_drain *watches, struct pie_heap_drain *heap,
                     struct pie_copy_loops *loops) {
    int64_t now_ns = pie_realtime_ns();
    size_t n_loops = 0;

    pie_flush_open(flush);
    if (flush->failed) {
        pie_naming_written(flush->naming);
        clear(flush, aggregate, watches, heap, loops);
        return;
    }
    for (size_t i = 0; i < aggregate->count; i++) /* names first: the transaction stays short */
        pie_naming_node(flush->naming, aggregate->rows[i].node);
    if (loops)
        pie_copy_loops_rows(loops, &n_loops);
    flush->suspended = false;
    int r = flush->sink->ops->begin(flush->sink, flush->since_ns + (now_ns - flush->since_ns) / 2);
    if (r < 0) { /* another writer: what is not written now is written later */
        flush->costs = (struct costs){0};
        if (r != -EBUSY && r != -EAGAIN)
            give_up(flush, r);
        return;
    }
    r = write_rows(flush, aggregate, watches, heap, loops);
    if (r < 0)
        give_up(flush, r);
    else
        commit(flush);
    pie_naming_written(flush->naming);
    clear(flush, aggregate, watches, heap, loops);
    flush->since_ns = now_ns;
}

bool pie_flush_is_written(const struct pie_flush *flush) {
    return pie_naming_is_written(flush->naming);
}

static bool keeps_node(const void *naming, uint32_t node) {
    return pie_naming_keeps_node(naming, node);
}

static bool keeps_location(const void *naming, uint32_t location) {
    return pie_naming_keeps_location(naming, location);
}

bool pie_flush_wants_to_forget(const struct pie_flush *flush) {
    return flush->sink && !flush->failed && flush->sink->wants_to_forget;
}

void pie_flush_forget(struct pie_flush *flush) {
    const struct pie_kept kept = {keeps_node, keeps_location, flush->naming};

    if (flush->sink && !flush->failed && flush->sink->ops->forget)
        flush->sink->ops->forget(flush->sink, &kept);
}

/* One that executes another program may still be a process of ours then; the exec knows. */
static void say_last(struct pie_flush *flush, const char *cause) {
    pie_process_ends_last(flush->sink, !flush->is_child, flush->parent_pid, flush->started_ns);
    if (strcmp(cause, "exec") != 0)
        pie_process_done();
}

/* As late as there is still a file for it. What comes then is told by the summary alone. */
static void put_end(struct pie_flush *flush) {
    struct pie_sink *sink = flush->sink;

    sink->ops->put_overhead(sink, "collection thread", pie_thread_cpu_ns(), 0);
    pie_engine_overhead_is_told();
}

void pie_flush_end(struct pie_flush *flush, const char *cause, int exit_status) {
    if (!flush->sink)
        return;
    put_end(flush);
    int r = flush->sink->ops->end_process(flush->sink, pie_realtime_ns(), cause, exit_status);
    if (r < 0 && !flush->failed)
        give_up(flush, r);
    else if (!flush->failed)
        atomic_store_explicit(&flush->error, 0, memory_order_relaxed);
    if (r == 0)
        say_last(flush, cause);
    flush->sink->ops->close(flush->sink);
    flush->sink = NULL;
    flush->failed = true;
}

int pie_flush_error(const struct pie_flush *flush) {
    return atomic_load_explicit(&flush->error, memory_order_relaxed);
}

int64_t pie_flush_run_id(const struct pie_flush *flush) {
    return atomic_load_explicit(&flush->run_id, memory_order_acquire);
}
