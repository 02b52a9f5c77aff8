/* SPDX-License-Identifier: Apache-2.0 */

/* What the machine takes for a sample, with an empty handler, in the form of Go's benchmarks: a period of a perf event
 * that ends (the timer's interrupt), the same with the signal that it raises, and a CPU timer that rides on the
 * kernel's tick. Each is the time that a loop loses: the loop runs with the clock and without it in turn, and the
 * median of the differences counts. Beside it, what reading the clocks takes that a handler reads. */

#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 61, ROUND_NS = 20000000, PERIOD_NS = 1000000, TICK_NS = 4000000, READINGS = 10000 };
enum { LINES = 16 << 4, LINE_BYTES = 64 };

static volatile uint64_t signals;
static volatile uint8_t data[LINES * LINE_BYTES];

static void take(int signal, siginfo_t *info, void *context) {
    signals++;
}

static uint64_t clock_ns(clockid_t clock) {
    struct timespec time;

    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t loop_ns(uint64_t turns) {
    uint64_t begun_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

    for (uint64_t i = 0; i < turns; i++)
        data[i % LINES * LINE_BYTES]++;
    return clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns;
}

static int by_value(const void *a, const void *b) {
    const double *first = a, *second = b;

    return *first < *second ? -1 : *first > *second;
}

/* A clock that can be switched on and off. */
struct ticker {
    int fd; /* an event, or -1 */
    timer_t timer;
    bool has_signal;
};

static void set(const struct ticker *ticker, bool on) {
    const struct itimerspec period = {{0, on ? TICK_NS : 0}, {0, on ? TICK_NS : 0}};

    if (ticker->fd >= 0)
        ioctl(ticker->fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
    else
        timer_settime(ticker->timer, 0, &period, NULL);
}

static void report(const char *name, const struct ticker *ticker, uint64_t turns) {
    double lost_ns[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        uint64_t without_ns = loop_ns(turns), before = signals;
        set(ticker, true);
        uint64_t with_ns = loop_ns(turns);
        set(ticker, false);
        uint64_t times = ticker->has_signal ? signals - before : with_ns / PERIOD_NS;
        lost_ns[i] = times ? ((double)with_ns - (double)without_ns) / (double)times : 0;
    }
    qsort(lost_ns, ROUNDS, sizeof *lost_ns, by_value);
    printf("Benchmark%s %d %.0f ns/op\n", name, ROUNDS, lost_ns[ROUNDS / 2]);
}

static int open_event(bool has_signal) {
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_CPU_CLOCK,
                                   .sample_period = PERIOD_NS,
                                   .disabled = 1,
                                   .exclude_hv = 1,
                                   .sigtrap = has_signal,
                                   .remove_on_exec = has_signal};

    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void report_event(const char *name, bool has_signal, uint64_t turns) {
    struct ticker ticker = {.fd = open_event(has_signal), .has_signal = has_signal};

    if (ticker.fd < 0) {
        printf("%s: no perf event here\n", name);
        return;
    }
    /* without a ring the kernel counts a period and keeps nothing */
    mmap(NULL, 2 * (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED, ticker.fd, 0);
    report(name, &ticker, turns);
    close(ticker.fd);
}

static void report_timer(uint64_t turns) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGTRAP};
    struct ticker ticker = {.fd = -1, .has_signal = true};

    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &ticker.timer) == 0)
        report("TickWithSignal", &ticker, turns);
}

static void report_reading(const char *name, clockid_t clock) {
    uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC);

    for (int i = 0; i < READINGS; i++)
        clock_ns(clock);
    printf("Benchmark%s %d %.0f ns/op\n", name, READINGS,
           (double)(clock_ns(CLOCK_MONOTONIC) - begun_ns) / READINGS);
}

int main(void) {
    struct sigaction action = {.sa_sigaction = take, .sa_flags = SA_SIGINFO | SA_RESTART};
    uint64_t turns = 1000000;

    sigaction(SIGTRAP, &action, NULL);
    loop_ns(turns);
    turns = turns * ROUND_NS / (loop_ns(turns) + 1);
    report_event("Period", false, turns);
    report_event("PeriodWithSignal", true, turns);
    report_timer(turns);
    report_reading("ReadMonotonic", CLOCK_MONOTONIC);
    report_reading("ReadThreadCpu", CLOCK_THREAD_CPUTIME_ID);
    return 0;
}
