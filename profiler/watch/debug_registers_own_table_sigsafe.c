/* SPDX-License-Identifier: Apache-2.0 */

/* Debug registers by perf breakpoint events of the thread itself (PERF_TYPE_BREAKPOINT, Linux 5.13+ for sigtrap), where
 * they cannot be hidden (debug_registers_hidden_sigsafe.c). Once open, an event is moved from address to address by
 * PERF_EVENT_IOC_MODIFY_ATTRIBUTES, a tenth of the price of a trap.
 *
 * The ioctl needs the descriptor in the thread's own table, so unlike everything else of the profiler these
 * descriptors are in the program's: at high numbers, close-on-exec, few, and only in threads that run native code. The
 * program may close them (closerange() in a daemon): then ioctl fails and the register is opened anew; a number that
 * the program has since used for something else is recognised by the event's id and left alone.
 *
 * A forked child gets copies that lead to the parent's events: it closes them without any ioctl that changes one. */

#include "profiler/watch/debug_registers.h"

#include "profiler/thread/thread.h"
#include "profiler/watch/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of the numbers that the program may use, ours are among the last: 1 in 8, and below 4096, which keeps the
 * kernel's table small. */
enum { DESCRIPTORS_BELOW = 4096, DESCRIPTORS_SHARE = 8 };

/* In use by all threads. Set anew in a forked child. */
static _Atomic int in_use;

static long limit_of_descriptors(void) {
    struct rlimit limit;

    if (syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) != 0)
        return 0;
    return limit.rlim_cur > DESCRIPTORS_BELOW ? DESCRIPTORS_BELOW : (long)limit.rlim_cur;
}

static int open_in_table(struct pie_thread *thread, unsigned index, const struct perf_event_attr *attr) {
    long limit = limit_of_descriptors(), ours = limit / DESCRIPTORS_SHARE;

    if (atomic_fetch_add_explicit(&in_use, 1, memory_order_relaxed) >= ours) {
        atomic_fetch_sub_explicit(&in_use, 1, memory_order_relaxed);
        return -EMFILE;
    }
    long low = syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC), high = -1;
    int error = errno;
    if (low >= 0) {
        high = syscall(SYS_fcntl, low, F_DUPFD_CLOEXEC, limit - ours);
        error = errno;
        syscall(SYS_close, low);
    }
    if (high < 0 || syscall(SYS_ioctl, high, PERF_EVENT_IOC_ID, &pie_watch_of(thread)->ids[index]) != 0) {
        if (high >= 0) {
            error = errno;
            syscall(SYS_close, high);
        }
        atomic_fetch_sub_explicit(&in_use, 1, memory_order_relaxed);
        return -error;
    }
    pie_watch_of(thread)->fds[index] = (int32_t)high;
    return 0;
}

/* A child forked by another thread meanwhile would not know what to close. */
static int open_event(struct pie_thread *thread, unsigned index, const struct perf_event_attr *attr) {
    if (!pie_debug_enter())
        return -EAGAIN;
    int r = open_in_table(thread, index, attr);
    pie_debug_leave();
    return r;
}

/* Is this number still the event that was opened? */
static bool is_still_ours(const struct pie_watch_thread *watch, unsigned index) {
    uint64_t id;

    return watch->fds[index] >= 0 && syscall(SYS_ioctl, watch->fds[index], PERF_EVENT_IOC_ID, &id) == 0 &&
           id == watch->ids[index];
}

static void forget(struct pie_watch_thread *watch, unsigned index) {
    watch->fds[index] = -1;
    atomic_fetch_sub_explicit(&in_use, 1, memory_order_relaxed);
}

static int arm(struct pie_thread *thread, unsigned index, enum pie_debug_kind kind, uint64_t address,
               unsigned length, uint64_t cookie) {
    struct perf_event_attr attr;
    int fd = pie_watch_of(thread)->fds[index];

    pie_debug_prepare(&attr, kind, address, length, cookie);
    if (fd >= 0) {
        if (syscall(SYS_ioctl, fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr) == 0)
            return 0;
        if (errno != EBADF && errno != ENOTTY)
            return -errno;
        forget(pie_watch_of(thread), index); /* the program closed it */
    }
    return open_event(thread, index, &attr);
}

static void disarm(struct pie_thread *thread, unsigned index) {
    if (pie_watch_of(thread)->fds[index] >= 0)
        syscall(SYS_ioctl, pie_watch_of(thread)->fds[index], PERF_EVENT_IOC_DISABLE, 0);
}

/* The kernel copies the table for a child before it copies the memory that says which numbers are ours. */
static void release(struct pie_thread *thread) {
    struct pie_watch_thread *watch = pie_watch_of(thread);
    bool is_in = pie_debug_enter_late();

    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++) {
        if (watch->fds[i] < 0)
            continue;
        if (is_still_ours(watch, i))
            syscall(SYS_close, watch->fds[i]);
        forget(watch, i);
    }
    if (is_in)
        pie_debug_leave();
}

void pie_debug_own_table_forget(void) {
    for (size_t i = 0; i < pie_thread_count(); i++) {
        struct pie_thread *thread = pie_thread_at(i);
        enum pie_thread_state state = pie_thread_state(thread);
        if (state != PIE_THREAD_STARTING && state != PIE_THREAD_ARMING && state != PIE_THREAD_RUNNING)
            continue;
        for (unsigned r = 0; r < PIE_DEBUG_REGISTERS; r++)
            if (is_still_ours(pie_watch_of(thread), r))
                syscall(SYS_close, pie_watch_of(thread)->fds[r]);
    }
    atomic_store_explicit(&in_use, 0, memory_order_relaxed);
}

const struct pie_debug_ops pie_debug_own_table = {.arm = arm, .disarm = disarm, .release = release};
