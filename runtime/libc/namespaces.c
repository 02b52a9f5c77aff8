/* SPDX-License-Identifier: Apache-2.0 */

/* After unshare(CLONE_NEWPID) the thread's next child is the first process of the new namespace, and when that ends, no
 * other can be made in it. The helper that sets debug registers by ptrace is such a child, so it must not be started
 * any more. */

#include "runtime/libc/export.h"

#include "profiler/thread/thread.h"
#include "profiler/watch/debug_registers.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

PIE_EXPORT int unshare(int flags) {
    if (flags & CLONE_NEWPID)
        pie_debug_ptrace_end(pie_thread_self());
    return (int)syscall(SYS_unshare, flags);
}

/* type 0: whatever the descriptor is of. */
PIE_EXPORT int setns(int fd, int type) {
    if (!type || (type & CLONE_NEWPID))
        pie_debug_ptrace_end(pie_thread_self());
    return (int)syscall(SYS_setns, fd, type);
}
