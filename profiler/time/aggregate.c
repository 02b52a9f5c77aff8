/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/time/aggregate.h"

#include "profiler/base/hash.h"
#include "profiler/base/list.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/u64map.h"
#include "profiler/stacks/cct.h"
#include "profiler/time/tasks.h"
#include "profiler/time/sample_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Open addressing; a slot holds the index of its row plus one. */
struct pie_aggregate_slot {
    uint32_t row;
};

static size_t find_slot(const struct pie_aggregate *aggregate, uint32_t thread, struct pie_cct_id node) {
    size_t at = (size_t)pie_hash_mix(thread, node.value) & (aggregate->capacity - 1);

    for (;; at = (at + 1) & (aggregate->capacity - 1)) {
        uint32_t row = aggregate->slots[at].row;
        if (!row || (aggregate->rows[row - 1].sums.thread == thread &&
                     aggregate->rows[row - 1].node.value == node.value))
            return at;
    }
}

static int grow(struct pie_aggregate *aggregate) {
    size_t room = aggregate->room ? aggregate->room * 2 : 512;
    struct pie_aggregate_row *rows = pie_realloc(aggregate->rows, room * sizeof *rows);

    if (!rows)
        return -ENOMEM;
    aggregate->rows = rows;
    struct pie_aggregate_slot *slots = pie_calloc(room * 2, sizeof *slots);
    if (!slots)
        return -ENOMEM;
    pie_free(aggregate->slots);
    aggregate->slots = slots;
    aggregate->room = room;
    aggregate->capacity = room * 2;
    for (size_t i = 0; i < aggregate->count; i++)
        slots[find_slot(aggregate, rows[i].sums.thread, rows[i].node)].row = (uint32_t)i + 1;
    return 0;
}

static struct pie_aggregate_row *find_row(struct pie_aggregate *aggregate, uint32_t thread,
                                          struct pie_cct_id node) {
    if (aggregate->count == aggregate->room && grow(aggregate) < 0)
        return NULL;
    struct pie_aggregate_slot *slot = &aggregate->slots[find_slot(aggregate, thread, node)];
    if (!slot->row) {
        aggregate->rows[aggregate->count] =
            (struct pie_aggregate_row){.node = node, .sums = {.thread = thread}};
        slot->row = (uint32_t)++aggregate->count;
    }
    return &aggregate->rows[slot->row - 1];
}

static struct pie_sample_row *row_for(struct pie_aggregate *aggregate, uint32_t thread,
                                      struct pie_cct_id node) {
    struct pie_aggregate_row *row = find_row(aggregate, thread, node);

    return row ? &row->sums : NULL;
}

static bool is_same(const struct pie_wait_reason *a, const struct pie_wait_reason *b) {
    return a->cause == b->cause && a->resource == b->resource && a->peer.value == b->peer.value &&
           a->coroutine.value == b->coroutine.value && a->task == b->task && a->holds_gil == b->holds_gil;
}

/* A thread has few reasons to wait in one place. */
static struct pie_aggregate_wait *wait_for(struct pie_aggregate *aggregate, struct pie_aggregate_row *row,
                                           const struct pie_wait_reason *reason) {
    for (uint32_t i = row->waits; i; i = aggregate->waits[i - 1].next)
        if (is_same(&aggregate->waits[i - 1].reason, reason))
            return &aggregate->waits[i - 1];
    struct pie_aggregate_wait *waits =
        pie_list_grown(aggregate->waits, aggregate->n_waits, &aggregate->wait_room, sizeof *waits);
    if (!waits)
        return NULL;
    aggregate->waits = waits;
    struct pie_aggregate_wait *wait = &aggregate->waits[aggregate->n_waits++];
    *wait = (struct pie_aggregate_wait){.reason = *reason, .next = row->waits};
    row->waits = (uint32_t)aggregate->n_waits;
    return wait;
}

/* Few tasks run in one place. */
static struct pie_aggregate_task *task_for(struct pie_aggregate *aggregate, struct pie_aggregate_row *row,
                                           struct pie_cct_id coroutine, uint16_t name) {
    for (uint32_t i = row->tasks; i; i = aggregate->tasks[i - 1].next)
        if (aggregate->tasks[i - 1].coroutine.value == coroutine.value &&
            aggregate->tasks[i - 1].name == name)
            return &aggregate->tasks[i - 1];
    struct pie_aggregate_task *tasks =
        pie_list_grown(aggregate->tasks, aggregate->n_tasks, &aggregate->task_room, sizeof *tasks);
    if (!tasks)
        return NULL;
    aggregate->tasks = tasks;
    struct pie_aggregate_task *task = &aggregate->tasks[aggregate->n_tasks++];
    *task = (struct pie_aggregate_task){.coroutine = coroutine, .name = name, .next = row->tasks};
    row->tasks = (uint32_t)aggregate->n_tasks;
    return task;
}

static int add_task(struct pie_aggregate *aggregate, uint32_t thread, const struct pie_record *record) {
    struct pie_aggregate_row *row = find_row(aggregate, thread, record->node);
    struct pie_cct_id coroutine = {0};

    if (record->task_up != PIE_SAMPLE_TASK_UP_UNKNOWN)
        coroutine = record->node;
    for (unsigned up = record->task_up; coroutine.value && up > 0; up--)
        coroutine = pie_cct_parent(coroutine);
    struct pie_aggregate_task *task = row ? task_for(aggregate, row, coroutine, record->task) : NULL;
    if (!task)
        return -ENOMEM;
    task->cpu_ns += record->user_ns + record->system_ns;
    return 0;
}

int pie_aggregate_add_sample(struct pie_aggregate *aggregate, uint32_t thread,
                             const struct pie_record *record) {
    struct pie_sample_row *row = row_for(aggregate, thread, record->node);
    double weight_ns = (double)record->user_ns + (double)record->system_ns;

    if (!row)
        return -ENOMEM;
    row->samples += !record->is_rest;
    if (record->is_python)
        row->python_ns += record->user_ns;
    else
        row->native_ns += record->user_ns;
    row->system_ns += record->system_ns;
    row->cpu_sq_ns2 += weight_ns * weight_ns;
    if (record->task && add_task(aggregate, thread, record) < 0)
        return -ENOMEM;
    if (!record->collects)
        return 0;
    return pie_aggregate_add_related(aggregate, thread, record->node,
                                     (enum pie_related_kind)(PIE_RELATED_GC_YOUNG + record->collects - 1),
                                     record->user_ns + record->system_ns);
}

int pie_aggregate_add_wait(struct pie_aggregate *aggregate, uint32_t thread, struct pie_cct_id node,
                           const struct pie_wait_reason *reason, int64_t wait_ns) {
    struct pie_aggregate_row *row = find_row(aggregate, thread, node);
    struct pie_aggregate_wait *wait = row ? wait_for(aggregate, row, reason) : NULL;

    if (!wait)
        return -ENOMEM;
    row->sums.wait_samples += wait_ns > 0;
    row->sums.wait_ns += wait_ns;
    wait->looks += wait_ns > 0;
    wait->wait_ns += wait_ns;
    return 0;
}

int pie_aggregate_add_related(struct pie_aggregate *aggregate, uint32_t thread, struct pie_cct_id node,
                              enum pie_related_kind kind, uint64_t time_ns) {
    struct pie_aggregate_row *row = find_row(aggregate, thread, node);

    if (!row)
        return -ENOMEM;
    row->related_ns[kind - 1] += time_ns;
    return 0;
}

int pie_aggregate_add_delay(struct pie_aggregate *aggregate, uint32_t thread, struct pie_cct_id node,
                            uint64_t runnable_ns, uint64_t throttled_ns) {
    struct pie_sample_row *row = row_for(aggregate, thread, node);

    if (!row)
        return -ENOMEM;
    row->runnable_ns += runnable_ns;
    row->throttled_ns += throttled_ns;
    return 0;
}

void pie_aggregate_clear(struct pie_aggregate *aggregate) {
    aggregate->count = 0;
    aggregate->n_waits = aggregate->n_tasks = 0;
    if (aggregate->slots)
        memset(aggregate->slots, 0, aggregate->capacity * sizeof *aggregate->slots);
}

void pie_aggregate_finish(struct pie_aggregate *aggregate) {
    pie_free(aggregate->rows);
    pie_free(aggregate->slots);
    pie_free(aggregate->waits);
    pie_free(aggregate->tasks);
    *aggregate = (struct pie_aggregate){0};
}
