/* SPDX-License-Identifier: Apache-2.0 */

/* The sampler of the PMU on a real kernel without a PMU: page faults take the place of loads and stores. The kernel
 * counts them by the same code, its signals carry the address that was touched and its records the instruction, so that
 * arming, signals, rings and periods are all tried; only the hardware's precision is not.
 *
 * This file has its own pie_pmu_events_here(), which the linker takes in place of profiler/machine/pmu_machine.c. */

#include "profiler/base/region.h"
#include "profiler/code/access.h"
#include "profiler/collect/collectors.h"
#include "profiler/thread/thread.h"
#include "profiler/watch/sampler_pmu.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/skip.h"

enum { PAGES = 4096, PAGE_BYTES = 4096, RATE_HZ = 100000 };
static const uint64_t PERIOD = 10000; /* the shortest there is, which RATE_HZ asks for */

static const struct pie_pmu_events faults = {
    .events = {{.type = PERF_TYPE_SOFTWARE,
                .config = PERF_COUNT_SW_PAGE_FAULTS_MIN,
                .kind = PIE_ACCESS_STORE}},
    .count = 1,
};

const struct pie_pmu_events *pie_pmu_events_here(const struct pie_pmu_machine **ret_machine) {
    static const struct pie_pmu_machine machine;
    *ret_machine = &machine;
    return &faults;
}

static char *pages;
static struct pie_thread *thread;

/* Touches every page once. Returns the number of faults. The kernel's own work on neighbouring pages would spoil the
 * count. */
static void touch_all(void) {
    madvise(pages, (size_t)PAGES * PAGE_BYTES, MADV_DONTNEED);
    for (size_t i = 0; i < PAGES; i++)
        ((volatile char *)pages)[i * PAGE_BYTES + 8] = 1;
}

static volatile struct {
    unsigned signals, strange, samples, outside, exact, refined;
} seen;

static void on_trap(int signal, siginfo_t *info, void *context) {
    struct pie_access_sample sample;

    seen.signals++;
    if (!pie_access_sampler_pmu.is_ours(info)) {
        seen.strange++;
        return;
    }
    struct pie_pmu_thread *state = pie_pmu_thread_of(thread);
    uint64_t before = state->seen[0];
    if (!pie_access_sampler_pmu.read(thread, info, context, &sample))
        return;
    seen.samples++;
    seen.refined += state->seen[0] - before == sizeof(struct pie_pmu_record);
    seen.exact += sample.is_precise;
    uint64_t offset = sample.address - (uintptr_t)pages;
    seen.outside +=
        offset >= (uint64_t)PAGES * PAGE_BYTES || offset % PAGE_BYTES != 8 || sample.kind != PIE_ACCESS_STORE;
}

static int count_descriptors(void) {
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;
    while (dir && readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static int open_here(uint64_t period, uint64_t cookie) {
    struct perf_event_attr attr;
    pie_pmu_event_prepare(&faults.events[0], period, cookie, &attr);
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int set_up(void **state) {
    int fd = open_here(PERIOD, 0);
    if (fd < 0) {
        print_message("# page faults cannot be sampled here: %s\n", strerror(errno));
        return 0;
    }
    close(fd);
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_RESTART};
    pie_collectors_lay_out_threads();
    if (pie_region_init() < 0 || !(thread = pie_thread_begin(true, "main")))
        return -1;
    thread->tid = (int32_t)gettid();
    pages =
        mmap(NULL, (size_t)PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return -1;
    madvise(pages, (size_t)PAGES * PAGE_BYTES, MADV_NOHUGEPAGE);
    return sigaction(SIGTRAP, &action, NULL);
}

static int clear(void **state) {
    memset((void *)&seen, 0, sizeof seen);
    return 0;
}

static void skip_without_events(void) {
    if (!thread)
        skip_because("page faults cannot be sampled here");
}

/* What the kernel writes is what pie_pmu_ring_read() expects: size, order, positions. */
static void test_records_are_as_expected(void **state) {
    enum { FAULTS = 300 }; /* more than the ring holds */
    static struct {
        uint64_t ip, address;
    } truth[FAULTS];
    struct pie_pmu_record record;
    uint64_t position = 0;

    skip_without_events();
    int fd = open_here(1, pie_pmu_cookie(0, PIE_ACCESS_STORE));
    assert_true(fd >= 0);
    const struct perf_event_mmap_page *page =
        mmap(NULL, PAGE_BYTES + PIE_PMU_RING_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(page, MAP_FAILED);
    assert_int_equal(page->data_size, PIE_PMU_RING_BYTES);
    madvise(pages, (size_t)PAGES * PAGE_BYTES, MADV_DONTNEED);
    sigset_t traps, before;
    sigemptyset(&traps);
    sigaddset(&traps, SIGTRAP);
    sigprocmask(SIG_BLOCK, &traps, &before);
    assert_int_equal(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
    for (size_t i = 0; i < FAULTS; i++) {
        char *place = pages + i * PAGE_BYTES + 16;
        void *ip;
        __asm__ volatile("lea 1f(%%rip), %0\n1: movb $7, (%1)" : "=&r"(ip) : "r"(place) : "memory");
        truth[i].ip = (uintptr_t)ip;
        truth[i].address = (uintptr_t)place;
    }
    assert_int_equal(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), 0);
    uint64_t head = page->data_head;
    assert_true(head >= FAULTS * sizeof record);
    assert_int_equal(head % sizeof record, 0);
    for (size_t i = FAULTS - 100; i < FAULTS; i++, position = 0) {
        assert_true(pie_pmu_ring_read(page, truth[i].address, &position, &record));
        assert_int_equal(position, head);
        assert_int_equal(record.ip, truth[i].ip);
        assert_int_equal(record.address, truth[i].address);
        assert_int_equal(record.header.size, sizeof record);
        assert_int_equal(record.header.misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_USER);
    }
    assert_false(pie_pmu_ring_read(page, truth[0].address, &position, &record)); /* overwritten */
    position = head;
    assert_false(pie_pmu_ring_read(page, 0, &position, &record));
    munmap((void *)page, PAGE_BYTES + PIE_PMU_RING_BYTES);
    close(fd);
    sigprocmask(SIG_SETMASK, &before, NULL); /* the one that is pending comes late */
    assert_int_equal(seen.signals, 1);
    assert_int_equal(seen.strange, 0);
    assert_int_equal(seen.samples, 0);
}

static void test_samples(void **state) {
    enum { ROUNDS = 40 };
    skip_without_events();
    int before = count_descriptors();
    assert_int_equal(pie_access_sampler_pmu.arm(thread, RATE_HZ), 0);
    for (int i = 0; i < ROUNDS; i++)
        touch_all();
    pie_access_sampler_pmu.disarm(thread);
    unsigned expected = ROUNDS * PAGES / PERIOD;
    print_message("# %u signals, %u samples for %u periods\n", seen.signals, seen.samples, expected);
    assert_in_range(seen.signals, expected * 3 / 4, expected * 5 / 4);
    assert_int_equal(seen.strange, 0);
    assert_int_equal(seen.samples, seen.signals);
    assert_int_equal(seen.refined, seen.samples);
    assert_true(seen.outside <= 1);  /* the test's own stack or data */
    assert_int_equal(seen.exact, 0); /* the kernel promises it for PEBS and IBS alone */
    assert_int_equal(count_descriptors(), before);
    unsigned signals = seen.signals;
    for (int i = 0; i < ROUNDS / 5; i++)
        touch_all();
    assert_int_equal(seen.signals, signals); /* disarmed */
}

/* A rate that is far exceeded: the periods grow until it is met. */
static void test_adapting(void **state) {
    enum { TENTHS = 6 };
    skip_without_events();
    assert_int_equal(pie_access_sampler_pmu.arm(thread, RATE_HZ), 0);
    for (int i = 0; i < 20; i++)
        touch_all();
    unsigned fast = seen.signals;
    assert_true(fast >= 4);
    for (int i = 0; i < TENTHS; i++) {
        pie_access_sampler_pmu.adapt(thread, 2); /* one a second of each kind */
        for (int j = 0; j < 20; j++)
            touch_all();
    }
    unsigned slow = seen.signals - fast;
    pie_access_sampler_pmu.disarm(thread);
    print_message("# %u signals in 20 rounds, then %u in %u\n", fast, slow, 20 * TENTHS);
    assert_true(slow < fast * TENTHS / 3);
}

/* The collection thread arms others, and they may be gone before it disarms them. */
static void *work(void *argument) {
    _Atomic int *step = argument;
    struct pie_thread *self = pie_thread_begin(false, "worker");
    thread = self;
    atomic_store(step, 1);
    while (atomic_load(step) != 2)
        usleep(100);
    for (int i = 0; i < 20; i++)
        touch_all();
    pie_thread_end();
    return NULL;
}

static void test_another_thread(void **state) {
    struct pie_thread *main_thread = thread;
    _Atomic int step = 0;
    pthread_t worker;

    skip_without_events();
    int before = count_descriptors();
    assert_int_equal(pthread_create(&worker, NULL, work, &step), 0);
    while (atomic_load(&step) != 1)
        usleep(100);
    assert_ptr_not_equal(thread, main_thread);
    assert_int_equal(pie_access_sampler_pmu.arm(thread, RATE_HZ), 0);
    atomic_store(&step, 2);
    pthread_join(worker, NULL);
    assert_true(seen.samples >= 4);
    assert_true(seen.outside <= 1);
    pie_access_sampler_pmu.adapt(thread, RATE_HZ);
    pie_access_sampler_pmu.disarm(thread);
    pie_access_sampler_pmu.disarm(thread);
    assert_int_equal(pie_access_sampler_pmu.arm(thread, RATE_HZ), -ESRCH); /* it is gone */
    assert_int_equal(count_descriptors(), before);
    thread = main_thread;
}

static void test_no_descriptor(void **state) {
    skip_without_events();
    int fds[4096], count = 0, before = count_descriptors();
    while (count < 4096 && (fds[count] = dup(0)) >= 0)
        count++;
    int r = pie_access_sampler_pmu.arm(thread, RATE_HZ);
    for (int i = 0; i < count; i++)
        close(fds[i]);
    if (count < 4096)
        assert_int_equal(r, -EMFILE);
    else
        pie_access_sampler_pmu.disarm(thread);
    assert_int_equal(count_descriptors(), before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_samples, clear),
        cmocka_unit_test_setup(test_records_are_as_expected, clear),
        cmocka_unit_test_setup(test_adapting, clear),
        cmocka_unit_test_setup(test_another_thread, clear),
        cmocka_unit_test_setup(test_no_descriptor, clear),
    };
    return cmocka_run_group_tests_name("pmu_faults", tests, set_up, NULL);
}
