/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One sample as the handler leaves it for the collection thread. */
struct pie_record {
    uint64_t time_ns;   /* CLOCK_MONOTONIC */
    uint64_t user_ns;   /* CPU time in user mode since the thread's previous sample */
    uint64_t system_ns; /* CPU time in the kernel since then */
    uint32_t node;      /* calling context */
    uint8_t is_python;  /* user_ns is the interpreter's, else native code's */
    uint8_t is_rest;    /* no sample: what the thread ran after its last one until its end */
    uint8_t reserved[2];
};
static_assert(sizeof(struct pie_record) == 32, "records are part of the shared mapping's layout");
static_assert(offsetof(struct pie_record, node) == 24, "records are part of the shared mapping's layout");

enum { PIE_RING_RECORDS = 1024 }; /* 200 ms at 5 kHz; drained every 50 ms */

/* A ring of records: one writer (handlers of one thread; a handler does not interrupt itself), one reader (the
 * collection thread). Positions count up for ever and are offsets, never pointers, so that another process can read
 * the mapping. Wait-free on both sides; a full ring refuses and the caller counts. */
struct pie_ring {
    /* Written by push (release), read by pop (acquire): records below it are complete. */
    _Atomic uint64_t head;
    /* Written by pop (release), read by push (acquire): records below it may be overwritten. */
    _Atomic uint64_t tail;
    struct pie_record records[PIE_RING_RECORDS];
};

/* Context: signal. False: full. */
bool pie_ring_push(struct pie_ring *ring, const struct pie_record *record);
/* Context: drain. False: empty. */
bool pie_ring_pop(struct pie_ring *ring, struct pie_record *ret_record);
