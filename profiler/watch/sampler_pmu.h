/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/machine/pmu_events.h"
#include "profiler/watch/sampler.h"

#include <assert.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Shared by the two halves of the PMU's sampler: arming (collection thread) and reading (handler). */

/* sig_data of our events: the upper part marks it as ours; the lower part is the event's index and the kind it
 * counts. */
#define PIE_PMU_COOKIE UINT64_C(0x7069652d61630000)
#define PIE_PMU_COOKIE_MASK UINT64_C(0xffffffffffff0000)

/* kind: PIE_ACCESS_LOAD, PIE_ACCESS_STORE, or both. Context: any. */
uint64_t pie_pmu_cookie(unsigned index, uint8_t kind);

enum { PIE_PMU_RING_BYTES = 4096 };

/* A sample as pie_pmu_event_prepare() asks for it. */
struct pie_pmu_record {
    struct perf_event_header header;
    uint64_t ip, address, data_src;
};
static_assert(sizeof(struct pie_pmu_record) == 32, "PERF_SAMPLE_IP, _ADDR and _DATA_SRC after the header");

/* A thread's part. */
struct pie_pmu_thread {
    /* Mappings of the events' rings, or NULL. Written by the collection thread (release), read by the handler
     * (acquire). */
    _Atomic(const struct perf_event_mmap_page *) rings[PIE_PMU_EVENTS_MAX];
    uint64_t seen[PIE_PMU_EVENTS_MAX];            /* positions of the handler in them */
    _Atomic uint64_t signals[PIE_PMU_EVENTS_MAX]; /* written by the handler; relaxed: it stands for itself */
};

/* They lie in chunks of PIE_PMU_CHUNK_THREADS, made when a thread of the chunk is armed first, and never freed. */
enum { PIE_PMU_CHUNK_THREADS = 64, PIE_PMU_CHUNKS = 256 };
/* Written by the collection thread (release), read by handlers in pie_pmu_thread_of() (acquire). */
extern _Atomic(struct pie_pmu_thread *) pie_pmu_chunks[PIE_PMU_CHUNKS];

/* By the thread's slot; NULL: it was never armed. Context: signal. */
struct pie_pmu_thread *pie_pmu_thread_of(const struct pie_thread *thread);

/* The newest sample of a ring, or the one of `address` if that is not 0, among those after *seen, which moves to the
 * end. False: there is none. Context: signal. */
bool pie_pmu_ring_read(const struct perf_event_mmap_page *page, uint64_t address, uint64_t *seen,
                       struct pie_pmu_record *ret_record);

/* Context: signal. */
bool pie_access_sampler_pmu_is_ours(const siginfo_t *info);
bool pie_access_sampler_pmu_read(struct pie_thread *thread, const siginfo_t *info, const ucontext_t *ucontext,
                                 struct pie_access_sample *ret_sample);

/* The period that would have raised target_hz signals a second of CPU time, where this one raised `signals` in cpu_ns;
 * not below period_min, and not much longer than before if next to nothing was measured. Context: any. */
uint64_t pie_pmu_next_period(uint64_t period_accesses, uint64_t signals, uint64_t cpu_ns, uint64_t target_hz,
                             uint64_t period_min);

/* The shortest period for a rate: 1 000 000 accesses at 1 kHz. Context: any. */
uint64_t pie_pmu_period_min(const struct pie_pmu_event *event, uint64_t rate_hz);
