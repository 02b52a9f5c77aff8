/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/watch/sampler.h"

/* The table entries of a sampler without events of its own. */

/* Context: drain. */
int pie_access_sampler_idle_arm(struct pie_thread *thread, uint64_t rate_hz);
void pie_access_sampler_idle_disarm(struct pie_thread *thread);
void pie_access_sampler_idle_adapt(struct pie_thread *thread, uint64_t rate_hz);

/* Context: signal. */
bool pie_access_sampler_idle_is_ours(const siginfo_t *info);
bool pie_access_sampler_idle_read(struct pie_thread *thread, const siginfo_t *info,
                                  const ucontext_t *ucontext, struct pie_access_sample *ret_sample);
