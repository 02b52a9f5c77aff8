/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/sampler_timer.h"

static char cookie; /* its address */

void *pie_sampler_timer_cookie(void) {
    return &cookie;
}

bool pie_sampler_timer_is_ours(const siginfo_t *info) {
    return info->si_signo == PIE_TIMER_SIGNAL && info->si_code == SI_TIMER &&
           info->si_value.sival_ptr == &cookie;
}

bool pie_sampler_itimer_is_ours(const siginfo_t *info) {
    return info->si_signo == SIGPROF && info->si_code == SI_KERNEL;
}

struct pie_ticks pie_sampler_timer_count(struct pie_thread *thread, const ucontext_t *context,
                                         uint64_t cpu_ns) {
    if (pie_sample_is_after_syscall(context))
        return (struct pie_ticks){0, 1};
    return (struct pie_ticks){1, 0};
}
