/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/time/clock.h"

/* What the halves of the timer samplers share. The signal is a high real-time one, which programs hardly use:
 * SIGRTMAX - 3, as a constant (glibc keeps 32 and 33 to itself; SIGRTMAX is 64 on Linux). */
enum { PIE_TIMER_SIGNAL = 61 };

/* Context: any. */
void *pie_clock_timer_cookie(void);
/* Context: signal. */
bool pie_clock_timer_is_ours(const siginfo_t *info);
bool pie_clock_itimer_is_ours(const siginfo_t *info);
bool pie_clock_timer_account(struct pie_thread *thread, const siginfo_t *info, const ucontext_t *ucontext,
                             uint64_t cpu_ns, struct pie_sample_time *ret_time);

/* In a forked child, which inherits no timer. Context: fork child. */
void pie_clock_timer_forget(void);
void pie_clock_itimer_forget(void);
