/* SPDX-License-Identifier: Apache-2.0 */

/* The same loop of loads and stores with and without the event on this thread; the event's own count says how many
 * times it interrupted. The least difference of some rounds counts, since other work only adds to it. No signal is
 * asked for: the handler may not be there yet (`pieprof doctor` has none), and what a signal costs is measured
 * apart. */

#include "profiler/base/clocks.h"
#include "profiler/machine/pmu_price.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 3, ACCESSES = 100000, PERIOD = 10000, INTERRUPTS_MIN = 3 };

static bool is_known;
static uint64_t known_ns;

/* What the loop takes: a load and a store in each round. */
static uint64_t loop_ns(void) {
    static volatile uint64_t words[64];
    uint64_t start_ns = pie_thread_cpu_ns();

    for (unsigned i = 0; i < ACCESSES; i++)
        words[i % 64] = words[(i + 7) % 64] + 1;
    return pie_thread_cpu_ns() - start_ns;
}

static int open_counter(const struct pie_pmu_event *event, uint64_t period_accesses) {
    struct perf_event_attr attr;

    pie_pmu_event_prepare(event, pie_pmu_event_round_period(event, period_accesses), 0, &attr);
    attr.sigtrap = 0;
    attr.sig_data = 0;
    attr.remove_on_exec = 0;
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* The loop's time under the event and how many times it interrupted. False: it cannot be told. */
static bool armed_loop(int fd, uint64_t period_accesses, uint64_t *ret_ns, uint64_t *ret_interrupts) {
    uint64_t count = 0;

    if (ioctl(fd, PERF_EVENT_IOC_RESET, 0) != 0 || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) != 0)
        return false;
    *ret_ns = loop_ns();
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    if (read(fd, &count, sizeof count) != (ssize_t)sizeof count)
        return false;
    *ret_interrupts = count / period_accesses;
    return true;
}

uint64_t pie_pmu_interrupt_measure(const struct pie_pmu_event *event, uint64_t period_accesses) {
    uint64_t least_ns = UINT64_MAX, plain_ns = UINT64_MAX;
    int fd = open_counter(event, period_accesses);

    if (fd < 0)
        return 0;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t ns = loop_ns();
        plain_ns = ns < plain_ns ? ns : plain_ns;
    }
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t ns, interrupts;
        if (!armed_loop(fd, period_accesses, &ns, &interrupts) || interrupts < INTERRUPTS_MIN)
            continue;
        uint64_t price_ns = ns > plain_ns ? (ns - plain_ns) / interrupts : 0;
        least_ns = price_ns < least_ns ? price_ns : least_ns;
    }
    close(fd);
    return least_ns == UINT64_MAX ? 0 : least_ns + 1; /* 0 is not known */
}

uint64_t pie_pmu_interrupt_ns(const struct pie_pmu_events *events) {
    uint64_t most_ns = 0;
    bool is_whole = events->count > 0;

    for (size_t i = 0; !is_known && i < events->count; i++) {
        uint64_t ns = pie_pmu_interrupt_measure(&events->events[i], PERIOD);
        is_whole = is_whole && ns > 0;
        most_ns = ns > most_ns ? ns : most_ns;
    }
    if (!is_known)
        pie_pmu_interrupt_set(is_whole ? most_ns : 0);
    return known_ns;
}

void pie_pmu_interrupt_set(uint64_t interrupt_ns) {
    known_ns = interrupt_ns;
    is_known = true;
}
