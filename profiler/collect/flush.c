/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/collect/flush.h"

#include "profiler/base/clocks.h"
#include "profiler/base/counters.h"
#include "profiler/base/list.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/proc_file.h"
#include "profiler/collect/collectors.h"
#include "profiler/collect/fill.h"
#include "profiler/collect/govern.h"
#include "profiler/collect/own_cost.h"
#include "profiler/ports/config.h"
#include "profiler/ports/facts.h"
#include "profiler/process/ends.h"
#include "profiler/process/environment.h"
#include "profiler/process/table.h"
#include "profiler/symbols/naming.h"
#include "profiler/thread/thread.h"

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

struct pie_flush {
    struct pie_collection_setup setup;
    struct pie_naming *naming;
    struct pie_sink *sink; /* NULL: not open yet, or given up */
    struct pie_methods methods;
    int64_t started_ns; /* CLOCK_REALTIME */
    int64_t since_ns;   /* CLOCK_REALTIME: what is not written yet was measured from then on */
    int32_t parent_pid; /* valid with is_child */
    bool is_child;      /* not the first process of the run */
    bool failed;        /* the sink is given up */
    bool suspended;
    struct thread_state *threads; /* to be written next */
    size_t n_threads, room;
    uint64_t short_threads; /* that have been written */
    _Atomic int64_t run_id;
    _Atomic int error; /* -errno that made it give up, or of the last commit */
};

int pie_flush_create(const struct pie_collection_setup *setup, struct pie_flush **ret_flush) {
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

void pie_flush_begin(struct pie_flush *flush, const struct pie_methods *methods) {
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
    pie_naming_set_owners(flush->naming, flush->sink);
    struct pie_process_row row = {
        .pid = (int32_t)getpid(),
        .parent_pid = flush->setup.is_fork ? forked_by() : config->parent_pid,
        .is_child = own.is_child,
        .run_id = flush->setup.is_fork ? pie_engine_run_id() : config->run_id,
        .started_ns = flush->started_ns,
        .argv = config->has_argv ? facts->argv : NULL,
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
    if (r == 0)
        r = pie_govern_put(flush->sink, config);
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
    struct thread_state *list = pie_list_grown(flush->threads, flush->n_threads, &flush->room, sizeof *list);
    if (!list)
        return NULL;
    flush->threads = list;
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

/* acquire: pairs with pie_thread_end(), which a thread that has just gone has been through. */
static uint64_t cpu_so_far(const struct pie_thread *thread) {
    uint64_t cpu_ns = pie_thread_cpu_of(thread->tid);

    if (cpu_ns == 0 && pie_thread_state(thread) == PIE_THREAD_ENDED)
        return thread->ended_cpu_ns;
    return cpu_ns;
}

void pie_flush_thread(struct pie_flush *flush, struct pie_thread *thread, size_t slot) {
    struct thread_state *state = note_thread(flush, thread);

    if (state) {
        if (thread->name[0])
            memcpy(state->name, thread->name, NAME_BYTES);
        else
            read_name(thread->tid, state->name);
        uint64_t cpu_ns = cpu_so_far(thread);
        state->row.cpu_ns = cpu_ns > thread->started_cpu_ns ? cpu_ns - thread->started_cpu_ns : 0;
        state->row.wall_ns =
            pie_monotonic_ns() - atomic_load_explicit(&thread->started_ns, memory_order_relaxed);
    }
    PIE_EACH_COLLECTOR(pie_collectors_active(), thread_row, thread, slot, false, state ? &state->row : NULL);
}

void pie_flush_thread_ended(struct pie_flush *flush, struct pie_thread *thread, size_t slot) {
    struct thread_state *state = note_thread(flush, thread);

    if (state) {
        memcpy(state->name, thread->name[0] ? thread->name : thread->kernel_name,
               thread->name[0] ? NAME_BYTES : sizeof thread->kernel_name);
        state->row.cpu_ns = thread->ended_cpu_ns - thread->started_cpu_ns;
        state->row.wall_ns =
            thread->ended_ns - atomic_load_explicit(&thread->started_ns, memory_order_relaxed);
        state->row.ended_ns = thread->started_real_ns + (int64_t)state->row.wall_ns;
    }
    PIE_EACH_COLLECTOR(pie_collectors_active(), thread_row, thread, slot, true, state ? &state->row : NULL);
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

/* What the collectors do not know. */
static int write_overhead(struct pie_sink *sink) {
    const struct {
        const char *name;
        uint64_t ns;
    } costs[] = {
        {"start", pie_engine_start_ns() + pie_own_cost_ns(PIE_OWN_START)},
        {"collection thread", pie_own_cost_ns(PIE_OWN_TICKS)},
        {"writing", pie_own_cost_ns(PIE_OWN_WRITING)},
        {"clocks", pie_own_cost_ns(PIE_OWN_ARMING) + pie_engine_threads_ns()},
        {"forks", pie_engine_forks_ns()},
        {"end", pie_own_cost_ns(PIE_OWN_END)},
    };
    int r = 0;

    for (size_t i = 0; r == 0 && i < sizeof costs / sizeof *costs; i++)
        if (costs[i].ns)
            r = sink->ops->put_overhead(sink, costs[i].name, costs[i].ns, 0);
    return r;
}

static int write_counters(struct pie_flush *flush) {
    struct pie_sink *sink = flush->sink;
    int r = 0;

    for (int i = 0; r == 0 && i < PIE_COUNTER_COUNT; i++)
        if (pie_counter_get((enum pie_counter)i))
            r = sink->ops->put_counter(sink, pie_counter_name((enum pie_counter)i),
                                       pie_counter_get((enum pie_counter)i),
                                       pie_counter_is_drop((enum pie_counter)i));
    if (r == 0)
        r = pie_fill_write(sink);
    if (r == 0)
        r = pie_collectors_write_overhead(sink);
    return r == 0 ? write_overhead(sink) : r;
}

static int write_rows(struct pie_flush *flush) {
    int r = pie_naming_write(flush->naming, flush->sink);

    if (r == 0)
        r = write_threads(flush);
    if (r == 0)
        r = write_short_threads(flush);
    if (r == 0)
        r = pie_collectors_write(flush->sink);
    if (r == 0)
        r = pie_process_ends_write(flush->sink, flush->setup.config, flush->setup.facts);
    if (r == 0)
        r = write_counters(flush);
    return r;
}

/* A row that the sink could not take is lost, and what refers to it would be wrong. What it could not put into the file
 * it keeps, and tries again with the next commit: another process is writing, the disk is full for a while. */
static void commit(struct pie_flush *flush) {
    int r = flush->sink->ops->commit(flush->sink, pie_realtime_ns());

    atomic_store_explicit(&flush->error, r, memory_order_relaxed);
}

/* What was written, or will never be. */
static void clear(struct pie_flush *flush) {
    PIE_EACH_COLLECTOR(pie_collectors_active(), clear);
    flush->n_threads = 0;
}

void pie_flush_write(struct pie_flush *flush) {
    int64_t now_ns = pie_realtime_ns();

    pie_flush_open(flush);
    if (flush->failed) {
        pie_naming_written(flush->naming);
        clear(flush);
        return;
    }
    PIE_EACH_COLLECTOR(pie_collectors_active(), name_nodes); /* names first: the transaction stays short */
    flush->suspended = false;
    int r = flush->sink->ops->begin(flush->sink, flush->since_ns + (now_ns - flush->since_ns) / 2);
    if (r < 0) { /* another writer: what is not written now is written later */
        if (r != -EBUSY && r != -EAGAIN)
            give_up(flush, r);
        return;
    }
    r = write_rows(flush);
    if (r < 0)
        give_up(flush, r);
    else
        commit(flush);
    pie_naming_written(flush->naming);
    clear(flush);
    flush->since_ns = now_ns;
}

bool pie_flush_is_written(const struct pie_flush *flush) {
    return pie_naming_is_written(flush->naming);
}

static bool keeps_node(const void *naming, struct pie_node_id node) {
    return pie_naming_keeps_node(naming, node);
}

static bool keeps_location(const void *naming, struct pie_location_id location) {
    return pie_naming_keeps_location(naming, location);
}

bool pie_flush_wants_to_forget(const struct pie_flush *flush) {
    return flush->sink && !flush->failed && flush->sink->wants_to_forget;
}

void pie_flush_forget(struct pie_flush *flush) {
    const struct pie_in_use in_use = {keeps_node, keeps_location, flush->naming};

    if (flush->sink && !flush->failed && flush->sink->ops->forget)
        flush->sink->ops->forget(flush->sink, &in_use);
}

/* One that executes another program may still be a process of ours then; the exec knows. */
static void say_last(struct pie_flush *flush, const char *cause) {
    pie_process_ends_last(flush->sink, !flush->is_child, flush->parent_pid, flush->started_ns);
    if (strcmp(cause, "exec") != 0)
        pie_process_done();
}

/* As late as there is still a file for it. Only the summary shows later changes. */
static void put_end(struct pie_flush *flush) {
    (void)write_overhead(flush->sink);
    pie_engine_note_overhead();
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
    pie_naming_set_owners(flush->naming, NULL);
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
