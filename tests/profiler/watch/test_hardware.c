/* SPDX-License-Identifier: Apache-2.0 */

/* The three stages on real debug registers and real code under a clock: accesses of a block are found alike, whatever
 * they cost; what happens within one call neither traps nor hides what happens across two. */

#include "tests/profiler/watch/hardware_scene.h"

#include "profiler/base/clocks.h"
#include "profiler/base/counters.h"
#include "profiler/base/home.h"
#include "profiler/base/region.h"
#include "profiler/code/basic_block.h"
#include "profiler/code/decode.h"
#include "profiler/collect/collectors.h"
#include "profiler/stacks/call_path.h"
#include "profiler/stacks/cct.h"
#include "profiler/watch/watch.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Two rounds of 200 us: a signal every 0.4 ms of CPU time. */
enum { PERIOD_NS = 400000 };
static const uint64_t CLOCK_COOKIE = 0x6d6c; /* not of a watch */
static const uint64_t TOO_LONG_NS = UINT64_C(90000000000);

static const struct hardware_way *way;
static struct pie_thread *thread;
static int clock_fd;

/* --- The evaluation loop and what it calls --- */

static uintptr_t loop_marker;

static size_t walk(struct pie_pyframe *frames, size_t max, unsigned *ret_flags) {
    *ret_flags = PIE_PYSTACK_PYTHON_THREAD | PIE_PYSTACK_IN_CALL;
    frames[0] = (struct pie_pyframe){.code = 1, .instr = 5, .marker = loop_marker};
    return loop_marker != 0;
}

static uint32_t intern(uintptr_t code) {
    return (uint32_t)code;
}

static uint32_t instr_offset(uintptr_t code, uintptr_t instr) {
    return (uint32_t)instr;
}

static enum pie_object_kind object_at(uintptr_t address) {
    return PIE_OBJECT_NONE;
}

static bool is_frame_memory(uintptr_t address) {
    return false;
}

static const struct pie_pystack_ops ops = {.walk = walk,
                                           .intern = intern,
                                           .instr_offset = instr_offset,
                                           .object_at = object_at,
                                           .is_frame_memory = is_frame_memory};

/* words: 64 bytes apart each; chain: a pointer to a pointer to a pointer …; returns where the chain has got to. */
typedef void *native_function(char *words, uint64_t n, void *chain);
native_function six_accesses, accumulate, store_twice;
extern char six_0[], six_1[], six_2[], six_3[], six_4[], six_5[];
extern char twice_first[], twice_first_done[], twice_second_done[];

__asm__(".pushsection .text\n"
        ".globl six_accesses, six_0, six_1, six_2, six_3, six_4, six_5\n"
        ".type six_accesses, @function\n"
        "six_accesses:\n"
        "    .cfi_startproc\n"
        "    mov %rdx, %rcx\n"
        "1:\n"
        "six_0:  mov (%rdi), %rax\n"
        "    .rept 30\n    nop\n    .endr\n"
        "six_1:  mov %rax, 64(%rdi)\n"
        "    mov %rax, %rdx\n"
        "    .rept 10\n    imul $3, %rdx, %rdx\n    .endr\n"
        "six_2:  mov 128(%rdi), %r8\n"
        "    mov $1000003, %eax\n"
        "    xor %edx, %edx\n"
        "    mov $7, %r10d\n"
        "    div %r10d\n"
        "six_3:  mov (%rcx), %rcx\n" /* misses every cache */
        "    .rept 4\n    nop\n    .endr\n"
        "six_4:  mov %r8, 192(%rdi)\n"
        "    .rept 8\n    nop\n    .endr\n"
        "six_5:  mov 256(%rdi), %r11\n"
        "    add %r11, %r9\n"
        "    dec %rsi\n"
        "    jnz 1b\n"
        "    mov %rcx, %rax\n"
        "    ret\n"
        "    .cfi_endproc\n"
        "    .size six_accesses, . - six_accesses\n"
        /* *words += 3, n times */
        ".globl accumulate\n"
        ".type accumulate, @function\n"
        "accumulate:\n"
        "    .cfi_startproc\n"
        "1:  mov (%rdi), %rax\n"
        "    add $3, %rax\n"
        "    mov %rax, (%rdi)\n"
        "    dec %rsi\n"
        "    jnz 1b\n"
        "    ret\n"
        "    .cfi_endproc\n"
        "    .size accumulate, . - accumulate\n"
        /* *words = n, a pause, *words = n, a pause */
        ".globl store_twice, twice_first, twice_first_done, twice_second_done\n"
        ".type store_twice, @function\n"
        "store_twice:\n"
        "    .cfi_startproc\n"
        "    mov $1, %rax\n"
        "twice_first:  mov %rsi, (%rdi)\n"
        "twice_first_done:\n"
        "    .rept 1000\n    imul $3, %rax, %rax\n    .endr\n"
        "    mov %rsi, (%rdi)\n"
        "twice_second_done:\n"
        "    .rept 1000\n    imul $3, %rax, %rax\n    .endr\n"
        "    ret\n"
        "    .cfi_endproc\n"
        "    .size store_twice, . - store_twice\n"
        ".popsection\n");

static void *__attribute__((noinline)) evaluate(native_function *function, char *words, uint64_t n,
                                                void *chain) {
    volatile char marker = 0;

    loop_marker = (uintptr_t)&marker;
    chain = function(words, n, chain);
    loop_marker = 0;
    return chain;
}

/* --- Signals --- */

static struct {
    uint64_t hits[6], samples;
} six;

/* Notes which access was reached: then its return is armed. */
static int arm(struct pie_thread *of, unsigned index, enum pie_debug_kind kind, uint64_t address,
               unsigned length, uint64_t cookie) {
    static char *const accesses[] = {six_0, six_1, six_2, six_3, six_4, six_5};
    uint64_t ip = pie_watch_of(of)->slots[index].access.ip;

    bool is_first_return = kind == PIE_DEBUG_EXECUTE && address != ip &&
                           pie_watch_of(of)->slots[index].stage != PIE_WATCH_NEXT_RETURN;
    if (is_first_return)
        for (int i = 0; i < 6; i++)
            six.hits[i] += ip == (uintptr_t)accesses[i];
    return way->ops->arm(of, index, kind, address, length, cookie);
}

static void disarm(struct pie_thread *of, unsigned index) {
    way->ops->disarm(of, index);
}

static void release(struct pie_thread *of) {
    way->ops->release(of);
}

static const struct pie_debug_ops registers = {.arm = arm, .disarm = disarm, .release = release};
static struct pie_watch_settings settings = {.registers = &registers, .ops = &ops, .budget = 50};

static void on_clock(const ucontext_t *context) {
    struct pie_call_path taken;

    thread->cpu_last_ns = pie_thread_cpu_ns();
    pie_call_path_take(&ops, thread, context, false, &taken);
    six.samples++;
    if (taken.is_foreign && taken.node.value)
        pie_watch_sample(thread, context, &taken);
}

static void on_trap(int signal, siginfo_t *info, void *context) {
    int error = errno;

    if (pie_watch_is_ours(info))
        pie_watch_trap(thread, info, context);
    else
        on_clock(context);
    errno = error;
}

static int open_clock(void) {
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_TASK_CLOCK,
                                   .sample_period = PERIOD_NS,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1,
                                   .disabled = 1,
                                   .sigtrap = 1,
                                   .remove_on_exec = 1,
                                   .sig_data = CLOCK_COOKIE};

    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* --- Scaffolding --- */

static char *words; /* on the heap, where loads are of interest */

static int set_up(void **state) {
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_RESTART};
    static bool is_mapped;

    pie_collectors_lay_out_threads();
    if ((is_mapped ? pie_region_reset() : pie_region_init()) < 0 || pie_cct_init() < 0)
        return -1;
    is_mapped = true;
    pie_threads_reset();
    pie_counters_reset();
    pie_home_clear();
    memset(&six, 0, sizeof six);
    thread = pie_thread_begin(true, "main");
    sigaction(SIGTRAP, &action, NULL);
    hardware_keep();
    words = aligned_alloc(64, 4096);
    clock_fd = open_clock();
    if (!thread || !words || clock_fd < 0)
        return -1;
    memset(words, 0, 4096);
    pie_watch_set(&settings);
    return 0;
}

static int tear_down(void **state) {
    close(clock_fd);
    pie_thread_end();
    pie_watch_set(NULL);
    hardware_stop_keeping();
    free(words);
    return 0;
}

static void learn_requests(void) {
    uint64_t ip;

    while (pie_watch_requests_pop(&pie_watch_of(thread)->requests, &ip))
        pie_basic_block_learn(ip);
}

static void run_clock(bool on) {
    ioctl(clock_fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

/* One native call under the clock. */
static void *call(native_function *function, uint64_t n, void *chain) {
    run_clock(true);
    chain = evaluate(function, words, n, chain);
    run_clock(false);
    learn_requests();
    return chain;
}

/* --- Tests --- */

/* A ring through all lines of a large block of memory, in random order. */
static void *make_chain(void **ret_memory) {
    enum { LINES = 1 << 21, LINE_BYTES = 64 };
    char *memory = malloc((size_t)LINES * LINE_BYTES);
    uint32_t *order = malloc(LINES * sizeof *order);

    assert_true(memory && order);
    srandom(1);
    for (uint32_t i = 0; i < LINES; i++) {
        uint32_t at = (uint32_t)random() % (i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    for (uint32_t i = 0; i < LINES; i++)
        *(void **)(memory + (size_t)order[i] * LINE_BYTES) =
            memory + (size_t)order[(i + 1) % LINES] * LINE_BYTES;
    free(order);
    *ret_memory = memory;
    return memory;
}

static void test_accesses_are_found_alike_whatever_they_cost(void **state) {
    enum { HITS = 6000, ITERATIONS = 2000 };
    uint64_t until_ns = pie_monotonic_ns() + TOO_LONG_NS, hits = 0;
    struct pie_watch_record record;
    void *memory, *chain = make_chain(&memory);

    while (hits < HITS && pie_monotonic_ns() < until_ns) {
        chain = call(six_accesses, ITERATIONS, chain);
        while (pie_watch_ring_pop(&pie_watch_of(thread)->ring, &record))
            continue;
        hits = 0;
        for (int i = 0; i < 6; i++)
            hits += six.hits[i];
    }
    free(memory);
    print_message("# %lu samples, %lu hits:", six.samples, hits);
    for (int i = 0; i < 6; i++)
        print_message(" %.1f %%", 100.0 * (double)six.hits[i] / (double)hits);
    print_message("\n");
    assert_true(hits >= HITS);
    for (int i = 0; i < 6; i++) {
        assert_true((double)six.hits[i] >= 0.14 * (double)hits);
        assert_true((double)six.hits[i] <= 0.19 * (double)hits);
    }
}

/* Millions of accesses to the watched word, and one trap for each watch, at the first of the next call; a store is
 * compared when that call is over. */
static void test_accumulator_costs_no_traps_within_its_call(void **state) {
    enum { WATCHES = 100, ITERATIONS = 3000000 };
    uint64_t until_ns = pie_monotonic_ns() + TOO_LONG_NS, ended = 0;
    struct pie_watch_record record;

    while (ended < WATCHES && pie_monotonic_ns() < until_ns) {
        call(accumulate, ITERATIONS, NULL);
        while (pie_watch_ring_pop(&pie_watch_of(thread)->ring, &record)) {
            if (record.record != PIE_WATCH_RECORD_ENDED || !record.rip)
                continue;
            ended++;
            assert_int_equal(record.value_before % (3 * (uint64_t)ITERATIONS),
                             0); /* as a whole call leaves it */
            uint64_t more = record.kind == PIE_WATCH_STORE ? 3 * (uint64_t)ITERATIONS : 0;
            assert_int_equal(record.value_after, record.value_before + more);
        }
    }
    uint64_t traps = pie_counter_get(PIE_COUNTER_WATCH_TRAPS);
    print_message("# %lu watches ended, %u begun, %lu traps\n", ended, pie_watch_of(thread)->serial, traps);
    assert_true(ended >= WATCHES);
    assert_in_range(traps, 2 * ended, 4 * (uint64_t)pie_watch_of(thread)->serial);
}

/* Each call stores its number twice: within a call the same value, across two calls another. */
static void test_pair_within_a_call_does_not_hide_the_one_across_two(void **state) {
    enum { WATCHES = 300 };
    uint64_t until_ns = pie_monotonic_ns() + TOO_LONG_NS, ended = 0, of_first = 0, number = 1;
    struct pie_watch_record record;

    while ((ended < WATCHES || of_first < WATCHES / 4) && pie_monotonic_ns() < until_ns) {
        for (int i = 0; i < 50; i++)
            call(store_twice, number++, NULL);
        while (pie_watch_ring_pop(&pie_watch_of(thread)->ring, &record)) {
            if (record.record != PIE_WATCH_RECORD_ENDED || !record.rip)
                continue;
            ended++;
            of_first += record.access_ip == (uintptr_t)twice_first;
            assert_int_equal(record.outcome, PIE_WATCH_CHANGED);
            assert_int_equal(record.rip, (uintptr_t)twice_first_done);
            assert_int_equal(record.value_after, record.value_before + 1);
        }
    }
    print_message("# %lu pairs, %lu of them begun by the first store\n", ended, of_first);
    assert_true(ended >= WATCHES && of_first >= WATCHES / 4);
}

/* Several watches of one long call: its return is one trap, and all of them go on. */
static void test_one_return_is_everybodys(void **state) {
    enum { CALLS = 300, ITERATIONS = 3000000 };
    struct pie_watch_record record;
    unsigned together = 0, reached;

    for (int i = 0; i < CALLS && together < 20; i++) {
        call(accumulate, ITERATIONS, NULL);
        uint64_t first_ns = 0;
        for (reached = 0; pie_watch_ring_pop(&pie_watch_of(thread)->ring, &record);) {
            if (record.record != PIE_WATCH_RECORD_REACHED)
                continue;
            first_ns = first_ns ? first_ns : record.time_ns;
            reached += record.time_ns - first_ns < 200000;
        }
        together += reached > 1;
    }
    print_message("# %u calls led to more than one watch\n", together);
    assert_true(together >= 20);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_accesses_are_found_alike_whatever_they_cost, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_accumulator_costs_no_traps_within_its_call, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pair_within_a_call_does_not_hide_the_one_across_two, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_one_return_is_everybodys, set_up, tear_down),
    };

    way = &hardware_ways[argc > 1 && strcmp(argv[1], "hidden") == 0];
    if (!pie_decode_is_available()) {
        printf("1..0 # SKIP this build has no decoder\n");
        return 0;
    }
    return hardware_is_there(way) ? cmocka_run_group_tests_name(way->name, tests, NULL, NULL) : 0;
}
