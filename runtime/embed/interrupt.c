/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/embed/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/thread/filtered.h"
#include "runtime/libc/death.h"
#include "runtime/libc/export.h"

static _Atomic(void (*)(
    int)) hook; /* set before threads exist; kept by forked children, which end the same way */

void pie_interrupt_set_hook(void (*new_hook)(int signal_number)) {
    atomic_store_explicit(&hook, new_hook, memory_order_relaxed);
}

/* CPython, Modules/main.c, exit_sigint(): after Py_FinalizeEx(), kill(getpid(), SIGINT). No program does that to itself
 * while there is no interpreter, so nothing else is taken for it. Context: hook, signal, vfork child. */
PIE_EXPORT int kill(pid_t pid, int signal_number) {
    if (pie_filtered())
        return (int)syscall(SYS_kill, pid, signal_number);
    if (signal_number == SIGINT && pid == getpid() && !Py_IsInitialized()) {
        void (*call)(int) = atomic_exchange_explicit(&hook, NULL, memory_order_relaxed);
        if (call)
            call(signal_number);
    }
    int r = (int)syscall(SYS_kill, pid, signal_number);
    if (r == 0 && (pid == getpid() || pid == 0 || pid == -getpgrp()) && syscall(SYS_gettid) != getpid())
        pie_death_sent(signal_number);
    return r;
}
