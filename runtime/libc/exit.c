/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/libc/exit.h"

#include "profiler/thread/filtered.h"
#include "runtime/libc/death.h"
#include "runtime/libc/export.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void (*exit_hook)(int);
static _Atomic int own_pid; /* a vfork child shares our memory and must not end our profile */

void pie_exit_set_hook(void (*hook)(int)) {
    atomic_store_explicit(&own_pid, (int)getpid(), memory_order_relaxed);
    exit_hook = hook;
}

void pie_exit_fork_child(void) {
    if (!pie_filtered())
        atomic_store_explicit(&own_pid, (int)getpid(), memory_order_relaxed);
}

static void call_hook(int status) {
    if (pie_filtered())
        return;
    if (exit_hook && (int)syscall(SYS_getpid) == atomic_load_explicit(&own_pid, memory_order_relaxed))
        exit_hook(status);
    pie_death_await();
}

PIE_EXPORT void _exit(int status) {
    call_hook(status);
    for (;;)
        syscall(SYS_exit_group, status);
}

PIE_EXPORT void _Exit(int status) {
    _exit(status);
}

PIE_EXPORT void quick_exit(int status) {
    typedef void (*exit_fn)(int);
    exit_fn real = (exit_fn)dlsym(RTLD_NEXT, "quick_exit");

    call_hook(status);
    if (real)
        real(status);
    _exit(status);
}
