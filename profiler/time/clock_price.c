/* SPDX-License-Identifier: Apache-2.0 */

/* The collection thread gets signals of the clock itself, in a loop that reads the time: the one that did not come at
 * once was delayed by a signal. Those of perf events come from an event with a short period; what timers send is sent
 * by hand, since they tick only every few milliseconds. Medians, because a hypervisor takes its turns in between. */

#include "profiler/time/clock_price.h"

#include "profiler/base/clocks.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/sort.h"
#include "profiler/time/clock.h"
#include "profiler/time/clock_perf.h"
#include "profiler/time/clock_timer.h"

#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SIGNALS = 11, SIGNALS_MIN = 5, SWITCHES = 15, LONGER_MAX = 4, LINE_BYTES = 64 };
enum { LINES = PIE_CLOCK_HOT_BYTES / LINE_BYTES, LINES_STEP = 64, LINES_STRIDE = 613, RELOADS = 7 };
static const uint64_t PERIOD_NS = 40000, TIME_MAX_NS = 3000000, SHORT_PERIOD_NS = 1000000;
static const uint64_t RELOAD_PERIOD_NS = 150000;
static const uint64_t WHOLE_PERMILLE_MAX = 5000;

/* What was seen of some signals, in ns. */
struct signals {
    uint64_t whole[SIGNALS]; /* that the loop lost */
    uint64_t part[SIGNALS];  /* from the clock's record to the handler */
    size_t count;
};

static int by_value(const void *a, const void *b) {
    const uint64_t *first = a, *second = b;

    return *first < *second ? -1 : *first > *second;
}

static uint64_t median(uint64_t *values, size_t count) {
    (void)pie_sort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

static struct pie_clock_price price_of(struct signals *signals) {
    struct pie_clock_price price = {0};

    if (signals->count < SIGNALS_MIN)
        return price;
    price.signal_ns = median(signals->whole, signals->count);
    uint64_t part_ns = median(signals->part, signals->count);
    if (part_ns > 0 && price.signal_ns > part_ns)
        price.whole_permille = 1000 * price.signal_ns / part_ns;
    if (price.whole_permille > WHOLE_PERMILLE_MAX)
        price.whole_permille = 0; /* no such clocks */
    return price;
}

static void watch_signals(const struct perf_event_mmap_page *page, struct signals *signals) {
    uint64_t begun_ns = pie_monotonic_ns(), before_ns = begun_ns, seen_ns = pie_clock_price_last_entered_ns();

    while (signals->count < SIGNALS && before_ns - begun_ns < TIME_MAX_NS) {
        uint64_t now_ns = pie_monotonic_ns(), entered_ns = pie_clock_price_last_entered_ns();
        if (entered_ns != seen_ns) {
            uint64_t ended_ns = pie_clock_perf_newest(page)->time_ns;
            now_ns = pie_monotonic_ns();
            signals->whole[signals->count] = now_ns - before_ns;
            signals->part[signals->count++] = entered_ns > ended_ns ? entered_ns - ended_ns : 0;
            seen_ns = entered_ns;
            now_ns = pie_monotonic_ns();
        }
        before_ns = now_ns;
    }
}

static void measure_perf(bool user_only, struct signals *signals) {
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE) + PIE_PERF_RING_BYTES;
    int fd = pie_clock_perf_open(0, PERIOD_NS, user_only);

    if (fd < 0)
        return;
    void *ring = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (ring != MAP_FAILED) {
        if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0)
            watch_signals(ring, signals);
        ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
        munmap(ring, bytes);
    }
    close(fd);
}

/* Each line says where the next one is, so that none is fetched before the last has come. */
struct line {
    uint32_t next;
    char rest[LINE_BYTES - sizeof(uint32_t)];
};

static struct line *make_lines(void) {
    struct line *lines = pie_malloc(LINES * sizeof *lines);

    for (uint32_t i = 0; lines && i < LINES; i++)
        lines[i].next = (i + LINES_STRIDE) % LINES;
    return lines;
}

static uint32_t walk(const struct line *lines, uint32_t from, size_t count) {
    for (size_t i = 0; i < count; i++)
        from = ((const volatile struct line *)lines)[from].next;
    return from;
}

static uint64_t walk_all_ns(const struct line *lines) {
    uint64_t begun_ns = pie_monotonic_ns();

    walk(lines, 0, LINES);
    return pie_monotonic_ns() - begun_ns;
}

/* How much longer the lines take after a signal than once more. */
static uint64_t reload_ns(const struct line *lines) {
    uint64_t cold_ns[RELOADS], warm_ns[RELOADS], begun_ns = pie_monotonic_ns();
    uint64_t seen_ns = pie_clock_price_last_entered_ns();
    uint32_t at = walk(lines, 0, LINES);
    size_t count = 0;

    while (count < RELOADS && pie_monotonic_ns() - begun_ns < TIME_MAX_NS) {
        at = walk(lines, at, LINES_STEP);
        if (pie_clock_price_last_entered_ns() == seen_ns)
            continue;
        seen_ns = pie_clock_price_last_entered_ns();
        cold_ns[count] = walk_all_ns(lines);
        warm_ns[count] = walk_all_ns(lines);
        count += pie_clock_price_last_entered_ns() == seen_ns; /* else there was another one */
    }
    if (count < SIGNALS_MIN)
        return 0;
    uint64_t cold = median(cold_ns, count), warm = median(warm_ns, count);
    return cold > warm ? cold - warm : 0;
}

static uint64_t measure_reload(bool user_only) {
    struct line *lines = make_lines();
    int fd = lines ? pie_clock_perf_open(0, RELOAD_PERIOD_NS, user_only) : -1;
    uint64_t took_ns = 0;

    if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0)
        took_ns = reload_ns(lines);
    if (fd >= 0)
        close(fd);
    pie_free(lines);
    return took_ns;
}

/* Enabling an event of the thread that runs does what a switch to it does, disabling what a switch away does. Where the
 * next tick comes first, no timer is set: so it is the mean that counts, without those that were interrupted. */
static uint64_t measure_switch(uint64_t period_ns, bool user_only) {
    uint64_t took_ns[SWITCHES], sum_ns = 0, count = 0;
    int fd = pie_clock_perf_open(0, period_ns, user_only);

    if (fd < 0)
        return 0;
    for (int i = 0; i < SWITCHES; i++) {
        uint64_t begun_ns = pie_monotonic_ns();
        ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
        ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
        took_ns[i] = pie_monotonic_ns() - begun_ns;
    }
    close(fd);
    uint64_t most_ns = LONGER_MAX * median(took_ns, SWITCHES);
    for (int i = 0; i < SWITCHES; i++) {
        sum_ns += took_ns[i] <= most_ns ? took_ns[i] : 0;
        count += took_ns[i] <= most_ns;
    }
    return sum_ns / count;
}

static bool is_perf(const struct pie_clock_ops *clock) {
    return clock == &pie_clock_perf || clock == &pie_clock_perf_user;
}

static void measure_sent(siginfo_t *info, struct signals *signals) {
    pid_t pid = (pid_t)syscall(SYS_getpid), tid = (pid_t)syscall(SYS_gettid);

    while (signals->count < SIGNALS) {
        uint64_t begun_ns = pie_monotonic_ns();
        if (syscall(SYS_rt_tgsigqueueinfo, pid, tid, info->si_signo, info) != 0 ||
            pie_clock_price_last_entered_ns() < begun_ns)
            return;
        signals->whole[signals->count] = pie_monotonic_ns() - begun_ns;
        signals->part[signals->count++] = 0;
    }
}

static void measure(const struct pie_clock_ops *clock, struct signals *signals) {
    siginfo_t info = {.si_signo = SIGPROF, .si_code = SI_KERNEL}; /* as of an interval timer */

    if (is_perf(clock)) {
        measure_perf(clock == &pie_clock_perf_user, signals);
        return;
    }
    if (clock == &pie_clock_timer) {
        info = (siginfo_t){.si_signo = PIE_TIMER_SIGNAL, .si_code = SI_TIMER};
        info.si_value.sival_ptr = pie_clock_timer_cookie();
    }
    measure_sent(&info, signals);
}

const struct pie_clock_price *pie_clock_price(const struct pie_clock_ops *clock) {
    uint64_t ours = 0, before;
    struct signals signals = {.count = 0};

    if (pie_clock_price_known())
        return pie_clock_price_known();
    for (int i = 0; i < PIE_CLOCK_SIGNALS; i++)
        if (clock->signals[i])
            ours |= UINT64_C(1) << (clock->signals[i] - 1);
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &ours, &before, sizeof ours);
    measure(clock, &signals);
    uint64_t reload_ns = is_perf(clock) ? measure_reload(clock == &pie_clock_perf_user) : 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
    struct pie_clock_price price = price_of(&signals);
    price.reload_ns = reload_ns;
    if (is_perf(clock)) {
        price.switch_ns = measure_switch(SHORT_PERIOD_NS, clock == &pie_clock_perf_user);
        price.long_switch_ns = measure_switch(PIE_CLOCK_LONG_PERIOD_NS, clock == &pie_clock_perf_user);
    }
    pie_clock_price_set(&price);
    return pie_clock_price_known();
}
