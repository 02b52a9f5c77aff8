/* SPDX-License-Identifier: Apache-2.0 */

/* Has a thread gone without pie_thread_end()? It may: exit(2) as a system call ends a thread and runs nothing. Its
 * number may be another thread's by now: that one was started after the slot was taken, by the kernel's own account
 * (proc_pid_stat(5), starttime), which counts ticks of CLOCK_BOOTTIME. */

#include "profiler/thread/thread.h"

#include "profiler/base/clocks.h"
#include "profiler/base/proc_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STARTTIME = 22, STATE = 3 }; /* fields of the file, from 1; the state is the first behind the name */

/* In ticks; 0: not known. */
static uint64_t started_ticks(int32_t tid) {
    char text[512];

    if (pie_proc_read_task(tid, "stat", text, sizeof text) <= 0)
        return 0;
    const char *at = strrchr(text, ')'); /* the name before it may hold anything */
    for (int field = STATE; at && field <= STARTTIME; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

/* What the machine has been suspended for only grows: with today's, the slot's time of the past comes out too late. */
bool pie_thread_is_gone(const struct pie_thread *thread) {
    uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    int64_t suspended_ns = pie_suspended_ns();

    if (syscall(SYS_tgkill, getpid(), thread->tid, 0) != 0)
        return errno == ESRCH;
    uint64_t began_ns =
        atomic_load_explicit(&thread->started_ns, memory_order_relaxed) + (uint64_t)suspended_ns;
    return suspended_ns >= 0 && started_ticks(thread->tid) > began_ns / tick_ns + 1;
}
