/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "profiler/base/safe_load.h"

static void go_on_after_safe_load(int signo, siginfo_t *info, void *context) {
    greg_t *pc = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    uintptr_t resume = pie_safe_load_fix((uintptr_t)*pc);

    if (resume)
        *pc = (greg_t)resume;
    else
        signal(signo, SIG_DFL);
}

/* Loads that fault go on, as under pieprof. In each test: cmocka takes the signals over at the start of one. */
static inline void let_safe_loads_fault(void) {
    struct sigaction action = {.sa_sigaction = go_on_after_safe_load, .sa_flags = SA_SIGINFO | SA_NODEFER};

    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}
