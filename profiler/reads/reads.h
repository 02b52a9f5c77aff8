/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/base/spsc.h"
#include "profiler/ports/ids.h"
#include "profiler/ports/pystack.h"
#include "profiler/thread/part.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

/* What calls read, by samples of time: a sample that falls into a call finds the call's arguments on the evaluation
 * stack of its frame. No debug register is needed.
 *
 *   reads/reads_sigsafe.c  what does the call at work read?
 *   reads/places.c         the collection thread compares it with what the place had read at the sample before */

struct pie_sample;
struct pie_thread;

/* A sample of such a call. */
struct pie_reads_record {
    struct pie_call_read read;
    uint64_t cpu_ns; /* that the sample stands for */
    struct pie_cct_id node;
    uint32_t reserved;
};
static_assert(sizeof(struct pie_reads_record) == 64, "records lie in the region");

enum { PIE_READS_RING_RECORDS = 128 }; /* 25 ms at 5 kHz */
PIE_SPSC_RING(pie_reads_ring, struct pie_reads_record, PIE_READS_RING_RECORDS);

/* A thread's part. */
struct pie_reads_thread {
    struct pie_reads_ring ring;
    struct pie_reads_record
        sort; /* of samples in a row in a sort of one list; read.kind 0: none. Handlers only */
};
extern struct pie_thread_part pie_reads_part;

/* Context: any. */
static inline struct pie_reads_thread *pie_reads_of(const struct pie_thread *thread) {
    return pie_thread_part_of(thread, &pie_reads_part);
}

/* Handlers look at calls by these operations, or, with NULL, not; not at first. ops live as long as the process.
 * Context: drain. */
void pie_reads_set(const struct pie_pystack_ops *ops);

/* For pie_watch_set_returned(). Context: signal. */
void pie_reads_returned(struct pie_thread *thread);

/* Leaves a record, if the sample fell into a call that reads something long. Context: signal. */
void pie_reads_sampled(struct pie_thread *thread, const struct pie_sample *sample);
