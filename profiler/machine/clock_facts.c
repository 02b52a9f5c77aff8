/* SPDX-License-Identifier: Apache-2.0 */

/* Facts by trial: sysctls, capabilities, seccomp filters and security modules all have a say in
 * perf_event_open(2), so only the call itself shows whether it works. Events are opened disabled,
 * timers are never armed. */

#include "profiler/base/proc_file.h"
#include "profiler/machine/clock_choice.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static int try_perf(bool exclude_kernel, int *ret_mmap_error) {
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(attr),
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_type = PERF_SAMPLE_IP,
        .sample_period = 1000000,
        .disabled = 1,
        .exclude_kernel = exclude_kernel,
        .exclude_hv = 1,
        .sigtrap = 1,
        .remove_on_exec = 1,
    };
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return -errno;
    size_t size = 2 * (size_t)sysconf(_SC_PAGESIZE);
    void *ring = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    *ret_mmap_error = ring == MAP_FAILED ? -errno : 0;
    if (ring != MAP_FAILED)
        munmap(ring, size);
    close(fd);
    return 0;
}

static int try_thread_timer(void) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
    event._sigev_un._tid = (int)syscall(SYS_gettid);
    timer_t timer;
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) < 0)
        return -errno;
    timer_delete(timer);
    return 0;
}

static bool find_tracer(void) {
    char status[4096], tracer[16];
    if (pie_proc_read("/proc/self/status", status, sizeof(status)) < 0)
        return false;
    return pie_proc_field(status, "TracerPid", tracer, sizeof(tracer)) > 0 && atoi(tracer) != 0;
}

void pie_clock_facts_gather(struct pie_clock_facts *ret_facts) {
    *ret_facts = (struct pie_clock_facts){.is_traced = find_tracer(), .paranoid = PIE_CLOCK_PARANOID_UNKNOWN};
    ret_facts->perf_mmap_error = -ENODEV;
    ret_facts->perf_user_error = try_perf(true, &ret_facts->perf_mmap_error);
    ret_facts->perf_kernel_error = try_perf(false, &ret_facts->perf_mmap_error);
    ret_facts->thread_timer_error = try_thread_timer();
    /* Setting it to what it is: a filter may refuse to set and not to read. */
    struct itimerval interval;
    ret_facts->itimer_error =
        getitimer(ITIMER_PROF, &interval) < 0 || syscall(SYS_setitimer, ITIMER_PROF, &interval, NULL) < 0
            ? -errno
            : 0;

    long paranoid;
    if (pie_proc_read_long("/proc/sys/kernel/perf_event_paranoid", &paranoid) == 0)
        ret_facts->paranoid = (int)paranoid;
    struct utsname name;
    if (uname(&name) < 0 ||
        sscanf(name.release, "%d.%d", &ret_facts->kernel_major, &ret_facts->kernel_minor) != 2)
        ret_facts->kernel_major = ret_facts->kernel_minor = 0;
    /* The coarse clocks advance once a tick, as the timers on CPU clocks do. */
    struct timespec tick;
    if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0)
        ret_facts->tick_ns = tick.tv_sec * 1000000000L + tick.tv_nsec;
}
