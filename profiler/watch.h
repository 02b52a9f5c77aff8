/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/access.h"
#include "profiler/debug_registers.h"
#include "profiler/pystack.h"

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* The three-stage watch of PieProf's CL algorithm (PieProf §4.2; three stages instead of two, see DESIGN.md):
 *
 *   1  a sample chose a memory access: execute breakpoint on it; when it fires the registers are exact
 *   2  execute breakpoint where the native call returns to the evaluation loop
 *   3  data breakpoint on the address: the next access is another native call's, by construction; compare values
 *
 * watch_sigsafe.c is the policy, debug_registers.h what it works on, watch_drain.c adds up what came of it. */

struct pie_thread;

enum pie_watch_stage {
    PIE_WATCH_FREE,
    PIE_WATCH_ACCESS, /* stage 1 */
    PIE_WATCH_RETURN, /* stage 2 */
    PIE_WATCH_DATA,   /* stage 3 */
};

enum pie_watch_kind { PIE_WATCH_LOAD = 1, PIE_WATCH_STORE = 2 };

/* How a watch that reached stage 3 ended. */
enum pie_watch_outcome {
    PIE_WATCH_REDUNDANT = 1, /* the next access, in another native call, found or wrote the same value */
    PIE_WATCH_CHANGED,       /* … another value */
    PIE_WATCH_RELEASED,      /* the allocator touched it: the block was freed or handed out again */
    PIE_WATCH_EVICTED,       /* another access took the register first */
    PIE_WATCH_UNTOUCHED,     /* nobody touched it before the thread or the profile ended */
    PIE_WATCH_LOST,          /* the interpreter or the kernel touched it, or the trap came late */
};

/* What kind of memory was watched. */
enum pie_watch_memory {
    PIE_WATCH_MEMORY_OTHER,  /* other memory of the native code: tables, descriptors, buffers */
    PIE_WATCH_MEMORY_OBJECT, /* a field of a Python object */
    PIE_WATCH_MEMORY_ARRAY,  /* the data of an array */
    PIE_WATCH_MEMORY_RESULT, /* of the object (or of the array) that the first call returned: recycled when it is written again */
};

enum pie_watch_traits {
    PIE_WATCH_IN_LOOP =
        1, /* the first access lies in a loop of machine code, or is repeated or wide: bulk work */
};

enum pie_watch_record_kind {
    PIE_WATCH_RECORD_REACHED = 1, /* stage 3 begins */
    PIE_WATCH_RECORD_ENDED,
};

/* What the handler leaves for the collection thread. */
struct pie_watch_record {
    uint64_t time_ns;                         /* CLOCK_MONOTONIC */
    uint64_t address, size;                   /* of the watched word, bytes */
    uint64_t rip;                             /* ENDED by a trap: the instruction after the access, else 0 */
    uint64_t registers[PIE_ACCESS_REGISTERS]; /* ENDED by a trap */
    uint64_t length_ns; /* REACHED: from the access to the call's return, less the price of traps between */
    uint64_t gap_ns;    /* ENDED: since stage 3 began */
    uint64_t access_ip; /* of the first access */
    uint64_t access_bytes; /* that the first access touches: its operand, a REP string as a whole */
    uint32_t first_node, second_node;              /* CCT nodes; second 0: none */
    uint32_t serial;                               /* of the watch in its thread */
    uint8_t record, kind, outcome, memory, traits; /* enums above */
    uint8_t reserved[7];
};
static_assert(sizeof(struct pie_watch_record) == 224, "records are part of the shared mapping's layout");

enum { PIE_WATCH_RING_RECORDS = 128, PIE_WATCH_WISHES = 64 };

/* One writer (handlers of one thread), one reader (the collection thread); as struct pie_ring. */
struct pie_watch_ring {
    _Atomic uint64_t head, tail;
    struct pie_watch_record records[PIE_WATCH_RING_RECORDS];
};

/* Addresses whose basic block is wanted; same kind of ring. */
struct pie_watch_wishes {
    _Atomic uint64_t head, tail;
    uint64_t ips[PIE_WATCH_WISHES];
};

struct pie_watch_slot {
    uint32_t stage, serial;
    uint32_t seen;     /* samples since this slot was last free or trapped: the reservoir's n */
    uint32_t traps;    /* in this stage that were not what is waited for */
    uint64_t began_ns; /* this stage */
    uint64_t address, return_ip, return_sp, value, started_ns, call_ns_taken;
    struct pie_access access;
    uint32_t size, first_node;
    uint8_t kind, memory, traits, is_lost;
    uint32_t reserved;
};

/* The watch's part of a thread (in struct pie_thread). */
struct pie_watch_thread {
    int32_t fds[PIE_DEBUG_REGISTERS]; /* of debug_registers_perf: descriptor, -1: none yet, -2: refused */
    struct pie_watch_slot slots[PIE_DEBUG_REGISTERS];
    uint64_t random;
    uint32_t serial;
    uint32_t n_slots;          /* that can be had on this machine, at most PIE_DEBUG_REGISTERS */
    int64_t credit_ns;         /* what watching may cost now: the trap budget */
    uint64_t credit_cpu_ns;    /* thread CPU time up to which credit was given */
    _Atomic uint64_t spent_ns; /* on watching: handlers and traps */
    struct pie_watch_wishes wishes;
    struct pie_watch_ring ring;
};
