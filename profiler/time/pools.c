/* SPDX-License-Identifier: Apache-2.0 */

/* A thread of a pool has no Python frames, and nothing on its stack says who gave it work: pools hand it over through
 * memory of their own. What can be seen is the time: a Python line that hands work to a pool waits for it, asleep in a
 * futex that is no lock of Python's, or takes part in it, with code of the same library on its stack. So in each tick
 * the CPU time of a native thread goes to the contexts that did either, in proportion to how long they did. A thread
 * gets no more than that: it has worked for nobody while nobody waited.
 *
 * A thread that waits now and then is found asleep in some ticks only, and has its waiting since the last one booked
 * then (wait.c). So a native thread's time waits for some ticks too; newer time is booked first.
 *
 * Errors: of lines that wait at the same time, each has a part of all pools; a native thread that works for itself is
 * taken to work for a line that waits for something else meanwhile, or that runs the same library. */

#include "profiler/time/pools.h"

#include "profiler/code/modules.h"
#include "profiler/stacks/cct.h"
#include "profiler/thread/thread.h"
#include "profiler/time/aggregate.h"
#include "profiler/time/sample_ring.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

enum {
    ENTRIES_MAX = 4096, /* of a tick: what comes later is nobody's, or has nobody */
    WORKERS_MAX = 256,
    MODULES_MAX = 8, /* of one stack, from the innermost on */
    TICKS_KEPT = 8,
    DEPTH_MAX = 512,
};

struct modules {
    uint16_t numbers[MODULES_MAX];
    uint32_t count;
};

/* What a thread did in this tick in one context. */
struct entry {
    uint32_t thread;
    struct pie_cct_id node;
    uint64_t ns;
    bool is_wait;
    bool is_native; /* of a thread that has no Python frames so far */
    bool is_caller; /* it may be what native threads work for */
    struct modules modules;
};

/* CPU time of a native thread that is not booked yet, by its age in ticks. */
struct worker {
    uint32_t thread;
    uint64_t ns[TICKS_KEPT];
    struct modules modules;
};

/* Collection thread only. Fork child: pie_pools_forget(). */
static struct {
    struct entry entries[ENTRIES_MAX];
    size_t n_entries;
    struct worker workers[WORKERS_MAX];
    size_t n_workers;
} state;

static void add_entry(const struct entry *entry) {
    struct entry *last = state.n_entries ? &state.entries[state.n_entries - 1] : NULL;

    if (last && last->thread == entry->thread && last->node.value == entry->node.value &&
        last->is_wait == entry->is_wait)
        last->ns += entry->ns;
    else if (state.n_entries < ENTRIES_MAX)
        state.entries[state.n_entries++] = *entry;
}

void pie_pools_sample(const struct pie_thread *thread, const struct pie_record *record) {
    bool has_python = thread->is_main || atomic_load_explicit(&thread->tstate, memory_order_relaxed) != 0;

    if (record->is_python && has_python)
        return;
    const struct entry entry = {.thread = thread->id,
                                .node = record->node,
                                .ns = record->user_ns + record->system_ns,
                                .is_native = !has_python};
    add_entry(&entry);
}

void pie_pools_wait(const struct pie_thread *thread, struct pie_cct_id node, uint64_t wait_ns) {
    const struct entry entry = {
        .thread = thread->id, .node = node, .ns = wait_ns, .is_wait = true, .is_caller = true};

    add_entry(&entry);
}

/* Threads of C++ begin in its library, whatever they do. */
static bool is_of_all(unsigned module) {
    const struct pie_code_module *known = pie_code_module(module);
    const char *slash = known ? strrchr(known->path, '/') : NULL;

    return slash && strncmp(slash, "/libstdc++.so", 13) == 0;
}

static bool has_module(const struct modules *modules, unsigned module) {
    for (uint32_t i = 0; i < modules->count; i++)
        if (modules->numbers[i] == module)
            return true;
    return false;
}

static void add_module(struct modules *modules, unsigned module) {
    if (module && modules->count < MODULES_MAX && !has_module(modules, module) && !is_of_all(module))
        modules->numbers[modules->count++] = (uint16_t)module;
}

static bool have_common(const struct modules *a, const struct modules *b) {
    for (uint32_t i = 0; i < a->count; i++)
        if (has_module(b, a->numbers[i]))
            return true;
    return false;
}

/* The libraries above the innermost Python frame; the interpreter's home has no number. Returns whether there is a
 * Python frame. */
static bool read_stack(struct pie_cct_id node, struct modules *modules) {
    for (int i = 0; i < DEPTH_MAX && node.value && !pie_cct_is_root(node); i++) {
        uint64_t key = pie_cct_key(node);
        if (pie_cct_key_is_python(key))
            return true;
        add_module(modules, pie_cct_key_module(key));
        node = pie_cct_parent(node);
    }
    return false;
}

static struct worker *worker_of(uint32_t thread) {
    for (size_t i = state.n_workers; i > 0; i--)
        if (state.workers[i - 1].thread == thread)
            return &state.workers[i - 1];
    if (state.n_workers == WORKERS_MAX)
        return NULL;
    struct worker *worker = &state.workers[state.n_workers++];
    *worker = (struct worker){.thread = thread};
    return worker;
}

static void sort_entry(struct entry *entry) {
    bool has_python = read_stack(entry->node, &entry->modules);

    entry->is_caller = has_python;
    struct worker *worker = !has_python && entry->is_native ? worker_of(entry->thread) : NULL;
    if (!worker)
        return;
    worker->ns[0] += entry->ns;
    for (uint32_t i = 0; i < entry->modules.count; i++)
        add_module(&worker->modules, entry->modules.numbers[i]);
}

static bool has_workers(void) {
    if (state.n_workers)
        return true;
    for (size_t i = 0; i < state.n_entries; i++)
        if (state.entries[i].is_native)
            return true;
    return false;
}

static bool is_for(const struct worker *worker, const struct entry *entry) {
    return entry->is_caller && (entry->is_wait || have_common(&worker->modules, &entry->modules));
}

/* Takes up to ns out of what is left, the newest first. */
static uint64_t take(struct worker *worker, uint64_t ns) {
    uint64_t taken_ns = 0;

    for (int i = 0; i < TICKS_KEPT && taken_ns < ns; i++) {
        uint64_t part_ns = worker->ns[i] < ns - taken_ns ? worker->ns[i] : ns - taken_ns;
        worker->ns[i] -= part_ns;
        taken_ns += part_ns;
    }
    return taken_ns;
}

static void book(struct worker *worker, struct pie_aggregate *aggregate) {
    uint64_t left_ns = 0;

    for (size_t i = 0; i < state.n_entries; i++)
        if (is_for(worker, &state.entries[i]))
            left_ns += state.entries[i].ns;
    uint64_t worked_ns = take(worker, left_ns);
    for (size_t i = 0; i < state.n_entries && worked_ns > 0; i++) {
        const struct entry *entry = &state.entries[i];
        if (!is_for(worker, entry))
            continue;
        uint64_t part_ns = (uint64_t)((unsigned __int128)worked_ns * entry->ns / left_ns);
        pie_aggregate_add_related(aggregate, entry->thread, entry->node, PIE_RELATED_WORKED, part_ns);
        worked_ns -= part_ns;
        left_ns -= entry->ns;
    }
}

/* Becomes a tick older. Returns whether any of its time is left. */
static bool age(struct worker *worker) {
    bool is_left = false;

    memmove(worker->ns + 1, worker->ns, (TICKS_KEPT - 1) * sizeof *worker->ns);
    worker->ns[0] = 0;
    for (int i = 1; i < TICKS_KEPT; i++)
        is_left |= worker->ns[i] > 0;
    return is_left;
}

void pie_pools_settle(struct pie_aggregate *aggregate) {
    size_t kept = 0;

    if (has_workers()) {
        for (size_t i = 0; i < state.n_entries; i++)
            if (!state.entries[i].is_wait)
                sort_entry(&state.entries[i]);
        for (size_t i = 0; i < state.n_workers; i++)
            book(&state.workers[i], aggregate);
    }
    for (size_t i = 0; i < state.n_workers; i++)
        if (age(&state.workers[i]))
            state.workers[kept++] = state.workers[i];
    state.n_workers = kept;
    state.n_entries = 0;
}

void pie_pools_forget(void) {
    state.n_entries = 0;
    state.n_workers = 0;
}
