/* SPDX-License-Identifier: Apache-2.0 */

/* Samples by a perf event per thread: PERF_COUNT_SW_CPU_CLOCK with sigtrap, so that each period raises a synchronous
 * SIGTRAP on the thread itself (Linux 5.13+, kernel/events/core.c: perf_sigtrap).
 *
 * With the kernel included a period that ends inside a system call raises the signal when the call returns to user
 * mode: through task work, which does not make a sleeping call return EINTR (since 6.11;
 * profiler/machine/clock_choice.c does not choose it before). Several periods inside one call give one signal; how many
 * they were, and which ended in user code, is read from the event's ring: one record of 16 bytes for each, whose header
 * says the mode. The ring is mapped read-only, so the kernel overwrites it and never stops. The record's time shows how
 * long the signal was on its way.
 *
 * Without the kernel (an ordinary user at perf_event_paranoid 2) the periods inside it are dropped. CPU time beyond one
 * and a half periods must have been spent there, and is put aside; a CPU timer (profiler/time/clock_timer.c) finds out
 * where: when one of its ticks ends right after a system call, what was put aside is booked there. Ticks hit calls in
 * proportion to their time.
 *
 * Rings lie in locked memory, of which an ordinary user has little (perf_event_mlock_kb and RLIMIT_MEMLOCK, for all its
 * processes together). A thread whose ring is refused has its event all the same: a period that ended in the kernel is
 * then known by where the signal finds the thread, right behind a system call. Where the event itself is refused
 * (descriptors, memory) the thread has a CPU timer. Both are counted.
 *
 * Descriptors live in the table of the collection thread. The event dies with its thread and never passes an exec. */

#include "profiler/time/clock.h"

#include "profiler/base/counters.h"
#include "profiler/machine/descriptors.h"
#include "profiler/thread/thread.h"
#include "profiler/time/clock_perf.h"
#include "profiler/time/clock_timer.h"
#include "profiler/time/thread.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* No finer than the kernel's tick would make it, and not in step with it. */
static const uint64_t KERNEL_PERIOD_NS = 3700000;

/* Descriptors by slot: only the collection thread touches them. 0: none (descriptor 0 is never an event);
 * -1: closed, the mapping keeps the event alive. */
static int *fds;
static size_t n_fds;

static int *slot_int(int **array, size_t *n, size_t index) {
    if (index >= *n) {
        size_t grown_n = index + 64;
        int *grown = realloc(*array, grown_n * sizeof **array);
        if (!grown)
            return NULL;
        memset(grown + *n, 0, (grown_n - *n) * sizeof *grown);
        *array = grown;
        *n = grown_n;
    }
    return &(*array)[index];
}

static int *fd_of(struct pie_thread *thread) {
    return slot_int(&fds, &n_fds, pie_thread_index(thread));
}

int pie_clock_perf_open(int32_t tid, uint64_t period_ns, bool user_only) {
    struct perf_event_attr attr = {
        .size = sizeof attr,
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_period = period_ns,
        .sample_type = PERF_SAMPLE_TIME,
        .exclude_kernel = user_only,
        .exclude_hv = 1,
        .disabled = 1,
        .sigtrap = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
        .remove_on_exec = 1,
        .sig_data = PIE_PERF_COOKIE,
    };
    long fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

    return fd < 0 ? -errno : (int)fd;
}

static void *map_ring(int fd) {
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE) + PIE_PERF_RING_BYTES;
    void *ring = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);

    return ring == MAP_FAILED ? NULL : ring;
}

static void disarm(struct pie_thread *thread) {
    int *slot = fd_of(thread);
    void *ring = atomic_exchange_explicit(&pie_time_of(thread)->clock_ring, NULL, memory_order_acq_rel);

    if (!slot || !*slot)
        return;
    if (*slot > 0) {
        ioctl(*slot, PERF_EVENT_IOC_DISABLE, 0);
        close(*slot);
    }
    *slot = 0;
    /* A handler that still reads the ring takes microseconds; the mapping is left to it if the thread lives. */
    if (ring && pie_thread_state(thread) == PIE_THREAD_ENDED)
        munmap(ring, (size_t)sysconf(_SC_PAGESIZE) + PIE_PERF_RING_BYTES);
}

static int arm(struct pie_thread *thread, uint64_t period_ns, bool user_only) {
    int *slot = fd_of(thread);

    if (!slot)
        return -ENOMEM;
    int fd = pie_clock_perf_open(thread->tid, period_ns, user_only);
    if (fd < 0)
        return fd;
    bool scarce = pie_descriptor_is_scarce(fd);
    void *ring = !user_only || scarce ? map_ring(fd) : NULL;
    if (scarce && !ring) { /* nothing could keep the event but the descriptor */
        close(fd);
        return -EMFILE;
    }
    if (!user_only && !ring)
        pie_counter_add(PIE_COUNTER_RINGLESS_THREADS, 1);
    atomic_store_explicit(&pie_time_of(thread)->period_ns, period_ns, memory_order_relaxed);
    /* release: pairs with the handler's acquire */
    atomic_store_explicit(&pie_time_of(thread)->clock_ring, ring, memory_order_release);
    *slot = fd;
    if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) != 0) {
        int error = errno;
        disarm(thread);
        return -error;
    }
    if (scarce) {
        close(fd); /* the mapping keeps the event alive; its period stays as it is */
        *slot = -1;
    }
    return 0;
}

/* r: why there is no event. */
static int arm_timer(struct pie_thread *thread, uint64_t period_ns, int r) {
    if (r == -ESRCH)
        return r; /* the thread is gone */
    atomic_store_explicit(&pie_time_of(thread)->has_timer, true, memory_order_relaxed);
    int by_timer = pie_clock_timer.arm(thread, period_ns);
    if (by_timer < 0)
        return r;
    pie_counter_add(PIE_COUNTER_TIMER_THREADS, 1);
    return 0;
}

static int arm_all(struct pie_thread *thread, uint64_t period_ns) {
    int r = arm(thread, period_ns, false);

    return r < 0 ? arm_timer(thread, period_ns, r) : r;
}

static int arm_user(struct pie_thread *thread, uint64_t period_ns) {
    int r = arm(thread, period_ns, true);

    if (r < 0)
        return arm_timer(thread, period_ns, r);
    pie_clock_timer.arm(thread, KERNEL_PERIOD_NS); /* without it kernel time goes to the next sample */
    /* the event's, not the timer's */
    atomic_store_explicit(&pie_time_of(thread)->period_ns, period_ns, memory_order_relaxed);
    return r;
}

static void disarm_both(struct pie_thread *thread) {
    pie_clock_timer.disarm(thread);
    disarm(thread);
}

static void set_period(struct pie_thread *thread, uint64_t period_ns) {
    int *slot = fd_of(thread);

    if (atomic_load_explicit(&pie_time_of(thread)->has_timer, memory_order_relaxed))
        pie_clock_timer.set_period(thread, period_ns);
    else if (slot && *slot > 0 && ioctl(*slot, PERF_EVENT_IOC_PERIOD, &period_ns) == 0)
        atomic_store_explicit(&pie_time_of(thread)->period_ns, period_ns, memory_order_relaxed);
}

void pie_clock_perf_forget(void) {
    if (fds)
        memset(fds, 0, n_fds * sizeof *fds);
}

const struct pie_clock_ops pie_clock_perf = {
    .name = "perf",
    .signals = {SIGTRAP, PIE_TIMER_SIGNAL},
    .arm = arm_all,
    .disarm = disarm_both,
    .set_period = set_period,
    .is_ours = pie_clock_perf_is_ours,
    .account = pie_clock_perf_account,
};

const struct pie_clock_ops pie_clock_perf_user = {
    .name = "perf-user",
    .signals = {SIGTRAP, PIE_TIMER_SIGNAL},
    .arm = arm_user,
    .disarm = disarm_both,
    .set_period = set_period,
    .is_ours = pie_clock_perf_is_ours,
    .account = pie_clock_perf_user_account,
};
