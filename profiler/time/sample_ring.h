/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/base/spsc.h"
#include "profiler/ports/ids.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* One sample as the handler leaves it for the collection thread. */
struct pie_record {
    uint64_t time_ns;       /* CLOCK_MONOTONIC */
    uint64_t user_ns;       /* CPU time in user mode since the thread's previous sample */
    uint64_t system_ns;     /* CPU time in the kernel since then */
    struct pie_cct_id node; /* calling context */
    uint16_t task;          /* struct pie_sample_task, as the next one */
    uint8_t task_up;
    uint8_t is_python : 1; /* user_ns is the interpreter's, else native code's */
    uint8_t is_rest : 1;   /* no sample: what the thread ran after its last one until its end */
    uint8_t collects : 2;  /* generation of the garbage that was collected, plus one; 0: none */
};
static_assert(sizeof(struct pie_record) == 32, "records lie in the region");
static_assert(offsetof(struct pie_record, node) == 24, "records lie in the region");

enum { PIE_RING_RECORDS = 1024 }; /* 200 ms at 5 kHz; drained at each tick */
PIE_SPSC_RING(pie_ring, struct pie_record, PIE_RING_RECORDS);
