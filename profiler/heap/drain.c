/* SPDX-License-Identifier: Apache-2.0 */

/* Threads note events in rings of their own, and blocks die wherever they are freed. Each tick takes all of it, puts it
 * in the order of time and then goes through it once: so a block that was freed before a peak is not alive at it,
 * whichever thread did what.
 *
 * Threads note CLOCK_MONOTONIC, which stands still while the machine is suspended. What it was suspended for since the
 * start is added when events are taken, so that ages, averages and curves have the same time as the process's start and
 * end. */

#include "profiler/heap/drain.h"

#include "profiler/base/clocks.h"
#include "profiler/base/counters.h"
#include "profiler/base/list.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/random.h"
#include "profiler/base/sort.h"
#include "profiler/heap/copies.h"
#include "profiler/heap/engine.h"
#include "profiler/heap/footprint.h"
#include "profiler/heap/leaks.h"
#include "profiler/heap/nodes.h"
#include "profiler/heap/pauses.h"
#include "profiler/heap/price.h"
#include "profiler/ports/facts.h"
#include "profiler/ports/pystack.h"
#include "profiler/stacks/cct.h"
#include "profiler/symbols/naming.h"
#include "profiler/thread/thread.h"

#include <errno.h>
#include <string.h>

enum {
    TRACKED_MAX = PIE_HEAP_TICKETS / 2, /* beyond, half of them are let go */
    LIVE_ROWS_MAX = 4096,               /* steps of curves between two writes */
    NOTE_BYTES = 384,
    FULL_PART = 10, /* nodes that do not change are written when a tenth of the time has gone by */
};

static const uint64_t LATE_NS = 200000000;      /* without a sample */
static const uint64_t SUSPEND_MIN_NS = 5000000; /* less is none */
static const uint64_t LEAKS_NS = 250000000;     /* between two looks for leaks */

/* What happened, from a ring or from the table. */
struct event {
    uint64_t time_ns;
    enum { EVENT_NOTED, EVENT_FREED, EVENT_LOST } kind; /* a record; the end of a ticket's block */
    uint32_t ticket;
    struct pie_heap_record record; /* EVENT_NOTED */
};

struct pie_heap_drain {
    const struct pie_pystack_ops *ops;
    struct pie_naming *naming;
    const struct pie_memory_facts *facts;
    bool has_memory;            /* else copies alone are profiled */
    int64_t real_offset_ns;     /* pie_realtime_ns() - CLOCK_MONOTONIC at the start */
    uint64_t suspended_ns;      /* since then; added to what threads have noted */
    int64_t first_suspended_ns; /* before; -1: not known yet */
    uint64_t started_ns;
    uint64_t peak_ns;  /* when the last look at the process found a peak; 0: it is passed */
    uint64_t leaks_ns; /* when leaks were looked for */
    uint64_t full_ns;  /* when all nodes were written, changed or not */
    struct pie_heap_nodes nodes;
    struct pie_heap_block blocks[PIE_HEAP_TICKETS]; /* by ticket */
    uint32_t tickets;                               /* one beyond the last that was ever a block's */
    bool is_lost[PIE_HEAP_TICKETS];                 /* lost before it was known, at the last tick */
    size_t tracked;
    struct event *events;
    size_t n_events, events_room;
    struct pie_live_row lives[LIVE_ROWS_MAX];
    size_t n_lives;
    struct pie_heap_footprint footprint;
    struct pie_heap_leaks leaks;
    struct pie_heap_copies copies;
    struct pie_copy_end_row followed[PIE_COPY_ENDS]; /* by ticket, from 0 on; copies 0: not known */
    struct pie_heap_blocks counted;
    struct pie_heap_slices slices;
    char note[NOTE_BYTES];
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
    drain->has_memory = pie_heap_settings()->has_memory;
    drain->first_suspended_ns = pie_suspended_ns();
    drain->started_ns = pie_monotonic_ns();
    drain->real_offset_ns = pie_realtime_ns() - (int64_t)drain->started_ns;
    drain->random = drain->slices.random = drain->started_ns | 1;
    pie_heap_leaks_init(&drain->leaks, facts->retention, drain->started_ns);
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

static uint64_t now_of(const struct pie_heap_drain *drain) {
    return pie_monotonic_ns() + drain->suspended_ns;
}

/* The difference of two clocks that are read one after the other is never quite the same. */
static void note_suspension(struct pie_heap_drain *drain) {
    int64_t suspended_ns = pie_suspended_ns();

    if (suspended_ns < 0)
        return;
    if (drain->first_suspended_ns < 0)
        drain->first_suspended_ns = suspended_ns;
    suspended_ns -= drain->first_suspended_ns;
    if (suspended_ns > (int64_t)(drain->suspended_ns + SUSPEND_MIN_NS))
        drain->suspended_ns = (uint64_t)suspended_ns;
}

/* --- Taking events --- */

static struct event *add_event(struct pie_heap_drain *drain) {
    struct event *list = pie_list_grown(drain->events, drain->n_events, &drain->events_room, sizeof *list);

    if (!list) {
        pie_counter_add(PIE_COUNTER_OUT_OF_MEMORY, 1);
        return NULL;
    }
    drain->events = list;
    return &drain->events[drain->n_events++];
}

/* A burst leaves the next sample far ahead. */
static void sample_soon(const struct pie_heap_drain *drain, struct pie_thread *thread) {
    uint64_t now_ns = pie_monotonic_ns();

    for (int i = 0; drain->has_memory && i < PIE_HEAP_DOMAINS; i++)
        if (now_ns - pie_heap_of(thread)->rates[i].window_ns > LATE_NS) {
            pie_heap_sample_soon(thread);
            return;
        }
}

void pie_heap_drain_slot(struct pie_heap_drain *drain, struct pie_thread *thread) {
    struct pie_heap_record record;

    while (pie_heap_ring_pop(&pie_heap_of(thread)->ring, &record)) {
        if (record.event == PIE_HEAP_ALLOCATED && record.ticket)
            drain->blocks[record.ticket].is_known = true; /* also without an event: its end is waited for */
        struct event *event = add_event(drain);
        if (!event)
            continue;
        record.time_ns += drain->suspended_ns;
        *event = (struct event){.time_ns = record.time_ns, .ticket = record.ticket, .record = record};
    }
}

void pie_heap_drain_thread(struct pie_heap_drain *drain, struct pie_thread *thread) {
    sample_soon(drain, thread);
    pie_heap_drain_slot(drain, thread);
}

/* What was put under a ticket that nobody has told of yet: either the telling comes with the next tick, or, where it
 * was lost, it never comes. */
static void take_unknown(struct pie_heap_drain *drain, uint32_t ticket, enum pie_heap_fate fate) {
    if (fate == PIE_HEAP_LOST && drain->is_lost[ticket])
        pie_heap_table_recycle(ticket);
    drain->is_lost[ticket] = fate == PIE_HEAP_LOST && !drain->is_lost[ticket];
}

static void take_fate(struct pie_heap_drain *drain, uint32_t ticket) {
    uint64_t freed_ns;
    enum pie_heap_fate fate = pie_heap_table_fate(ticket, &freed_ns);

    if (fate == PIE_HEAP_ALIVE)
        return;
    struct event *event = drain->blocks[ticket].is_known ? add_event(drain) : NULL;
    if (!event) {
        pie_heap_table_tell_again(ticket);
        take_unknown(drain, ticket, fate);
        return;
    }
    *event =
        (struct event){.time_ns = fate == PIE_HEAP_FREED ? freed_ns + drain->suspended_ns : now_of(drain),
                       .kind = fate == PIE_HEAP_FREED ? EVENT_FREED : EVENT_LOST,
                       .ticket = ticket};
}

static void take_fates(struct pie_heap_drain *drain) {
    for (size_t word = 0; word < PIE_HEAP_TICKET_WORDS; word++)
        for (uint64_t ended = pie_heap_table_take_ended(word); ended; ended &= ended - 1)
            take_fate(drain, (uint32_t)(64 * word) + (uint32_t)__builtin_ctzll(ended));
}

/* --- Going through them --- */

/* Is a module being imported in this context, or no Python at work? Module-level code and the interpreter's own start
 * allocate once. */
static bool is_import(const struct pie_heap_drain *drain, struct pie_cct_id cct_node) {
    static const char importlib[] = "<frozen importlib";

    bool has_python = false;

    for (; !pie_cct_is_root(cct_node); cct_node = pie_cct_parent(cct_node)) {
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

/* Where counting pauses, a sample stands for what was not counted too. */
static double share_of(const struct pie_heap_record *record) {
    return record->share ? (double)record->share / PIE_HEAP_SHARE_ONE : 1;
}

static uint64_t scaled_weight(struct pie_heap_drain *drain, const struct pie_heap_record *record) {
    uint64_t weight_bytes = (uint64_t)((double)record->weight_bytes / share_of(record));

    drain->footprint.uncounted_bytes += weight_bytes - record->weight_bytes;
    return weight_bytes;
}

static void allocated(struct pie_heap_drain *drain, const struct pie_heap_record *record) {
    struct pie_node_id id = pie_naming_node(drain->naming, record->node);
    bool is_new;

    double small_blocks = pie_heap_blocks_add(&drain->counted, record);
    uint32_t size = pie_heap_size_of(record->block_bytes);
    struct pie_heap_node *node = id.value ? pie_heap_nodes_get(&drain->nodes, id, size, &is_new) : NULL;
    struct pie_heap_block *block = &drain->blocks[record->ticket];

    if (!node) { /* out of memory: as if it had been lost */
        pie_counter_add(PIE_COUNTER_OUT_OF_MEMORY, 1);
        return;
    }
    if (is_new) {
        node->is_import = is_import(drain, record->node);
        node->changed_ns = record->time_ns;
    }
    uint64_t weight_bytes = record->share ? scaled_weight(drain, record) : record->weight_bytes;
    float sq_bytes2 = record->is_exact
                          ? 0
                          : (float)pie_heap_node_square(node, weight_bytes, share_of(record), record->slice);
    pie_heap_node_allocated(&drain->nodes, node, record->domain, record->block_bytes, weight_bytes, sq_bytes2,
                            real_ns(drain, record->time_ns));
    if (!record->ticket)
        return;
    if (record->ticket >= drain->tickets)
        drain->tickets = record->ticket + 1u;
    *block = (struct pie_heap_block){
        .is_known = true,
        .node_index = (uint32_t)(node - drain->nodes.nodes) + 1,
        .domain = record->domain,
        .handled_16ns = record->handled_16ns,
        .small_blocks = (float)small_blocks,
        .sq_bytes2 = sq_bytes2,
        .weight_bytes = weight_bytes,
        .since_ns = record->time_ns,
    };
    drain->tracked++;
    pie_heap_node_live(&drain->nodes, node, block->domain, block->weight_bytes, block->sq_bytes2, false,
                       record->time_ns);
}

/* is_freed: it was; else it is only tracked no more. */
static void gone(struct pie_heap_drain *drain, uint32_t ticket, bool is_freed, uint64_t time_ns) {
    struct pie_heap_block *block = &drain->blocks[ticket];

    if (block->node_index) {
        struct pie_heap_node *node = &drain->nodes.nodes[block->node_index - 1];
        pie_heap_node_live(&drain->nodes, node, block->domain, block->weight_bytes, block->sq_bytes2, true,
                           time_ns);
        uint64_t lived_ns = time_ns > block->since_ns ? time_ns - block->since_ns : 0;
        if (is_freed) {
            pie_heap_node_freed(node, lived_ns);
            pie_heap_blocks_ended(&drain->counted, block->small_blocks, lived_ns,
                                  UINT64_C(16) * block->handled_16ns);
        }
        drain->tracked--;
    }
    *block = (struct pie_heap_block){0};
}

/* The collection thread may hear of the next copy of a ticket before it asks for the end of this one. */
static void take_copy_end(struct pie_heap_drain *drain, uint32_t ticket) {
    struct pie_copy_end_row *row = &drain->followed[ticket - 1];

    if (!row->copies)
        return;
    enum pie_copy_outcome outcome = pie_copy_ends_take(ticket);
    if (outcome == PIE_COPY_NO_OUTCOME)
        return;
    row->outcome = (uint8_t)outcome;
    pie_heap_copies_add_end(&drain->copies, row);
    *row = (struct pie_copy_end_row){0};
}

static void copied(struct pie_heap_drain *drain, const struct pie_heap_record *record) {
    struct pie_node_id node = pie_naming_node(drain->naming, record->node);

    pie_heap_copies_add(&drain->copies, node, record->weight_bytes, record->is_exact, record->is_shift);
    if (record->copy_end)
        drain->followed[record->copy_end - 1] =
            (struct pie_copy_end_row){.node = node, .copies = 1, .bytes = record->weight_bytes};
}

static void go_through(struct pie_heap_drain *drain, const struct event *event) {
    const struct pie_heap_record *record = &event->record;

    if (event->kind != EVENT_NOTED) {
        gone(drain, event->ticket, event->kind == EVENT_FREED, event->time_ns);
        pie_heap_table_recycle(event->ticket);
    } else if (record->event == PIE_HEAP_ALLOCATED) {
        allocated(drain, record);
    } else if (record->event == PIE_HEAP_COPIED) {
        copied(drain, record);
    } else if (pie_heap_footprint_crossed(&drain->footprint, record, real_ns(drain, record->time_ns))) {
        drain->nodes.epoch++;
    }
}

static int by_time(const void *a, const void *b) {
    const struct event *first = a, *second = b;

    return first->time_ns < second->time_ns ? -1 : first->time_ns > second->time_ns;
}

/* --- Keeping the table small --- */

static bool heads(struct pie_heap_drain *drain) {
    return pie_random_next(&drain->random) >> 40 & 1;
}

/* Of the blocks that stand for more than themselves, each second one by lot; the others stand for twice as much. What
 * cannot be dropped takes no part. */
static void thin_out(struct pie_heap_drain *drain, uint64_t now_ns) {
    const void *addresses[PIE_HEAP_TICKETS];

    pie_heap_table_blocks(addresses);
    for (uint32_t ticket = 1; ticket < drain->tickets; ticket++) {
        struct pie_heap_block *block = &drain->blocks[ticket];
        if (!block->node_index || block->sq_bytes2 == 0 || !addresses[ticket] ||
            !pie_heap_table_is_last(ticket, addresses[ticket]))
            continue;
        if (heads(drain)) {
            if (pie_heap_table_drop(ticket, addresses[ticket]))
                gone(drain, ticket, false, now_ns);
            continue;
        }
        struct pie_heap_node *node = &drain->nodes.nodes[block->node_index - 1];
        pie_heap_node_live(&drain->nodes, node, block->domain, block->weight_bytes, block->sq_bytes2, true,
                           now_ns);
        block->weight_bytes *= 2;
        block->sq_bytes2 *= 4;
        pie_heap_node_live(&drain->nodes, node, block->domain, block->weight_bytes, block->sq_bytes2, false,
                           now_ns);
    }
}

/* --- Each tick --- */

/* The last look at the process found a peak: what had been allocated by then, but was not told of yet, was alive at
 * it. */
static void pass_peak(struct pie_heap_drain *drain) {
    if (!drain->peak_ns)
        return;
    drain->nodes.epoch++;
    drain->peak_ns = 0;
}

static void note_lives(struct pie_heap_drain *drain, uint64_t now_ns) {
    struct pie_heap_node *node;

    while (drain->n_lives < LIVE_ROWS_MAX && (node = pie_heap_nodes_take_changed(&drain->nodes)) != NULL)
        drain->lives[drain->n_lives++] = (struct pie_live_row){
            .node = node->row.node,
            .size = node->row.size,
            .time_ns = real_ns(drain, now_ns),
            .live_bytes = pie_heap_node_live_bytes(node),
        };
}

static void look_for_leaks(struct pie_heap_drain *drain, uint64_t now_ns) {
    pie_heap_leaks_decide(&drain->leaks, &drain->nodes, drain->blocks, drain->tickets, now_ns);
    pie_heap_leaks_ask(&drain->leaks, &drain->nodes, drain->blocks, drain->tickets, now_ns);
    drain->leaks_ns = now_ns;
}

void pie_heap_drain_tick(struct pie_heap_drain *drain) {
    uint64_t now_ns = now_of(drain);

    take_fates(drain);
    if (drain->n_events > 0) {
        (void)pie_sort(drain->events, drain->n_events, sizeof *drain->events, by_time);
        for (size_t i = 0; i < drain->n_events; i++) {
            if (drain->events[i].time_ns > drain->peak_ns)
                pass_peak(drain);
            go_through(drain, &drain->events[i]);
        }
        drain->n_events = 0;
    }
    for (uint32_t ticket = 1; ticket <= PIE_COPY_ENDS; ticket++)
        take_copy_end(drain, ticket);
    note_lives(drain, now_ns);
    pass_peak(drain);
    if (drain->tracked > TRACKED_MAX)
        thin_out(drain, now_ns);
    if (pie_heap_footprint_tick(&drain->footprint, now_ns, real_ns(drain, now_ns),
                                drain->facts->is_finalizing()))
        drain->peak_ns = now_of(drain);
    pie_heap_footprint_name(&drain->footprint, drain->naming);
    if (drain->has_memory)
        pie_heap_slices_tick(&drain->slices, now_ns - drain->suspended_ns, drain->facts->is_finalizing());
    if (drain->has_memory && now_ns - drain->leaks_ns > LEAKS_NS)
        look_for_leaks(drain, now_ns);
    note_suspension(drain); /* last: what the next tick takes is of one time */
}

static uint64_t quiet_visits(void) {
    uint64_t visits = 0;

    for (size_t i = 0; i < pie_thread_count(); i++)
        visits += atomic_load_explicit(&pie_heap_of(pie_thread_at(i))->quiet_visits, memory_order_relaxed);
    return visits;
}

uint64_t pie_heap_drain_counting_ns(const struct pie_heap_drain *drain) {
    if (!drain->has_memory)
        return 0;
    return (uint64_t)(pie_heap_blocks_ns(&drain->counted) +
                      (double)quiet_visits() * pie_heap_quiet_visit_ns()) +
           pie_heap_pauses_cost_ns();
}

void pie_heap_drain_count_share(struct pie_heap_drain *drain, double share) {
    drain->slices.share = share;
}

/* --- Writing --- */

/* Of all contexts: an integral grows while nothing changes, and an older peak may be over. */
static void update_all(struct pie_heap_drain *drain, uint64_t now_ns) {
    for (size_t i = 0; i < drain->nodes.count; i++) {
        struct pie_heap_node *node = &drain->nodes.nodes[i];
        pie_heap_node_update(&drain->nodes, node, now_ns);
        if (node->row.live_bytes > 0 || node->row.mallocs > 0)
            pie_heap_node_touch(&drain->nodes, node);
    }
    drain->full_ns = now_ns;
}

static void leave_copies_open(struct pie_heap_drain *drain) {
    for (int i = 0; i < PIE_COPY_ENDS; i++) {
        drain->followed[i].outcome = PIE_COPY_OPEN;
        if (drain->followed[i].copies)
            pie_heap_copies_add_end(&drain->copies, &drain->followed[i]);
        drain->followed[i] = (struct pie_copy_end_row){0};
    }
}

void pie_heap_drain_prepare(struct pie_heap_drain *drain, bool is_last) {
    uint64_t now_ns = now_of(drain);
    uint64_t elapsed_ns = now_ns - drain->started_ns;

    if (is_last) {
        pass_peak(drain);
        leave_copies_open(drain);
    }
    if (is_last || now_ns - drain->full_ns > elapsed_ns / FULL_PART)
        update_all(drain, now_ns);
    for (uint32_t i = drain->nodes.dirty; i; i = drain->nodes.nodes[i - 1].next_dirty)
        pie_heap_node_update(&drain->nodes, &drain->nodes.nodes[i - 1], now_ns);
    look_for_leaks(drain, now_ns);
}

static int write_node(struct pie_heap_node *node, struct pie_sink *sink) {
    struct pie_allocated_row allocated;
    int r = sink->ops->put_allocation(sink, &node->row);

    if (r == 0 && pie_heap_node_take_allocated(node, &allocated))
        r = sink->ops->put_allocated(sink, &allocated);
    return r;
}

static int write_nodes(struct pie_heap_drain *drain, struct pie_sink *sink) {
    int r = 0;

    for (uint32_t i = drain->nodes.dirty; r == 0 && i; i = drain->nodes.nodes[i - 1].next_dirty)
        r = write_node(&drain->nodes.nodes[i - 1], sink);
    for (size_t i = 0; r == 0 && i < drain->n_lives; i++)
        r = sink->ops->put_live(sink, &drain->lives[i]);
    return r;
}

/* What the process says is not counted goes before what the budget leaves out. */
static int write_footprint(struct pie_heap_drain *drain, struct pie_sink *sink) {
    const char *note = atomic_load_explicit(&drain->facts->note, memory_order_relaxed);

    if (!note)
        note = pie_heap_slices_note(&drain->slices, drain->started_ns, now_of(drain) - drain->suspended_ns,
                                    drain->note, sizeof drain->note);
    return pie_heap_footprint_write(&drain->footprint, sink, drain->facts->allocator, note);
}

int pie_heap_drain_write(struct pie_heap_drain *drain, struct pie_sink *sink) {
    int r = 0;

    if (drain->has_memory)
        r = write_nodes(drain, sink);
    if (r == 0 && drain->has_memory)
        r = write_footprint(drain, sink);
    if (r == 0)
        r = pie_heap_copies_write(&drain->copies, sink);
    if (r == 0)
        r = pie_heap_leaks_write(&drain->leaks, sink);
    return r;
}

void pie_heap_drain_clear(struct pie_heap_drain *drain) {
    pie_heap_nodes_written(&drain->nodes);
    drain->n_lives = 0;
    pie_heap_footprint_clear(&drain->footprint);
    pie_heap_copies_clear(&drain->copies);
    pie_heap_leaks_clear(&drain->leaks);
}

void pie_heap_drain_spent(const struct pie_heap_drain *drain, uint64_t *ret_memory_ns,
                          uint64_t *ret_copies_ns) {
    *ret_memory_ns = *ret_copies_ns = 0;
    for (size_t i = 0; i < pie_thread_count(); i++) {
        const struct pie_thread *thread = pie_thread_at(i);
        *ret_memory_ns += atomic_load_explicit(&pie_heap_of(thread)->memory_ns, memory_order_relaxed);
        *ret_copies_ns += atomic_load_explicit(&pie_heap_of(thread)->copies_ns, memory_order_relaxed);
    }
}

/* --- Turns of the tree --- */

void pie_heap_drain_complete(struct pie_heap_drain *drain) {
    drain->full_ns = 0;
}

bool pie_heap_drain_holds(const struct pie_heap_drain *drain, struct pie_node_id node) {
    for (int i = 0; i < PIE_COPY_ENDS; i++)
        if (drain->followed[i].copies && drain->followed[i].node.value == node.value)
            return true;
    return pie_heap_nodes_hold(&drain->nodes, node);
}

static bool is_kept(void *data, struct pie_node_id node) {
    const struct pie_heap_drain *drain = data;

    return pie_naming_keeps_node(drain->naming, node);
}

void pie_heap_drain_forget(struct pie_heap_drain *drain) {
    uint32_t *index;

    if (!pie_heap_nodes_forget(&drain->nodes, is_kept, drain, &index))
        return;
    for (uint32_t ticket = 1; ticket < drain->tickets; ticket++)
        drain->blocks[ticket].node_index = index[drain->blocks[ticket].node_index];
    pie_free(index);
}
