/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/time/clock.h"

#include <assert.h>
#include <linux/perf_event.h>
#include <stddef.h>

/* What the two halves of the perf clock share: arming (collection thread) and counting (handler). */

#define PIE_PERF_COOKIE UINT64_C(0x706965) /* sig_data of our events */
enum { PIE_PERF_RING_BYTES = 4096, PIE_PERF_RECORD_BYTES = 16 };

/* A period that ended, as time/clock_perf.c asks for it. */
struct pie_perf_record {
    struct perf_event_header header;
    uint64_t time_ns; /* CLOCK_MONOTONIC */
};
static_assert(sizeof(struct pie_perf_record) == PIE_PERF_RECORD_BYTES, "PERF_SAMPLE_TIME after the header");

/* The clock's event of a thread, disabled. Returns a descriptor or -errno. Context: drain. */
int pie_clock_perf_open(int32_t tid, uint64_t period_ns, bool user_only);
/* The newest record of a ring that is not empty. Context: signal. */
const struct pie_perf_record *pie_clock_perf_newest(const struct perf_event_mmap_page *page);

/* An event's, or a timer's where there is none, or beside it. Context: signal. */
bool pie_clock_perf_is_ours(const siginfo_t *info);
bool pie_clock_perf_account(struct pie_thread *thread, const siginfo_t *info, const ucontext_t *ucontext,
                            uint64_t cpu_ns, struct pie_sample_time *ret_time);
bool pie_clock_perf_user_account(struct pie_thread *thread, const siginfo_t *info, const ucontext_t *ucontext,
                                 uint64_t cpu_ns, struct pie_sample_time *ret_time);

/* Around each handler: periods that end in it are nobody's. Context: signal. */
void pie_clock_perf_handler_begins(struct pie_thread *thread);
void pie_clock_perf_handler_ends(struct pie_thread *thread);
/* The kernel has spent this time on this thread for the profiler; it has been taken out of the thread's CPU time
 * already, but periods of the clock may have ended there. Context: signal. */
void pie_clock_perf_own_kernel(struct pie_thread *thread, uint64_t ns);

/* Kernel time that is put aside at most before it goes to the next sample, whatever that is. */
#define PIE_PERF_POOL_MAX_NS UINT64_C(20000000)

/* In a forked child: the events belong to the parent; their descriptors were never in this process's table.
 * Context: fork child. */
void pie_clock_perf_forget(void);
