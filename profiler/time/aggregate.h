/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/ids.h"
#include "profiler/ports/sink.h"
#include "profiler/time/wait_reason.h"

#include <stddef.h>
#include <stdint.h>

/* Sums of samples by (thread, CCT node) since the last flush. Context: drain. */

struct pie_aggregate_row {
    struct pie_cct_id node;
    struct pie_sample_row sums;             /* without the node */
    uint32_t waits;                         /* index of the first of its reasons to wait, plus one; 0: none */
    uint32_t tasks;                         /* the same of tasks that ran there */
    uint64_t related_ns[PIE_RELATED_KINDS]; /* by kind, which counts from 1 */
};

/* A part of a row's wait_ns. */
struct pie_aggregate_wait {
    struct pie_wait_reason reason;
    int64_t wait_ns;
    uint32_t looks;
    uint32_t next; /* of the same row, as above */
};

/* A part of a row's CPU time. */
struct pie_aggregate_task {
    struct pie_cct_id coroutine; /* where the task's own coroutine begins; 0: not known */
    uint16_t name;               /* tasks.h */
    uint64_t cpu_ns;
    uint32_t next; /* of the same row, as above */
};

struct pie_aggregate {
    struct pie_aggregate_row *rows;
    size_t count, room;
    struct pie_aggregate_slot *slots;
    size_t capacity;
    struct pie_aggregate_wait *waits;
    size_t n_waits, wait_room;
    struct pie_aggregate_task *tasks;
    size_t n_tasks, task_room;
};

struct pie_record;

/* Returns 0 or -ENOMEM. */
int pie_aggregate_add_sample(struct pie_aggregate *aggregate, uint32_t thread,
                             const struct pie_record *record);
/* wait_ns < 0: less than was said before. */
int pie_aggregate_add_wait(struct pie_aggregate *aggregate, uint32_t thread, struct pie_cct_id node,
                           const struct pie_wait_reason *reason, int64_t wait_ns);
int pie_aggregate_add_related(struct pie_aggregate *aggregate, uint32_t thread, struct pie_cct_id node,
                              enum pie_related_kind kind, uint64_t time_ns);
int pie_aggregate_add_delay(struct pie_aggregate *aggregate, uint32_t thread, struct pie_cct_id node,
                            uint64_t runnable_ns, uint64_t throttled_ns);
/* Forgets all rows (they were written). */
void pie_aggregate_clear(struct pie_aggregate *aggregate);
void pie_aggregate_finish(struct pie_aggregate *aggregate);
