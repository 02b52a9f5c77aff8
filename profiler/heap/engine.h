/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/base/spsc.h"
#include "profiler/ports/ids.h"
#include "profiler/heap/heap.h"
#include "profiler/thread/part.h"

#include <assert.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Between the memory collector's slow path (heap_sigsafe.c, copies_sigsafe.c, heap/table_sigsafe.c) and the collection
 * thread (heap/drain.c). */

struct pie_pystack_ops;
struct pie_thread;

enum pie_heap_event {
    PIE_HEAP_ALLOCATED, /* a sampled allocation */
    PIE_HEAP_CROSSED,   /* the footprint has changed by the threshold */
    PIE_HEAP_COPIED,    /* a sampled copy */
};

/* What a thread noted. 64 bytes. */
struct pie_heap_record {
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    uint64_t weight_bytes;
    uint64_t block_bytes;                 /* ALLOCATED: of the block itself */
    int64_t heap_bytes[PIE_HEAP_DOMAINS]; /* CROSSED: of the process */
    uintptr_t block;                      /* ALLOCATED */
    struct pie_cct_id node;               /* 0: the tree is full */
    uint16_t ticket;                      /* ALLOCATED: of the tracked block, 0: not tracked */
    uint8_t event, domain;                /* pie_heap_event, pie_heap_domain */
    uint8_t is_exact;                     /* the weight is what was seen, not an estimate */
    uint8_t is_shift;                     /* COPIED */
    uint8_t copy_end;                     /* COPIED: ticket of copy_ends.h, 0: not followed */
    uint8_t slice;                        /* ALLOCATED: pauses.h */
    uint16_t share;                       /* … of time that is counted, of PIE_HEAP_SHARE_ONE; 0: all */
    uint16_t handled_16ns;                /* ALLOCATED: from time_ns to the record, in 16 ns; at most 1 ms */
};
static_assert(sizeof(struct pie_heap_record) == 64, "eight words");

/* now_ns: CLOCK_MONOTONIC, as time_ns. Context: hook. */
static inline void pie_heap_record_handled(struct pie_heap_record *record, uint64_t now_ns) {
    uint64_t handled_16ns = (now_ns - record->time_ns) / 16;

    record->handled_16ns = (uint16_t)(handled_16ns < UINT16_MAX ? handled_16ns : UINT16_MAX);
}

enum { PIE_HEAP_RING_RECORDS = 1024 };
PIE_SPSC_RING(pie_heap_ring, struct pie_heap_record, PIE_HEAP_RING_RECORDS);

/* How one kind of event is sampled by bytes. The distance is drawn anew for each sample, from half to one and a half
 * times the interval, and the interval follows the rate of samples and what they cost. */
struct pie_heap_rate {
    uint64_t interval_bytes;
    uint64_t narrow_bytes;       /* the interval before it was widened; 0: it is not */
    uint64_t base_bytes;         /* counted up to here at the last sample */
    uint64_t next_bytes;         /* count at which the next one is taken */
    uint64_t exact_bytes;        /* an event of this size or more stands for itself */
    uint64_t window_ns, samples; /* samples taken since window_ns (CLOCK_MONOTONIC) */
    uint64_t cost_ns;            /* of the last sample */
    uint64_t gap_ns;             /* wanted between two samples, at least */
    uint64_t cost_part;          /* of the time, samples may take the 1/cost_part */
    /* From large_bytes on an event stands for itself too, until there are too many of that size. */
    uint64_t large_bytes, large_min_bytes;
    uint64_t large_ns, large_samples; /* of these, taken since large_ns (CLOCK_MONOTONIC) */
};

/* A thread's part. Written by the thread alone, but for the ring's tail. Counts, rates, times
 * and the ring belong to the slot and go on with its next thread: what is summed over all slots is true at any moment,
 * also while a thread ends, and a thread need not wait until it is drained. */
struct pie_heap_state {
    struct pie_heap_thread counts; /* first: what pie_heap_self points to */
    struct pie_heap_rate rates[PIE_HEAP_DOMAINS];
    int64_t folded_bytes[PIE_HEAP_DOMAINS];  /* of allocated - freed, what the process's total has got */
    int64_t crossed_bytes[PIE_HEAP_DOMAINS]; /* allocated - freed at the last crossing */
    uint64_t crossed_ns, crossing_cost_ns;   /* CLOCK_MONOTONIC of the last crossing noted; what it cost */
    uint64_t looked_ns;                      /* CLOCK_MONOTONIC of the last crossing that read the clock */
    uint32_t quiet_crossings;                /* how many after that one do not read it */
    uint32_t quiet_left;                     /* … and how many of them are left */
    _Atomic bool is_late[PIE_HEAP_DOMAINS];  /* set by the collection thread: no sample for long */
    struct pie_heap_rate copies;
    int64_t copy_distance_bytes;   /* what pie_copy_left began with; 0: nothing yet */
    struct pie_cct_id copied_node; /* of the last copy that stood for others too; 0: none yet */
    bool was_shift;                /* it was one */
    uint64_t follow_ns;            /* CLOCK_MONOTONIC: no copy is followed before */
    uint64_t random;
    _Atomic uint64_t memory_ns, copies_ns; /* spent in the slow paths */
    _Atomic uint64_t quiet_visits;         /* to the slow path without a reading of the clock */
    uint64_t fastest_ns;                   /* of the samples of allocations; 0: none yet */
    uint64_t paused_ns;                    /* that the rate of Python's samples has been told of (pauses.h) */
    struct pie_heap_ring ring;
};
extern struct pie_thread_part pie_heap_part;

/* Context: any. */
static inline struct pie_heap_state *pie_heap_of(const struct pie_thread *thread) {
    return pie_thread_part_of(thread, &pie_heap_part);
}

/* What all threads of the process go by: set once before a thread counts. */
struct pie_heap_settings {
    const struct pie_pystack_ops *ops;
    bool has_memory, has_copies;
    uint64_t threshold_bytes; /* at most; reached by steps from below unless is_fixed */
    bool is_fixed;
    bool is_child;  /* of another process of the run: fewer samples at first */
    bool is_frugal; /* the user named a budget: still fewer, and peaks that follow each other wait */
    bool (*is_finalizing)(
        void); /* Python gives everything back: that says nothing about leaks. Context: hook, drain */
};

/* Context: engine start (before the first thread begins). NULL: nothing is counted. settings: borrowed. */
void pie_heap_set(const struct pie_heap_settings *settings);
const struct pie_heap_settings *pie_heap_settings(void);
/* In a forked child, before its thread begins. */
void pie_heap_forget(void);

/* What each kind of sample and crossing may take of the time: its reciprocal; 0: as at first. Context: drain. */
void pie_heap_allow(uint32_t memory_part, uint32_t copies_part);

/* What the calling thread has copied since its last sample becomes a record. Context: hook. */
void pie_heap_take_rest(void);

/* The calling thread is the profiler's own: what it allocates is counted, not sampled. Context: drain. */
void pie_heap_own_thread(void);
/* Bytes that the profiler's thread has allocated and not freed. Context: drain. */
int64_t pie_heap_own_bytes(void);

/* A thread has allocated for long without a sample: it looks at its next allocation. Context: drain. */
void pie_heap_sample_soon(struct pie_thread *thread);

/* The process holds more, by what no thread has counted. Context: hook. */
void pie_heap_moved(enum pie_heap_domain domain, int64_t bytes);

/* The footprint's threshold at present. Context: any. */
uint64_t pie_heap_threshold(void);

/* The greatest footprint seen by any thread when it crossed a threshold, by domain. Context: drain. */
int64_t pie_heap_peak(int64_t ret_bytes[PIE_HEAP_DOMAINS]);

/* May a peak that is higher than the last one by so much be left to the next crossing, or to the collection thread,
 * which sees it if it lasts? cost_part: of the time, crossings may take the 1/cost_part. Context: hook. */
bool pie_heap_peak_waits(const struct pie_heap_state *state, int64_t above_bytes, uint64_t cost_part);

/* Takes the next event of a rate. Returns the sample's weight, 0 for none. count_bytes: after the event, whose size
 * is bytes; *ret_is_exact: the weight is the event's own. Context: hook. */
uint64_t pie_heap_rate_take(struct pie_heap_rate *rate, uint64_t count_bytes, uint64_t bytes, uint64_t now_ns,
                            uint64_t *random, bool *ret_is_exact);
/* Sets the number of threads that are sampled: each takes fewer. Samples may take one part in cost_part of the time.
 * Context: hook. */
void pie_heap_rate_share(struct pie_heap_rate *rate, uint64_t threads, uint64_t cost_part);
/* While room for samples is scarce, each call doubles the distance of the next points, up to 64 times what it was. A
 * call where it is not takes that back. Context: hook. */
void pie_heap_rate_leave_room(struct pie_heap_rate *rate, bool is_scarce);
/* From now on each event of min_bytes or more is taken, where such events are rare. Context: hook. */
void pie_heap_rate_look_at_large(struct pie_heap_rate *rate, uint64_t min_bytes);
/* Is an event of this size taken, whatever was counted? Context: hook. */
bool pie_heap_rate_is_large(const struct pie_heap_rate *rate, uint64_t bytes);
/* For long no event reached the next point: it comes nearer. before_bytes: the count before the event at hand, in which
 * the point may lie then. Context: hook. */
void pie_heap_rate_shorten(struct pie_heap_rate *rate, uint64_t before_bytes, uint64_t now_ns,
                           uint64_t *random);
/* What was counted behind the last point; it counts no more. Context: hook. */
uint64_t pie_heap_rate_take_rest(struct pie_heap_rate *rate, uint64_t count_bytes);
/* Nothing was counted for passed_ns: that is no time without samples. Context: hook. */
void pie_heap_rate_pass(struct pie_heap_rate *rate, uint64_t passed_ns, uint64_t now_ns);
void pie_heap_rate_begin(struct pie_heap_rate *rate, uint64_t count_bytes, uint64_t interval_bytes,
                         uint64_t now_ns, uint64_t *random);
/* With the distance of a process that has just begun. Context: hook. */
void pie_heap_rate_begin_first(struct pie_heap_rate *rate, uint64_t now_ns, uint64_t *random);

/* --- The table of tracked blocks: in the region, lock-free ---
 *
 * Guarantees: a block that was put is found by the one free() of its address, under the ticket of that put(), though
 * the address was freed and sampled again at any moment: address and ticket are one word, which is compared as a whole.
 * Of free() and drop() one gets the ticket. A ticket is reserved again only after the collection thread has heard of
 * its end. Progress: lock-free; every step is bounded but for the filter's counts, which are retried when others count.
 * Reclamation: a slot at once, a ticket when the collection thread has taken its fate. Addresses of more bits than user
 * space has are not tracked. */

enum {
    PIE_HEAP_TICKET_BITS = 13,
    PIE_HEAP_TICKETS = 1 << PIE_HEAP_TICKET_BITS, /* tickets are 1 … 8191 */
    PIE_HEAP_TICKET_WORDS = PIE_HEAP_TICKETS / 64,
    PIE_HEAP_ADDRESS_BITS = 48,
    PIE_HEAP_BUCKET_BITS = 11,
};
static_assert(PIE_HEAP_ADDRESS_BITS + PIE_HEAP_TICKET_BITS <= 64, "one word");

/* Makes the empty table. Needs the region. Returns 0 or -ENOMEM. Context: engine start, fork child. */
int pie_heap_table_init(void);
/* Where a block may be. Context: any. */
uint32_t pie_heap_table_bucket(const void *block);
/* A free ticket, 0 if there is none. Context: hook. */
uint32_t pie_heap_table_reserve(void);
/* Tracks block under a ticket; one that is tracked already because it has grown has several, the last one first. False:
 * there is no room, the ticket is lost (PIE_HEAP_LOST). Context: hook. */
bool pie_heap_table_put(uint32_t ticket, const void *block);
/* Takes the block out and returns its ticket, 0 if it is not tracked. The ticket stands for all that the block has.
 * Context: hook. */
uint32_t pie_heap_table_remove(const void *block);
/* Puts a block that was taken out back, at its new address. False: there is no room, its tickets are lost. Context:
 * hook. */
bool pie_heap_table_move(uint32_t ticket, const void *block);
/* The block of this ticket, taken out before, was freed. Context: hook. */
void pie_heap_table_free(uint32_t ticket, uint64_t now_ns);
/* Marks the ticket lost: no record was pushed for its block. Context: hook. */
void pie_heap_table_lose(uint32_t ticket);
/* What became of a ticket, and when it was freed (CLOCK_MONOTONIC). Context: drain. */
enum pie_heap_fate { PIE_HEAP_ALIVE, PIE_HEAP_FREED, PIE_HEAP_LOST };
enum pie_heap_fate pie_heap_table_fate(uint32_t ticket, uint64_t *ret_freed_ns);
/* Lets a freed or lost ticket be reserved again. Context: drain. */
void pie_heap_table_recycle(uint32_t ticket);
/* Which of the tickets from 64 * word on were freed or lost, by bits. Each end is reported once. Context: drain. */
uint64_t pie_heap_table_take_ended(size_t word);
/* The next take_ended() reports this ticket again. Context: any. */
void pie_heap_table_tell_again(uint32_t ticket);
/* Where the blocks of all tickets are now; a resize may have moved them. NULL: not tracked. Context: drain. */
void pie_heap_table_blocks(const void *ret_blocks[PIE_HEAP_TICKETS]);
/* Is it the last ticket that the block has got? No other can be dropped. Context: drain. */
bool pie_heap_table_is_last(uint32_t ticket, const void *block);
/* Stops tracking the block under its last ticket, which can be reserved again then. False: it was freed meanwhile, has
 * moved, or has a later ticket. Context: drain. */
bool pie_heap_table_drop(uint32_t ticket, const void *block);
