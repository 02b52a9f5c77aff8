/* SPDX-License-Identifier: Apache-2.0 */

/* Threads note events in rings of their own, and blocks die wherever they are freed. Each tick takes all of it, puts it in
 * the order of time and then goes through it once: so a block that was freed before a peak is not alive at it, whichever
 * thread did what. */

#include "profiler/heap_drain.h"

#include "profiler/cct.h"
#include "profiler/counters.h"
#include "profiler/engine.h"
#include "profiler/heap_copies.h"
#include "profiler/heap_engine.h"
#include "profiler/heap_footprint.h"
#include "profiler/heap_leaks.h"
#include "profiler/heap_nodes.h"
#include "profiler/memory.h"
#include "profiler/naming.h"
#include "profiler/sort.h"
#include "profiler/thread.h"

#include <errno.h>
#include <string.h>

enum {
    TRACKED_MAX = PIE_HEAP_TICKETS / 2, /* beyond, half of them are let go */
    LIVE_ROWS_MAX = 4096,               /* steps of curves between two writes */
    FULL_PART = 10, /* nodes that do not change are written when a tenth of the time has gone by */
};

static const uint64_t LATE_NS = 200000000;  /* without a sample */
static const uint64_t LEAKS_NS = 250000000; /* between two looks for leaks */

/* What happened, from a ring or from the table. */
struct event {
    uint64_t time_ns;
    bool is_freed; /* else the record */
    uint32_t ticket;
    struct pie_heap_record record;
};

struct pie_heap_drain {
    const struct pie_pystack_ops *ops;
    struct pie_naming *naming;
    const struct pie_memory_facts *facts;
    bool has_memory;        /* else copies alone are profiled */
    int64_t real_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
    uint64_t started_ns;
    uint64_t peak_ns;  /* when the last look at the process found a peak; 0: it is passed */
    uint64_t leaks_ns; /* when leaks were looked for */
    uint64_t full_ns;  /* when all nodes were written, changed or not */
    struct pie_heap_nodes nodes;
    struct pie_heap_block blocks[PIE_HEAP_TICKETS]; /* by ticket */
    bool is_lost[PIE_HEAP_TICKETS];                 /* lost before it was known, at the last tick */
    size_t tracked;
    uint64_t version; /* of the table, at the last tick */
    struct event *events;
    size_t n_events, events_room;
    struct pie_live_row lives[LIVE_ROWS_MAX];
    size_t n_lives;
    struct pie_heap_footprint footprint;
    struct pie_heap_leaks leaks;
    struct pie_heap_copies copies;
    uint64_t ended_memory_ns, ended_copies_ns;
    uint64_t random;
};

int pie_heap_drain_create(const struct pie_pystack_ops *ops, const struct pie_memory_facts *facts,
                          struct pie_naming *naming, struct pie_heap_drain **ret_drain) {
    struct pie_heap_drain *drain = pie_calloc(1, sizeof *drain);

    if (!drain)
        return -ENOMEM;
    drain->ops = ops;
    drain->naming = naming;
    drain->facts = facts;
    drain->has_memory = pie_heap_settings()->memory;
    drain->started_ns = pie_monotonic_ns();
    drain->real_offset_ns = pie_realtime_ns() - (int64_t)drain->started_ns;
    drain->random = drain->started_ns | 1;
    pie_heap_leaks_init(&drain->leaks, facts->holders, drain->started_ns);
    *ret_drain = drain;
    return 0;
}

void pie_heap_drain_destroy(struct pie_heap_drain *drain) {
    if (!drain)
        return;
    pie_heap_nodes_finish(&drain->nodes);
    pie_heap_copies_finish(&drain->copies);
    pie_free(drain->events);
    pie_free(drain);
}

static int64_t real_ns(const struct pie_heap_drain *drain, uint64_t time_ns) {
    return (int64_t)time_ns + drain->real_offset_ns;
}

/* --- Taking events --- */

static struct event *add_event(struct pie_heap_drain *drain) {
    if (drain->n_events == drain->events_room) {
        size_t room = drain->events_room ? drain->events_room * 2 : 256;
        struct event *grown = pie_realloc(drain->events, room * sizeof *grown);
        if (!grown) {
            pie_counter_add(PIE_COUNTER_HEAP_RING_FULL, 1);
            return NULL;
        }
        drain->events = grown;
        drain->events_room = room;
    }
    return &drain->events[drain->n_events++];
}

/* A burst leaves the next sample far ahead. */
static void hurry(const struct pie_heap_drain *drain, struct pie_thread *thread) {
    uint64_t now_ns = pie_monotonic_ns();

    for (int i = 0; drain->has_memory && i < PIE_HEAP_DOMAINS; i++)
        if (now_ns - thread->heap.rates[i].window_ns > LATE_NS) {
            pie_heap_hurry(thread);
            return;
        }
}

void pie_heap_drain_thread(struct pie_heap_drain *drain, struct pie_thread *thread) {
    struct pie_heap_record record;

    hurry(drain, thread);
    while (pie_heap_ring_pop(&thread->heap.ring, &record)) {
        struct event *event = add_event(drain);
        if (!event) {
            if (record.event == PIE_HEAP_ALLOCATED && record.ticket)
                pie_heap_table_lose(record.ticket);
            continue;
        }
        *event = (struct event){.time_ns = record.time_ns, .ticket = record.ticket, .record = record};
        if (record.event == PIE_HEAP_ALLOCATED && record.ticket)
            drain->blocks[record.ticket].is_known = true;
    }
}

void pie_heap_drain_thread_ended(struct pie_heap_drain *drain, struct pie_thread *thread) {
    pie_heap_drain_thread(drain, thread);
    pie_heap_footprint_thread_ended(&drain->footprint, thread);
    drain->ended_memory_ns += atomic_load_explicit(&thread->heap.memory_ns, memory_order_relaxed);
    drain->ended_copies_ns += atomic_load_explicit(&thread->heap.copies_ns, memory_order_relaxed);
}

/* What was put under a ticket that nobody has told of yet: either the telling comes with the next tick, or, where it was
 * lost, it never comes. */
static void take_unknown(struct pie_heap_drain *drain, uint32_t ticket, enum pie_heap_fate fate) {
    if (fate == PIE_HEAP_LOST && drain->is_lost[ticket])
        pie_heap_table_recycle(ticket);
    drain->is_lost[ticket] = fate == PIE_HEAP_LOST && !drain->is_lost[ticket];
}

static void take_fates(struct pie_heap_drain *drain) {
    uint64_t version = pie_heap_table_version();
    bool is_open = false;

    if (version == drain->version)
        return;
    for (uint32_t ticket = 1; ticket < PIE_HEAP_TICKETS; ticket++) {
        uint64_t freed_ns;
        enum pie_heap_fate fate = pie_heap_table_fate(ticket, &freed_ns);
        if (fate == PIE_HEAP_ALIVE)
            continue;
        struct event *event = drain->blocks[ticket].is_known ? add_event(drain) : NULL;
        if (!event) {
            take_unknown(drain, ticket, fate);
            is_open = true;
            continue;
        }
        *event = (struct event){.time_ns = fate == PIE_HEAP_FREED ? freed_ns : pie_monotonic_ns(),
                                .is_freed = true,
                                .ticket = ticket,
                                .record.is_exact = fate == PIE_HEAP_LOST};
    }
    drain->version = is_open ? version - 1 : version; /* look again */
}

/* --- Going through them --- */

/* Is a module being imported in this context, or no Python at work? Module-level code and the interpreter's own start
 * allocate once. */
static bool is_import(const struct pie_heap_drain *drain, uint32_t cct_node) {
    static const char importlib[] = "<frozen importlib";

    bool has_python = false;

    for (; cct_node != PIE_CCT_ROOT_ID; cct_node = pie_cct_parent(cct_node)) {
        uint64_t key = pie_cct_key(cct_node);
        const char *file, *name;
        int32_t line;
        has_python = has_python || pie_cct_key_is_python(key);
        if (pie_cct_key_is_python(key) &&
            drain->ops->describe(pie_cct_key_code(key), &file, &name, &line) == 0 &&
            strncmp(file, importlib, sizeof importlib - 1) == 0)
            return true;
    }
    return !has_python;
}

static void allocated(struct pie_heap_drain *drain, const struct pie_heap_record *record) {
    uint32_t stored = pie_naming_node(drain->naming, record->node);
    bool is_new;
    struct pie_heap_node *node = stored ? pie_heap_nodes_get(&drain->nodes, stored, &is_new) : NULL;
    struct pie_heap_block *block = &drain->blocks[record->ticket];

    if (!node) { /* out of memory: as if it had been lost */
        pie_counter_add(PIE_COUNTER_HEAP_RING_FULL, 1);
        return;
    }
    if (is_new) {
        node->is_import = is_import(drain, record->node);
        node->changed_ns = record->time_ns;
    }
    pie_heap_node_allocated(node, record->domain, record->weight_bytes, record->is_exact,
                            real_ns(drain, record->time_ns));
    if (!record->ticket)
        return;
    *block = (struct pie_heap_block){
        .is_known = true,
        .node = (uint32_t)(node - drain->nodes.nodes) + 1,
        .domain = record->domain,
        .is_exact = record->is_exact,
        .weight_bytes = record->weight_bytes,
        .since_ns = record->time_ns,
        .address = record->block,
    };
    drain->tracked++;
    pie_heap_node_live(&drain->nodes, node, block->domain, block->weight_bytes, block->is_exact, false,
                       record->time_ns);
}

/* is_freed: it was; else it is only tracked no more. */
static void gone(struct pie_heap_drain *drain, uint32_t ticket, bool is_freed, uint64_t time_ns) {
    struct pie_heap_block *block = &drain->blocks[ticket];

    if (block->node) {
        struct pie_heap_node *node = &drain->nodes.nodes[block->node - 1];
        pie_heap_node_live(&drain->nodes, node, block->domain, block->weight_bytes, block->is_exact, true,
                           time_ns);
        node->row.frees += is_freed && !node->is_import;
        drain->tracked--;
    }
    *block = (struct pie_heap_block){0};
}

static void go_through(struct pie_heap_drain *drain, const struct event *event) {
    const struct pie_heap_record *record = &event->record;

    if (event->is_freed) {
        gone(drain, event->ticket, !record->is_exact, event->time_ns);
        pie_heap_table_recycle(event->ticket);
    } else if (record->event == PIE_HEAP_ALLOCATED) {
        allocated(drain, record);
    } else if (record->event == PIE_HEAP_COPIED) {
        pie_heap_copies_add(&drain->copies, pie_naming_node(drain->naming, record->node),
                            record->weight_bytes, record->is_exact);
    } else if (pie_heap_footprint_crossed(&drain->footprint, record, real_ns(drain, record->time_ns),
                                          pie_naming_node(drain->naming, record->node))) {
        drain->nodes.epoch++;
    }
}

static int by_time(const void *a, const void *b) {
    const struct event *first = a, *second = b;

    return first->time_ns < second->time_ns ? -1 : first->time_ns > second->time_ns;
}

/* --- Keeping the table small --- */

static bool heads(struct pie_heap_drain *drain) {
    drain->random ^= drain->random << 13;
    drain->random ^= drain->random >> 7;
    drain->random ^= drain->random << 17;
    return drain->random >> 40 & 1;
}

/* Of the blocks that stand for more than themselves, each second one by lot; the others stand for twice as much. */
static void thin_out(struct pie_heap_drain *drain, uint64_t now_ns) {
    for (uint32_t ticket = 1; ticket < PIE_HEAP_TICKETS; ticket++) {
        struct pie_heap_block *block = &drain->blocks[ticket];
        if (!block->node || block->is_exact)
            continue;
        if (heads(drain)) {
            if (pie_heap_table_drop(ticket, (const void *)block->address))
                gone(drain, ticket, false, now_ns);
            continue;
        }
        struct pie_heap_node *node = &drain->nodes.nodes[block->node - 1];
        pie_heap_node_live(&drain->nodes, node, block->domain, block->weight_bytes, false, true, now_ns);
        block->weight_bytes *= 2;
        pie_heap_node_live(&drain->nodes, node, block->domain, block->weight_bytes, false, false, now_ns);
    }
}

/* --- Each tick --- */

/* The last look at the process found a peak: what had been allocated by then, but was not told of yet, was alive at it. */
static void pass_peak(struct pie_heap_drain *drain) {
    if (!drain->peak_ns)
        return;
    drain->nodes.epoch++;
    drain->peak_ns = 0;
}

static void note_lives(struct pie_heap_drain *drain, uint64_t now_ns) {
    for (size_t i = 0; i < drain->nodes.count && drain->n_lives < LIVE_ROWS_MAX; i++) {
        struct pie_heap_node *node = &drain->nodes.nodes[i];
        if (!node->is_live_changed)
            continue;
        node->is_live_changed = false;
        drain->lives[drain->n_lives++] = (struct pie_live_row){
            .node = node->row.node,
            .time_ns = real_ns(drain, now_ns),
            .live_bytes = node->live_bytes[PIE_HEAP_NATIVE] + node->live_bytes[PIE_HEAP_PYTHON],
        };
    }
}

static void look_for_leaks(struct pie_heap_drain *drain, uint64_t now_ns) {
    for (size_t i = 0; i < drain->nodes.count; i++)
        pie_heap_node_settle(&drain->nodes, &drain->nodes.nodes[i], now_ns);
    pie_heap_leaks_decide(&drain->leaks, &drain->nodes, drain->blocks, now_ns);
    pie_heap_leaks_ask(&drain->leaks, &drain->nodes, drain->blocks, now_ns);
    drain->leaks_ns = now_ns;
}

void pie_heap_drain_tick(struct pie_heap_drain *drain) {
    uint64_t now_ns = pie_monotonic_ns();

    take_fates(drain);
    if (drain->n_events > 0) {
        (void)pie_sort(drain->events, drain->n_events, sizeof *drain->events, by_time);
        for (size_t i = 0; i < drain->n_events; i++) {
            if (drain->events[i].time_ns > drain->peak_ns)
                pass_peak(drain);
            go_through(drain, &drain->events[i]);
        }
        drain->n_events = 0;
        note_lives(drain, now_ns);
    }
    pass_peak(drain);
    if (drain->tracked > TRACKED_MAX)
        thin_out(drain, now_ns);
    if (pie_heap_footprint_tick(&drain->footprint, now_ns, real_ns(drain, now_ns),
                                drain->facts->is_finalizing()))
        drain->peak_ns = pie_monotonic_ns();
    if (drain->has_memory && now_ns - drain->leaks_ns > LEAKS_NS)
        look_for_leaks(drain, now_ns);
}

/* --- Writing --- */

void pie_heap_drain_prepare(struct pie_heap_drain *drain, bool is_last) {
    uint64_t now_ns = pie_monotonic_ns();
    uint64_t elapsed_ns = now_ns - drain->started_ns;
    bool is_full = is_last || now_ns - drain->full_ns > elapsed_ns / FULL_PART;

    if (is_full)
        drain->full_ns = now_ns;
    if (is_last)
        pass_peak(drain);

    look_for_leaks(drain, now_ns);
    for (size_t i = 0; i < drain->nodes.count; i++) {
        struct pie_heap_node *node = &drain->nodes.nodes[i];
        node->is_dirty = node->is_dirty || (is_full && node->row.live_bytes > 0); /* its integral has grown */
    }
}

static int write_nodes(struct pie_heap_drain *drain, struct pie_sink *sink) {
    int r = 0;

    for (size_t i = 0; r == 0 && i < drain->nodes.count; i++)
        if (drain->nodes.nodes[i].is_dirty)
            r = sink->ops->put_allocation(sink, &drain->nodes.nodes[i].row);
    for (size_t i = 0; r == 0 && i < drain->n_lives; i++)
        r = sink->ops->put_live(sink, &drain->lives[i]);
    return r;
}

int pie_heap_drain_write(struct pie_heap_drain *drain, struct pie_sink *sink) {
    int r = 0;

    if (drain->has_memory)
        r = write_nodes(drain, sink);
    if (r == 0 && drain->has_memory)
        r = pie_heap_footprint_write(&drain->footprint, sink, drain->facts);
    if (r == 0)
        r = pie_heap_copies_write(&drain->copies, sink);
    if (r == 0)
        r = pie_heap_leaks_write(&drain->leaks, sink);
    return r;
}

void pie_heap_drain_clear(struct pie_heap_drain *drain) {
    for (size_t i = 0; i < drain->nodes.count; i++) {
        struct pie_heap_node *node = &drain->nodes.nodes[i];
        node->is_dirty = false;
        node->noted_live_bytes = node->row.live_bytes;
    }
    drain->n_lives = 0;
    pie_heap_footprint_clear(&drain->footprint);
    pie_heap_copies_clear(&drain->copies);
    pie_heap_leaks_clear(&drain->leaks);
}

void pie_heap_drain_spent(const struct pie_heap_drain *drain, uint64_t *ret_memory_ns,
                          uint64_t *ret_copies_ns) {
    *ret_memory_ns = drain->ended_memory_ns;
    *ret_copies_ns = drain->ended_copies_ns;
    for (size_t i = 0; i < pie_thread_count(); i++) {
        struct pie_thread *thread = pie_thread_at(i);
        uint32_t state = atomic_load_explicit(&thread->state, memory_order_acquire);
        if (state != PIE_THREAD_RUNNING && state != PIE_THREAD_STARTING)
            continue;
        *ret_memory_ns += atomic_load_explicit(&thread->heap.memory_ns, memory_order_relaxed);
        *ret_copies_ns += atomic_load_explicit(&thread->heap.copies_ns, memory_order_relaxed);
    }
}
