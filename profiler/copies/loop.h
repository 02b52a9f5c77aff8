/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/base/spsc.h"
#include "profiler/ports/ids.h"
#include "profiler/thread/part.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* Copies that no memcpy() makes: a library's own loops, that move elements one by one (strided copies, transposes,
 * conversions, gathering by index). They are seen by samples of time:
 *
 *   copies/loop_sigsafe.c  a sample fell on foreign native code: is it a known copy loop? where does it write?
 *   copies/loop.c          the collection thread looks at the machine code around addresses that are new
 *   copies/loop_drain.c    makes bytes of samples: how far did the loop get from one sample to the next?
 *
 * What comes of it is an estimate, and is labelled so (PIE_COPY_LOOP). */

struct pie_thread;
struct pie_context;
struct pie_sample_time;

enum { PIE_COPY_SITES_MAX = 2048, PIE_COPY_NO_REGISTER = 255 };

enum pie_copy_site_flags {
    PIE_COPY_IN_LOOP = 1, /* else straight-line code of a function that does nothing but copy */
    PIE_COPY_TRACKED = 2, /* base, index and disp tell how far it got */
    PIE_COPY_COUNTER = 4, /* … within one call of the function only: no address, but a register that counts */
};

/* A place in machine code that copies. How far it got is base + index * scale + disp, an address or a counter, that each
 * round of the loop moves by step_bytes + step_factor * step_register. */
struct pie_copy_site {
    uint64_t function;    /* where it begins */
    int64_t step_bytes;   /* 0 with no step register: not known */
    uint32_t round_bytes; /* stored by one round */
    float round_units;    /* that one takes, data in the caches: 1 is an element of a strided copy */
    int32_t disp;
    uint8_t base, index, scale; /* PIE_COPY_NO_REGISTER: not there */
    uint8_t step_register;
    int8_t step_factor;
    uint8_t flags; /* pie_copy_site_flags */
    uint8_t reserved[2];
};

/* A sample on a copy loop, or on code that is to be looked at. */
struct pie_copy_record {
    uint64_t cpu_ns;             /* the thread's CPU clock */
    uint64_t address;            /* how far it got; site 0: of the instruction that is not known */
    int64_t step;                /* value of the step register */
    uint64_t stack;              /* where the native call's outermost frame begins */
    uint64_t allocated;          /* bytes that the thread has allocated so far; 0: not counted */
    uint32_t user_ns, system_ns; /* CPU time that the sample stands for */
    struct pie_cct_id node;
    uint16_t site;       /* number of the site; 0: not known */
    uint16_t generation; /* of the sites */
};
static_assert(sizeof(struct pie_copy_record) == 56, "records lie in the region");

enum { PIE_COPY_RING_RECORDS = 256 }; /* 50 ms at 5 kHz */
PIE_SPSC_RING(pie_copy_ring, struct pie_copy_record, PIE_COPY_RING_RECORDS);

/* A thread's part is such a ring. */
extern struct pie_thread_part pie_copy_loop_part;

/* Context: any. */
static inline struct pie_copy_ring *pie_copy_loop_of(const struct pie_thread *thread) {
    return pie_thread_part_of(thread, &pie_copy_loop_part);
}

/* A sample of time fell at `ucontext`, whose stacks were just taken. cpu_ns: the thread's CPU clock. Context: signal. */
void pie_copy_loop_sample(struct pie_thread *thread, const ucontext_t *ucontext,
                          const struct pie_context *taken, const struct pie_sample_time *time,
                          uint64_t cpu_ns);

/* --- Sites: copies/loop_table_sigsafe.c; one writer, the collection thread --- */

/* Handlers look for copy loops, or not; not at first. Context: drain. */
void pie_copy_sites_set(bool is_on);

enum { PIE_COPY_SITE_UNKNOWN = -1, PIE_COPY_SITE_NONE = 0 };

/* The number of the site at an instruction, PIE_COPY_SITE_NONE: it does not copy; PIE_COPY_SITE_UNKNOWN: not known and
 * worth a look. Context: signal. */
int pie_copy_site_find(uint64_t ip);
/* Numbers from 1. Valid as long as the generation is the same. Context: signal. */
const struct pie_copy_site *pie_copy_site_at(int number);
uint16_t pie_copy_sites_generation(void);

/* Publishes what is known of an instruction; site NULL: it does not copy. Returns the site's number, or -ENOMEM: there
 * is no room, and nobody will ask again. Context: drain. */
int pie_copy_site_put(uint64_t ip, const struct pie_copy_site *site);

/* Libraries were unloaded: forget everything. Context: drain. */
void pie_copy_sites_forget(void);

/* --- Machine code: copies/loop.c --- */

/* Looks at the code around an instruction. Returns 0; -ENOENT: it does not copy (or that does not show); -ENOSYS: there is no
 * decoder. Takes 0.1 ms mostly and 1 ms at worst, beside the sweep of the function. Context: drain. */
int pie_copy_loop_analyse(uint64_t ip, struct pie_copy_site *ret_site);
