/* SPDX-License-Identifier: Apache-2.0 */

/* The sampler of the PMU on signals and rings that are made up, whole and broken, and on this machine's where it has
 * one. */

#include "profiler/base/region.h"
#include "profiler/code/access.h"
#include "profiler/collect/collectors.h"
#include "profiler/thread/thread.h"
#include "profiler/watch/sampler_pmu.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { TRAP_PERF_CODE = 6, RECORD = sizeof(struct pie_pmu_record) };
#define KERNEL_ADDRESS UINT64_C(0xffffffff81000000)
#define NO_DATA_SRC UINT64_C(0)

/* --- signals and rings --- */

struct perf_fields { /* of siginfo_t, from offset 16 (asm-generic/siginfo.h) */
    uint64_t address, data;
    uint32_t type, flags;
};

static siginfo_t signal_of(uint64_t address, uint64_t data, uint32_t type, uint32_t flags) {
    siginfo_t info = {.si_signo = SIGTRAP, .si_code = TRAP_PERF_CODE};
    struct perf_fields fields = {.address = address, .data = data, .type = type, .flags = flags};
    memcpy((char *)&info + 16, &fields, sizeof fields);
    return info;
}

static struct {
    _Alignas(4096) char bytes[4096 + PIE_PMU_RING_BYTES];
} ring;
static struct perf_event_mmap_page *const page = (struct perf_event_mmap_page *)ring.bytes;

static void clear_ring(void) {
    memset(&ring, 0, sizeof ring);
    page->data_offset = 4096;
    page->data_size = PIE_PMU_RING_BYTES;
}

static void put(const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        ring.bytes[page->data_offset + (page->data_head + i) % PIE_PMU_RING_BYTES] = ((const char *)bytes)[i];
    page->data_head += size;
}

static uint64_t source(uint64_t operation) {
    return ((union perf_mem_data_src){.mem_op = operation}).val;
}

static void put_record(uint64_t ip, uint64_t address, uint64_t data_src, bool is_exact) {
    struct pie_pmu_record record = {
        .header = {.type = PERF_RECORD_SAMPLE,
                   .misc = (uint16_t)(PERF_RECORD_MISC_USER | (is_exact ? PERF_RECORD_MISC_EXACT_IP : 0)),
                   .size = RECORD},
        .ip = ip,
        .address = address,
        .data_src = data_src,
    };
    put(&record, sizeof record);
}

/* --- a thread that is armed with the made-up ring --- */

static struct pie_thread *thread;
static struct pie_pmu_thread *state_of_thread;
static const uint64_t CONTEXT_IP = 0x401234;
enum { LOADS, STORES, TAGGED };

static int set_up_thread(void **state) {
    static struct pie_pmu_thread block[PIE_PMU_CHUNK_THREADS];
    pie_collectors_lay_out_threads();
    if (pie_region_init() < 0)
        return -1;
    thread = pie_thread_begin(true, "main");
    if (!thread)
        return -1;
    atomic_store(&pie_pmu_chunks[pie_thread_index(thread) / PIE_PMU_CHUNK_THREADS], block);
    state_of_thread = pie_pmu_thread_of(thread);
    return state_of_thread ? 0 : -1;
}

static int set_up(void **state) {
    clear_ring();
    memset(state_of_thread, 0, sizeof *state_of_thread);
    for (int i = LOADS; i <= TAGGED; i++)
        atomic_store(&state_of_thread->rings[i], page);
    return 0;
}

static uint64_t cookie_of(unsigned index) {
    static const uint8_t kinds[] = {PIE_ACCESS_LOAD, PIE_ACCESS_STORE, PIE_ACCESS_LOAD | PIE_ACCESS_STORE};
    return pie_pmu_cookie(index, kinds[index]);
}

/* Reads a signal of event `index`; on false the sample must be untouched. */
static bool read_signal(unsigned index, uint64_t address, uint32_t flags,
                        struct pie_access_sample *ret_sample) {
    siginfo_t info = signal_of(address, cookie_of(index), PERF_TYPE_RAW, flags);
    ucontext_t context = {0};
    struct pie_access_sample before;
    uint64_t signals = atomic_load(&state_of_thread->signals[index]);

    context.uc_mcontext.gregs[REG_RIP] = (greg_t)CONTEXT_IP;
    memset(ret_sample, 0xa5, sizeof *ret_sample);
    before = *ret_sample;
    assert_true(pie_access_sampler_pmu.is_ours(&info));
    bool is_read = pie_access_sampler_pmu.read(thread, &info, &context, ret_sample);
    assert_int_equal(atomic_load(&state_of_thread->signals[index]), signals + 1);
    if (!is_read)
        assert_memory_equal(&before, ret_sample, sizeof before);
    return is_read;
}

static void assert_sample(const struct pie_access_sample *sample, uint64_t ip, uint64_t address, uint8_t kind,
                          bool is_precise) {
    assert_int_equal(sample->ip, ip);
    assert_int_equal(sample->address, address);
    assert_int_equal(sample->kind, kind);
    assert_int_equal(sample->is_precise, is_precise);
}

static void test_precise_samples(void **state) {
    struct pie_access_sample sample;
    put_record(0x7000, 0x5000, source(PERF_MEM_OP_LOAD), true);
    assert_true(read_signal(LOADS, 0x5000, 0, &sample));
    assert_sample(&sample, 0x7000, 0x5000, PIE_ACCESS_LOAD, true);
    put_record(0x7008, 0x5008, source(PERF_MEM_OP_STORE), true);
    state_of_thread->seen[STORES] = page->data_head - RECORD;
    assert_true(read_signal(STORES, 0x5008, 0, &sample));
    assert_sample(&sample, 0x7008, 0x5008, PIE_ACCESS_STORE, true);
}

static void test_whose_signal(void **state) {
    siginfo_t info = signal_of(0x5000, cookie_of(LOADS), PERF_TYPE_RAW, 0);
    assert_true(pie_access_sampler_pmu.is_ours(&info));
    info = signal_of(0x5000, cookie_of(TAGGED), 12, 0);
    assert_true(pie_access_sampler_pmu.is_ours(&info));
    static const uint64_t others[] = {0,
                                      1,
                                      0x706965,
                                      UINT64_C(0x7069657700000000),
                                      UINT64_MAX,
                                      PIE_PMU_COOKIE + 0x10000,
                                      PIE_PMU_COOKIE - 1};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        info = signal_of(0x5000, others[i], PERF_TYPE_RAW, 0);
        assert_false(pie_access_sampler_pmu.is_ours(&info));
    }
    info = signal_of(0x5000, cookie_of(LOADS), PERF_TYPE_RAW, 0);
    info.si_code = SI_USER;
    assert_false(pie_access_sampler_pmu.is_ours(&info));
    info = signal_of(0x5000, cookie_of(LOADS), PERF_TYPE_RAW, 0);
    info.si_signo = SIGUSR1;
    assert_false(pie_access_sampler_pmu.is_ours(&info));
}

/* An event of that number was never armed. */
static void test_unknown_event(void **state) {
    struct pie_access_sample sample;
    ucontext_t context = {0};
    for (unsigned index = PIE_PMU_EVENTS_MAX; index < 0x4000; index += 0x111) {
        siginfo_t info = signal_of(0x5000, pie_pmu_cookie(index, PIE_ACCESS_LOAD), PERF_TYPE_RAW, 0);
        assert_true(pie_access_sampler_pmu.is_ours(&info));
        assert_false(pie_access_sampler_pmu.read(thread, &info, &context, &sample));
    }
}

static void test_address_from_either_side(void **state) {
    struct pie_access_sample sample;
    put_record(0x7000, 0x5000, NO_DATA_SRC, true); /* the signal has none */
    assert_true(read_signal(LOADS, 0, 0, &sample));
    assert_sample(&sample, 0x7000, 0x5000, PIE_ACCESS_LOAD, true);
    put_record(0x7000, 0, NO_DATA_SRC, true); /* nobody has one */
    assert_true(read_signal(LOADS, 0, 0, &sample));
    assert_sample(&sample, 0x7000, 0, PIE_ACCESS_LOAD, true);
    put_record(0x7000, KERNEL_ADDRESS, NO_DATA_SRC, true);
    assert_true(read_signal(LOADS, KERNEL_ADDRESS, 0, &sample));
    assert_sample(&sample, 0x7000, 0, PIE_ACCESS_LOAD, true);
    put_record(0x7000, 0xfff, NO_DATA_SRC, true); /* the first page */
    assert_true(read_signal(LOADS, 0xfff, 0, &sample));
    assert_sample(&sample, 0x7000, 0, PIE_ACCESS_LOAD, true);
}

/* A virtual PMU without PEBS, precise_ip 1, or no ring: nearby. */
static void test_imprecise_samples(void **state) {
    struct pie_access_sample sample;
    put_record(0x7000, 0, NO_DATA_SRC, false);
    assert_true(read_signal(STORES, 0, 0, &sample));
    assert_sample(&sample, CONTEXT_IP, 0, PIE_ACCESS_STORE, false);
    atomic_store(&state_of_thread->rings[LOADS], NULL);
    assert_true(read_signal(LOADS, 0x5000, 0, &sample));
    assert_sample(&sample, CONTEXT_IP, 0x5000, PIE_ACCESS_LOAD, false);
    assert_false(read_signal(LOADS, 0x5000, 1, &sample));
}

static void test_kernel_hits_are_no_samples(void **state) {
    struct pie_access_sample sample;
    put_record(KERNEL_ADDRESS, 0x5000, source(PERF_MEM_OP_LOAD), true);
    assert_false(read_signal(TAGGED, 0x5000, 0, &sample));
    put_record(0, 0x5000, source(PERF_MEM_OP_LOAD), true);
    assert_false(read_signal(LOADS, 0x5000, 0, &sample));
}

static void test_tagged_operations(void **state) {
    static const struct {
        uint64_t data_src;
        uint8_t kind; /* 0: no access */
    } table[] = {
        {PERF_MEM_OP_LOAD, PIE_ACCESS_LOAD},
        {PERF_MEM_OP_STORE, PIE_ACCESS_STORE},
        {PERF_MEM_OP_NA, 0},
        {PERF_MEM_OP_EXEC, 0},
        {PERF_MEM_OP_PFETCH, 0},
        {PERF_MEM_OP_LOAD | PERF_MEM_OP_STORE, 0},
        {0, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct pie_access_sample sample;
        put_record(0x7000, 0x5000, source(table[i].data_src), true);
        assert_int_equal(read_signal(TAGGED, 0x5000, 0, &sample), table[i].kind != 0);
        if (table[i].kind)
            assert_sample(&sample, 0x7000, 0x5000, table[i].kind, true);
    }
    struct pie_access_sample sample; /* without its record nobody knows what the operation was */
    assert_false(read_signal(TAGGED, 0x5000, 0, &sample));
}

/* A signal that was blocked: the thread is elsewhere by now. Its record must not be taken for the next one's. */
static void test_late_signals(void **state) {
    struct pie_access_sample sample;
    put_record(0x7000, 0x5000, NO_DATA_SRC, true);
    assert_false(read_signal(LOADS, 0x5000, 1, &sample));
    assert_int_equal(state_of_thread->seen[LOADS], page->data_head);
    assert_true(read_signal(LOADS, 0x5000, 0, &sample));
    assert_sample(&sample, CONTEXT_IP, 0x5000, PIE_ACCESS_LOAD, false);
}

/* One signal for several samples: the one whose address it carries. */
static void test_several_samples(void **state) {
    struct pie_access_sample sample;
    for (uint64_t i = 0; i < 5; i++)
        put_record(0x7000 + i, 0x5000 + 8 * i, NO_DATA_SRC, true);
    assert_true(read_signal(LOADS, 0x5010, 0, &sample));
    assert_sample(&sample, 0x7002, 0x5010, PIE_ACCESS_LOAD, true);
    assert_int_equal(state_of_thread->seen[LOADS], page->data_head);
    for (uint64_t i = 0; i < 5; i++)
        put_record(0x7000 + i, 0, NO_DATA_SRC, true);
    assert_true(read_signal(LOADS, 0, 0, &sample));
    assert_sample(&sample, 0x7004, 0, PIE_ACCESS_LOAD, true);
    put_record(0x7000, 0x6000, NO_DATA_SRC, true); /* of another access */
    assert_true(read_signal(LOADS, 0x5000, 0, &sample));
    assert_sample(&sample, CONTEXT_IP, 0x5000, PIE_ACCESS_LOAD, false);
}

static void test_overrun(void **state) {
    struct pie_access_sample sample;
    enum { ROOM = PIE_PMU_RING_BYTES / RECORD };
    for (uint64_t i = 0; i < 5 * ROOM + 3; i++)
        put_record(0x10000 + i, 0x500000 + 8 * i, NO_DATA_SRC, true);
    assert_true(read_signal(LOADS, 0x500000 + 8 * (4 * ROOM + 3), 0, &sample)); /* the oldest that is left */
    assert_sample(&sample, 0x10000 + 4 * ROOM + 3, 0x500000 + 8 * (4 * ROOM + 3), PIE_ACCESS_LOAD, true);
    state_of_thread->seen[LOADS] = 0;
    assert_true(read_signal(LOADS, 0x500000 + 8 * (4 * ROOM + 2), 0, &sample)); /* overwritten */
    assert_false(sample.is_precise);
}

/* Records of other kinds and sizes between ours. */
static void test_other_records(void **state) {
    struct pie_access_sample sample;
    struct {
        struct perf_event_header header;
        uint64_t words[3];
    } throttle = {.header = {.type = PERF_RECORD_THROTTLE, .size = 32}},
      lost = {.header = {.type = PERF_RECORD_LOST, .size = 24}},
      large = {.header = {.type = PERF_RECORD_SAMPLE, .size = 24}, .words = {0x7777, 0x5000}};
    put(&throttle, throttle.header.size);
    put(&lost, lost.header.size);
    put_record(0x7000, 0x5000, NO_DATA_SRC, true);
    put(&large, large.header.size); /* a sample without DATA_SRC: not as we asked for it */
    put(&throttle, throttle.header.size);
    assert_true(read_signal(LOADS, 0x5000, 0, &sample));
    assert_sample(&sample, 0x7000, 0x5000, PIE_ACCESS_LOAD, true);
    /* Not in step with the ring's end any more: a record that wraps around. */
    while (page->data_head % PIE_PMU_RING_BYTES != PIE_PMU_RING_BYTES - 16)
        put(&(struct perf_event_header){.type = PERF_RECORD_LOST, .size = 8}, 8);
    state_of_thread->seen[LOADS] = page->data_head;
    put_record(0x8000, 0x6000, NO_DATA_SRC, true);
    assert_true(read_signal(LOADS, 0x6000, 0, &sample));
    assert_sample(&sample, 0x8000, 0x6000, PIE_ACCESS_LOAD, true);
}

static void test_truncated_records(void **state) {
    static const uint16_t sizes[] = {0, 1, 4, 7, 12, 33, 40, 64, 4096, 65535};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct pie_access_sample sample;
        set_up(state);
        struct pie_pmu_record record = {
            .header = {.type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_EXACT_IP, .size = sizes[i]},
            .ip = 0x7000,
            .address = 0x5000};
        put(&record, sizeof record);
        assert_true(read_signal(LOADS, 0x5000, 0, &sample));
        assert_sample(&sample, CONTEXT_IP, 0x5000, PIE_ACCESS_LOAD, false);
        assert_int_equal(state_of_thread->seen[LOADS], page->data_head);
    }
    for (uint64_t head = 1; head < RECORD; head++) { /* the head inside a record */
        struct pie_access_sample sample;
        set_up(state);
        put_record(0x7000, 0x5000, NO_DATA_SRC, true);
        page->data_head = head;
        assert_true(read_signal(LOADS, 0x5000, 0, &sample));
        assert_false(sample.is_precise);
    }
}

static void fill_with_garbage(void) {
    for (size_t i = 4096; i < sizeof ring.bytes; i += 4) {
        uint32_t word = (uint32_t)random() ^ (uint32_t)random() << 16;
        memcpy(ring.bytes + i, &word, sizeof word);
    }
    for (size_t i = 4096; i < sizeof ring.bytes; i += RECORD) { /* most of it looks right */
        struct pie_pmu_record record = {
            .header = {.type = (uint32_t)(random() % 2 ? PERF_RECORD_SAMPLE : random() % 12),
                       .misc = (uint16_t)random(),
                       .size = (uint16_t)(random() % 8 ? RECORD : random() % 80)},
            .ip = (uint64_t)random() << random() % 40,
            .address = (uint64_t)random() << random() % 40,
            .data_src = (uint64_t)random() % 32,
        };
        if (random() % 4)
            memcpy(ring.bytes + i, &record, sizeof record);
    }
}

/* Random bytes: whatever comes out is an address of user space, and it ends. */
static void test_garbage(void **state) {
    unsigned seed = 4711, precise = 0;
    print_message("# seed %u\n", seed);
    srandom(seed);
    for (int round = 0; round < 4000; round++) {
        struct pie_access_sample sample;
        fill_with_garbage();
        page->data_head = (uint64_t)random() * (random() % 2 ? RECORD : 1);
        uint64_t behind = (uint64_t)random() % 5000;
        state_of_thread->seen[TAGGED] = random() % 3 ? page->data_head - behind : (uint64_t)random();
        uint64_t address = (uint64_t)random() << random() % 40;
        if (!read_signal(TAGGED, random() % 4 ? 0 : address, 0, &sample))
            continue;
        precise += sample.is_precise;
        assert_true(sample.address == 0 || (sample.address >= 0x1000 && sample.address >> 56 == 0));
        assert_true(sample.ip >= 0x1000 && sample.ip >> 56 == 0);
        assert_true(sample.kind == PIE_ACCESS_LOAD || sample.kind == PIE_ACCESS_STORE);
    }
    assert_true(precise > 0); /* some got through */
}

/* --- periods --- */

static void test_shortest_periods(void **state) {
    struct pie_pmu_event event = {.kind = PIE_ACCESS_LOAD};
    assert_int_equal(pie_pmu_period_min(&event, 1000), 1000000);
    assert_int_equal(pie_pmu_period_min(&event, 250), 4000000);
    assert_int_equal(pie_pmu_period_min(&event, 4000), 250000);
    assert_int_equal(pie_pmu_period_min(&event, 1000000), 10000);
    assert_int_equal(pie_pmu_period_min(&event, 0), 1000000000);
    event.is_thinned = true;
    assert_int_equal(pie_pmu_period_min(&event, 1000), 62500);
}

/* A program that makes `accesses_hz` accesses a second: the period settles where the rate is met, or at the least. */
static uint64_t settled(uint64_t accesses_hz, uint64_t target_hz, uint64_t period) {
    static const uint64_t TENTH_NS = 100000000;
    for (int i = 0; i < 50; i++)
        period = pie_pmu_next_period(period, accesses_hz / 10 / period, TENTH_NS, target_hz, 1000000);
    return period;
}

static void test_periods_settle(void **state) {
    assert_in_range(settled(4000000000, 500, 1000000), 7900000, 8100000);
    assert_in_range(settled(4000000000, 500, 1000000000), 7900000, 8100000);
    assert_int_equal(settled(100000000, 500, 1000000), 1000000);
    assert_int_equal(settled(100000000, 500, 50000000), 1000000);
    assert_int_equal(settled(0, 500, UINT64_C(1) << 40), 1000000);
}

static void test_periods_are_bounded(void **state) {
    assert_int_equal(pie_pmu_next_period(2000000, 1000, 10, 500, 1000000), 2000000); /* too short to tell */
    assert_int_equal(pie_pmu_next_period(2000000, 1000000, 100000000, 500, 1000000), 32000000);
    assert_int_equal(pie_pmu_next_period(32000000, 0, 100000000, 500, 1000000), 2000000);
    uint64_t period = 1000000;
    for (int i = 0; i < 100; i++)
        period = pie_pmu_next_period(period, UINT64_MAX, UINT64_C(1) << 40, 1, 1000000);
    assert_int_equal(period, UINT64_C(1) << 40);
}

/* --- the samplers as the engine sees them --- */

static void test_idle_samplers(void **state) {
    siginfo_t info = signal_of(0x5000, cookie_of(LOADS), PERF_TYPE_RAW, 0);
    ucontext_t context = {0};
    struct pie_access_sample sample;
    assert_ptr_equal(pie_access_sampler_of(PIE_ACCESS_PMU), &pie_access_sampler_pmu);
    for (enum pie_access_sampler_kind kind = PIE_ACCESS_NONE; kind <= PIE_ACCESS_PMU; kind++) {
        const struct pie_access_sampler_ops *sampler = pie_access_sampler_of(kind);
        assert_string_equal(sampler->name, pie_access_sampler_name(kind));
        assert_int_equal(sampler->is_time_weighted, kind == PIE_ACCESS_TASKCLOCK);
        if (kind == PIE_ACCESS_PMU)
            continue;
        assert_int_equal(sampler->arm(thread, 1000), 0);
        sampler->adapt(thread, 1000);
        assert_false(sampler->is_ours(&info));
        assert_false(sampler->read(thread, &info, &context, &sample));
        sampler->disarm(thread);
    }
}

static void test_forgetting(void **state) {
    pie_access_samplers_forget();
    for (int i = 0; i < PIE_PMU_EVENTS_MAX; i++)
        assert_null(atomic_load(&state_of_thread->rings[i]));
    struct pie_access_sample sample;
    assert_true(read_signal(LOADS, 0x5000, 0, &sample));
    assert_false(sample.is_precise);
}

static volatile struct {
    unsigned signals, samples, loads, stores, precise, hits;
} seen;
static uint64_t array[4096];

static void on_trap(int signal, siginfo_t *info, void *context) {
    struct pie_access_sample sample;
    if (!pie_access_sampler_pmu.is_ours(info))
        return;
    seen.signals++;
    if (!pie_access_sampler_pmu.read(thread, info, context, &sample))
        return;
    seen.samples++;
    seen.loads += sample.kind == PIE_ACCESS_LOAD;
    seen.stores += sample.kind == PIE_ACCESS_STORE;
    seen.precise += sample.is_precise;
    seen.hits += sample.address - (uintptr_t)array < sizeof array;
}

/* An array is summed and written: the samples must say so. */
static void test_this_machine(void **state) {
    const struct pie_pmu_machine *machine;
    const struct pie_pmu_events *events = pie_pmu_events_here(&machine);
    if (!events->count) {
        print_message("# no PMU here: %s\n", strerror(-events->error));
        assert_true(pie_access_sampler_pmu.arm(thread, 1000) < 0);
        return; /* refused, as it must be */
    }
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_RESTART}, before;
    sigaction(SIGTRAP, &action, &before);
    thread->tid = (int32_t)gettid();
    assert_int_equal(pie_access_sampler_pmu.arm(thread, 4000), 0);
    for (int round = 0; round < 20000; round++) {
        for (int i = 0; i < 4096; i++)
            ((volatile uint64_t *)array)[i] += 1;
        if (round % 1000 == 0)
            pie_access_sampler_pmu.adapt(thread, 4000);
    }
    pie_access_sampler_pmu.disarm(thread);
    sigaction(SIGTRAP, &before, NULL);
    print_message("# %u signals, %u samples, %u loads, %u stores, %u precise, %u in the array\n",
                  seen.signals, seen.samples, seen.loads, seen.stores, seen.precise, seen.hits);
    assert_true(seen.samples > 10);
    if (events->loads == PIE_PMU_PRECISE)
        assert_true(seen.precise > seen.samples / 2 && seen.hits > seen.samples / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_precise_samples, set_up),
        cmocka_unit_test_setup(test_whose_signal, set_up),
        cmocka_unit_test_setup(test_unknown_event, set_up),
        cmocka_unit_test_setup(test_address_from_either_side, set_up),
        cmocka_unit_test_setup(test_imprecise_samples, set_up),
        cmocka_unit_test_setup(test_kernel_hits_are_no_samples, set_up),
        cmocka_unit_test_setup(test_tagged_operations, set_up),
        cmocka_unit_test_setup(test_late_signals, set_up),
        cmocka_unit_test_setup(test_several_samples, set_up),
        cmocka_unit_test_setup(test_overrun, set_up),
        cmocka_unit_test_setup(test_other_records, set_up),
        cmocka_unit_test_setup(test_truncated_records, set_up),
        cmocka_unit_test_setup(test_garbage, set_up),
        cmocka_unit_test(test_shortest_periods),
        cmocka_unit_test(test_periods_settle),
        cmocka_unit_test(test_periods_are_bounded),
        cmocka_unit_test_setup(test_idle_samplers, set_up),
        cmocka_unit_test_setup(test_forgetting, set_up),
        cmocka_unit_test(test_this_machine),
    };
    return cmocka_run_group_tests_name("pmu_sampler", tests, set_up_thread, NULL);
}
