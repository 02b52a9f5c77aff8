/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/sampler.h"

#include <stddef.h>

/* What the two halves of the perf sampler share: arming (collection thread) and counting (handler). */

#define PIE_PERF_COOKIE UINT64_C(0x706965) /* sig_data of our events */
enum { PIE_PERF_RING_BYTES = 4096, PIE_PERF_RECORD_BYTES = 16 };

/* Context: signal. */
bool pie_sampler_perf_is_ours(const siginfo_t *info);
bool pie_sampler_perf_account(struct pie_thread *thread, const siginfo_t *info, const ucontext_t *context,
                              uint64_t cpu_ns, struct pie_sample_time *ret_time);
bool pie_sampler_perf_user_is_ours(const siginfo_t *info);
bool pie_sampler_perf_user_account(struct pie_thread *thread, const siginfo_t *info,
                                   const ucontext_t *context, uint64_t cpu_ns,
                                   struct pie_sample_time *ret_time);

/* Kernel time that is put aside at most before it goes to the next sample, whatever that is. */
#define PIE_PERF_POOL_MAX_NS UINT64_C(20000000)

/* In a forked child: the events belong to the parent; their descriptors were never in this process's table.
 * Context: fork child. */
void pie_sampler_perf_forget(void);
