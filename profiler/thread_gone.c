/* SPDX-License-Identifier: Apache-2.0 */

/* Has a thread gone without pie_thread_end()? It may: exit(2) as a system call ends a thread and runs nothing. Its number may be
 * another thread's by now: that one was started after the slot was taken, by the kernel's own account (proc_pid_stat(5),
 * starttime), which counts ticks of CLOCK_BOOTTIME. */

#include "profiler/thread.h"

#include "profiler/proc_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STARTTIME = 22, STATE = 3 }; /* fields of the file, from 1; the state is the first behind the name */

/* In ticks; 0: not known. */
static uint64_t started_ticks(int32_t tid) {
    char path[64], text[512];

    snprintf(path, sizeof path, "/proc/thread-self/../%d/stat", tid);
    if (pie_proc_read(path, text, sizeof text) <= 0)
        return 0;
    const char *at = strrchr(text, ')'); /* the name before it may hold anything */
    for (int field = STATE; at && field <= STARTTIME; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

/* What CLOCK_BOOTTIME is ahead by. It only grows (suspend): with today's, a time of the past comes out too late. */
static uint64_t suspended_ns(void) {
    struct timespec boot = {0};
    uint64_t now_ns = pie_monotonic_ns();

    clock_gettime(CLOCK_BOOTTIME, &boot);
    uint64_t boot_ns = (uint64_t)boot.tv_sec * 1000000000u + (uint64_t)boot.tv_nsec;
    return boot_ns > now_ns ? boot_ns - now_ns : 0;
}

bool pie_thread_is_gone(const struct pie_thread *thread) {
    uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    uint64_t began_ns = atomic_load_explicit(&thread->started_ns, memory_order_relaxed) + suspended_ns();

    if (syscall(SYS_tgkill, getpid(), thread->tid, 0) != 0)
        return errno == ESRCH;
    return started_ticks(thread->tid) > began_ns / tick_ns + 1;
}
