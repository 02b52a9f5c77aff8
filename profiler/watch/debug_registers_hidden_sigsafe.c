/* SPDX-License-Identifier: Apache-2.0 */

/* Debug registers whose descriptors the program never sees: the events are opened by the collection thread, in its own
 * table, and a handler that has to move one borrows the descriptor for the time of one ioctl: pidfd_open(2) of the
 * collection thread (PIDFD_THREAD, Linux 6.9), pidfd_getfd(2), ioctl, close, close. That costs some 7 us more than the
 * ioctl alone, half the price of a trap in a virtual machine.
 *
 * A thread asks for its events with its first watch and gets them within a tick. A forked child has none of them.
 *
 * What is borrowed stands in the program's table for these microseconds, and a fork copies that table. So nothing is
 * borrowed while the process forks (pie_debug_enter()), and what cannot be disarmed then is when the fork is over. An
 * exec closes both descriptors, so children of vfork() and posix_spawn() do not matter. */

#include "profiler/watch/debug_registers.h"

#include "profiler/machine/descriptors.h"
#include "profiler/thread/thread.h"
#include "profiler/watch/watch.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In older headers not yet defined: include/uapi/linux/pidfd.h. */
enum { PIDFD_THREAD_FLAG = 0200 };

/* The thread whose table holds the descriptors, 0: nothing is hidden; set by pie_debug_hidden_begin(), anew in each
 * forked child. */
static _Atomic int32_t keeper;

/* A descriptor of the keeper's in the calling thread's table; -errno. */
static long borrow(int32_t fd) {
    long pidfd =
        syscall(SYS_pidfd_open, atomic_load_explicit(&keeper, memory_order_relaxed), PIDFD_THREAD_FLAG);

    if (pidfd < 0)
        return -errno;
    long borrowed = syscall(SYS_pidfd_getfd, pidfd, fd, 0);
    int error = errno;
    syscall(SYS_close, pidfd);
    return borrowed < 0 ? -error : borrowed;
}

/* Returns 0 or -errno; -EAGAIN: the process forks. */
static int change(int32_t fd, unsigned long request, const void *argument) {
    if (!pie_debug_enter())
        return -EAGAIN;
    long borrowed = borrow(fd);
    int r = (int)borrowed;
    if (borrowed >= 0) {
        r = syscall(SYS_ioctl, borrowed, request, argument) == 0 ? 0 : -errno;
        syscall(SYS_close, borrowed);
    }
    pie_debug_leave();
    return r;
}

static int arm(struct pie_thread *thread, unsigned index, enum pie_debug_kind kind, uint64_t address,
               unsigned length, uint64_t cookie) {
    int32_t fd = atomic_load_explicit(&pie_watch_of(thread)->fds[index],
                                      memory_order_acquire); /* release in serve() */
    struct perf_event_attr attr;

    if (fd < 0) {
        atomic_store_explicit(&pie_watch_of(thread)->wants_registers, 1, memory_order_relaxed);
        return -EAGAIN;
    }
    pie_debug_prepare(&attr, kind, address, length, cookie);
    int r = change(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr);
    if (r == 0)
        pie_watch_of(thread)->put_off &= ~(1u << index);
    return r;
}

static void disarm(struct pie_thread *thread, unsigned index) {
    int32_t fd = atomic_load_explicit(&pie_watch_of(thread)->fds[index], memory_order_relaxed);

    pie_watch_of(thread)->put_off &= ~(1u << index);
    if (fd >= 0 && change(fd, PERF_EVENT_IOC_DISABLE, NULL) == -EAGAIN)
        pie_watch_of(thread)->put_off |= 1u << index;
}

/* Until then it may fire, and each trap ends here. */
static void catch_up(struct pie_thread *thread) {
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS && pie_watch_of(thread)->put_off; i++)
        if (pie_watch_of(thread)->put_off >> i & 1)
            disarm(thread, i);
}

/* The collection thread closes them. */
static void release(struct pie_thread *thread) {}

bool pie_debug_hidden_begin(void) {
    atomic_store_explicit(&keeper, (int32_t)syscall(SYS_gettid), memory_order_relaxed);
    long probe = borrow(STDIN_FILENO);
    if (probe < 0) {
        atomic_store_explicit(&keeper, 0, memory_order_relaxed);
        return false;
    }
    syscall(SYS_close, probe);
    return true;
}

static bool is_keeping(void) {
    return atomic_load_explicit(&keeper, memory_order_relaxed) != 0;
}

void pie_debug_hidden_close(struct pie_thread *thread) {
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS && is_keeping(); i++) {
        int32_t fd = atomic_exchange_explicit(&pie_watch_of(thread)->fds[i], -1, memory_order_relaxed);
        if (fd >= 0)
            syscall(SYS_close, fd);
    }
}

void pie_debug_hidden_serve(struct pie_thread *thread) {
    struct perf_event_attr attr;

    if (!is_keeping() ||
        !atomic_exchange_explicit(&pie_watch_of(thread)->wants_registers, 0, memory_order_relaxed))
        return;
    pie_debug_prepare(&attr, PIE_DEBUG_EXECUTE, (uintptr_t)pie_debug_hidden_serve, 1, 0);
    attr.disabled = 1;
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++) {
        if (atomic_load_explicit(&pie_watch_of(thread)->fds[i], memory_order_relaxed) >= 0)
            continue;
        long fd = syscall(SYS_perf_event_open, &attr, thread->tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (fd < 0)
            return; /* a debugger has registers: the watch asks again */
        if (pie_descriptor_is_scarce((int)fd)) {
            syscall(SYS_close, fd);
            return;
        }
        atomic_store_explicit(&pie_watch_of(thread)->fds[i], (int32_t)fd, memory_order_release);
    }
}

const struct pie_debug_ops pie_debug_hidden = {
    .arm = arm, .disarm = disarm, .release = release, .catch_up = catch_up};
