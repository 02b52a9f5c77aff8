/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/time/clock_timer.h"

static char cookie; /* its address */

void *pie_clock_timer_cookie(void) {
    return &cookie;
}

bool pie_clock_timer_is_ours(const siginfo_t *info) {
    return info->si_signo == PIE_TIMER_SIGNAL && info->si_code == SI_TIMER &&
           info->si_value.sival_ptr == &cookie;
}

bool pie_clock_itimer_is_ours(const siginfo_t *info) {
    return info->si_signo == SIGPROF && info->si_code == SI_KERNEL;
}

bool pie_clock_timer_account(struct pie_thread *thread, const siginfo_t *info, const ucontext_t *ucontext,
                             uint64_t cpu_ns, struct pie_sample_time *ret_time) {
    bool kernel = pie_sample_is_after_syscall(ucontext);

    *ret_time = pie_sample_split(cpu_ns, !kernel, kernel);
    return true;
}
