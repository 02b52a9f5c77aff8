/* SPDX-License-Identifier: Apache-2.0 */

/* Samples by hardware events of the thread, a signal at each (PEBS, IBS; profiler/machine/pmu_events.c chooses them).
 *
 * The period is a number of accesses: one sample in a million at 1 kHz, and fewer if that many would come more often
 * than the rate. Ten times a second each event's period is set to what would have met its share of the rate, and moved
 * by up to a tenth, so that it falls out of step with loops.
 *
 * Descriptors live in the table of the collection thread, as those of the clock do (time/clock_perf.c). */

#include "profiler/watch/sampler_pmu.h"

#include "profiler/base/clocks.h"
#include "profiler/base/hash.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/random.h"
#include "profiler/code/access.h"
#include "profiler/machine/descriptors.h"
#include "profiler/thread/thread.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static const uint64_t ACCESSES_PER_SECOND = 1000000000; /* a million at 1 kHz */
static const uint64_t PERIOD_MIN = 10000, PERIOD_MAX = UINT64_C(1) << 40;
static const uint64_t MEASURED_NS_MIN = 1000000; /* of CPU time: less says nothing about a rate */
static const double STEP_MAX = 16;
enum { THINNING = 16 }; /* load latency is measured for about one load in this many */

/* What only the collection thread knows of a thread. */
struct arming {
    int fds[PIE_PMU_EVENTS_MAX]; /* 0: none (descriptor 0 is never an event) */
    uint64_t periods[PIE_PMU_EVENTS_MAX], signals[PIE_PMU_EVENTS_MAX];
    uint64_t cpu_ns; /* of the thread, when the periods were set */
};

/* By slot; grows, and a forked child begins with nothing. */
static struct arming *armings;
static size_t n_armings;
static uint64_t dither_state = PIE_HASH_MULTIPLIER;

static struct arming *arming_of(const struct pie_thread *thread) {
    size_t slot = pie_thread_index(thread);

    if (slot >= n_armings) {
        size_t grown_n = slot + 64;
        struct arming *grown = pie_realloc(armings, grown_n * sizeof *grown);
        if (!grown)
            return NULL;
        memset(grown + n_armings, 0, (grown_n - n_armings) * sizeof *grown);
        armings = grown;
        n_armings = grown_n;
    }
    return &armings[slot];
}

static struct pie_pmu_thread *thread_make(const struct pie_thread *thread) {
    size_t chunk = pie_thread_index(thread) / PIE_PMU_CHUNK_THREADS;

    if (chunk >= PIE_PMU_CHUNKS)
        return NULL;
    if (!atomic_load_explicit(&pie_pmu_chunks[chunk], memory_order_relaxed))
        /* release: pairs with the acquire in pie_pmu_thread_of() */
        atomic_store_explicit(&pie_pmu_chunks[chunk],
                              pie_calloc(PIE_PMU_CHUNK_THREADS, sizeof(struct pie_pmu_thread)),
                              memory_order_release);
    return pie_pmu_thread_of(thread);
}

uint64_t pie_pmu_period_min(const struct pie_pmu_event *event, uint64_t rate_hz) {
    uint64_t period = ACCESSES_PER_SECOND / (rate_hz ? rate_hz : 1);

    if (event->is_thinned)
        period /= THINNING;
    return period < PERIOD_MIN ? PERIOD_MIN : period;
}

uint64_t pie_pmu_next_period(uint64_t period_accesses, uint64_t signals, uint64_t cpu_ns, uint64_t target_hz,
                             uint64_t period_min) {
    if (cpu_ns < MEASURED_NS_MIN)
        return period_accesses;
    double times = (double)signals * 1e9 / ((double)cpu_ns * (double)target_hz);
    if (times > STEP_MAX)
        times = STEP_MAX;
    if (times < 1.0 / STEP_MAX)
        times = 1.0 / STEP_MAX;
    double wanted = (double)period_accesses * times;
    if (wanted > (double)PERIOD_MAX)
        return PERIOD_MAX;
    return wanted < (double)period_min ? period_min : (uint64_t)wanted;
}

static const struct pie_pmu_events *events_here(void) {
    const struct pie_pmu_machine *machine;

    return pie_pmu_events_here(&machine);
}

/* Loads and stores are counted by an event each, and on a hybrid processor only those of one device count at a time. */
static uint64_t share_of(const struct pie_pmu_event *event, uint64_t rate_hz) {
    uint64_t share_hz = event->kind == (PIE_ACCESS_LOAD | PIE_ACCESS_STORE) ? rate_hz : rate_hz / 2;

    return share_hz ? share_hz : 1;
}

static int open_event(const struct pie_thread *thread, unsigned index, uint64_t period) {
    const struct pie_pmu_event *event = &events_here()->events[index];
    struct perf_event_attr attr;

    pie_pmu_event_prepare(event, period, pie_pmu_cookie(index, event->kind), &attr);
    int fd = (int)syscall(SYS_perf_event_open, &attr, thread->tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (pie_descriptor_is_scarce(fd)) {
        close(fd);
        return -EMFILE;
    }
    return fd;
}

/* Without a ring (perf_event_mlock_kb) samples still have their addresses, but no exact instruction. */
static const struct perf_event_mmap_page *map_ring(int fd) {
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *ring = mmap(NULL, page_bytes + PIE_PMU_RING_BYTES, PROT_READ, MAP_SHARED, fd, 0);

    return ring == MAP_FAILED ? NULL : ring;
}

static int arm_event(struct pie_thread *thread, struct arming *arming, struct pie_pmu_thread *state,
                     unsigned index, uint64_t rate_hz) {
    uint64_t period = pie_pmu_period_min(&events_here()->events[index], rate_hz);
    int fd = open_event(thread, index, pie_random_dither(&dither_state, period));

    if (fd < 0)
        return fd;
    arming->fds[index] = fd;
    arming->periods[index] = period;
    arming->signals[index] = 0;
    state->seen[index] = 0;
    atomic_store_explicit(&state->signals[index], 0, memory_order_relaxed);
    /* release: pairs with the handler's acquire; what is before it is seen by the event's first signal */
    atomic_store_explicit(&state->rings[index], map_ring(fd), memory_order_release);
    return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0 ? 0 : -errno;
}

static void disarm_event(struct pie_thread *thread, struct arming *arming, struct pie_pmu_thread *state,
                         unsigned index) {
    const struct perf_event_mmap_page *ring =
        atomic_exchange_explicit(&state->rings[index], NULL, memory_order_acq_rel);

    if (arming->fds[index] > 0) {
        ioctl(arming->fds[index], PERF_EVENT_IOC_DISABLE, 0);
        close(arming->fds[index]);
        arming->fds[index] = 0;
    }
    /* A handler that still reads the ring takes microseconds; the mapping is left to it if the thread lives. */
    if (ring && pie_thread_state(thread) == PIE_THREAD_ENDED)
        munmap((void *)ring, (size_t)sysconf(_SC_PAGESIZE) + PIE_PMU_RING_BYTES);
}

static void disarm(struct pie_thread *thread) {
    struct pie_pmu_thread *state = pie_pmu_thread_of(thread);
    struct arming *arming = arming_of(thread);

    for (unsigned i = 0; state && arming && i < PIE_PMU_EVENTS_MAX; i++)
        disarm_event(thread, arming, state, i);
}

static int arm(struct pie_thread *thread, uint64_t rate_hz) {
    struct pie_pmu_thread *state = thread_make(thread);
    struct arming *arming = arming_of(thread);
    int r = events_here()->count ? 0 : -ENODEV;

    if (!state || !arming)
        return -ENOMEM;
    arming->cpu_ns = pie_thread_cpu_of(thread->tid);
    for (unsigned i = 0; i < events_here()->count && r == 0; i++)
        r = arm_event(thread, arming, state, i, rate_hz);
    if (r < 0)
        disarm(thread);
    return r;
}

static void adapt(struct pie_thread *thread, uint64_t rate_hz) {
    struct pie_pmu_thread *state = pie_pmu_thread_of(thread);
    struct arming *arming = arming_of(thread);
    uint64_t now_ns = pie_thread_cpu_of(thread->tid);

    if (!state || !arming || now_ns <= arming->cpu_ns)
        return;
    for (unsigned i = 0; i < events_here()->count; i++) {
        const struct pie_pmu_event *event = &events_here()->events[i];
        uint64_t signals = atomic_load_explicit(&state->signals[i], memory_order_relaxed);
        arming->periods[i] =
            pie_pmu_next_period(arming->periods[i], signals - arming->signals[i], now_ns - arming->cpu_ns,
                                share_of(event, rate_hz), pie_pmu_period_min(event, rate_hz));
        arming->signals[i] = signals;
        uint64_t period =
            pie_pmu_event_round_period(event, pie_random_dither(&dither_state, arming->periods[i]));
        if (arming->fds[i] > 0)
            ioctl(arming->fds[i], PERF_EVENT_IOC_PERIOD, &period); /* else the old one stays */
    }
    arming->cpu_ns = now_ns;
}

const struct pie_access_sampler_ops pie_access_sampler_pmu = {
    .name = "pmu",
    .arm = arm,
    .disarm = disarm,
    .adapt = adapt,
    .is_ours = pie_access_sampler_pmu_is_ours,
    .read = pie_access_sampler_pmu_read,
};

void pie_access_samplers_forget(void) {
    if (armings)
        memset(armings, 0, n_armings * sizeof *armings);
    for (size_t i = 0; i < PIE_PMU_CHUNKS; i++) {
        struct pie_pmu_thread *threads = atomic_load_explicit(&pie_pmu_chunks[i], memory_order_relaxed);
        if (threads) /* the mappings of rings were not copied by fork(2) */
            memset(threads, 0, PIE_PMU_CHUNK_THREADS * sizeof *threads);
    }
}
