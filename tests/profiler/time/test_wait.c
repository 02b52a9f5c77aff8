/* SPDX-License-Identifier: Apache-2.0 */
/* Where a thread's waiting goes, on a made-up thread: its clocks, the kernel's files, its frames and the sums are fakes
 * of this file. */
#include "profiler/time/wait.h"

#include "profiler/base/clocks.h"
#include "profiler/machine/throttle.h"
#include "profiler/ports/pystack.h"
#include "profiler/stacks/cct.h"
#include "profiler/thread/thread.h"
#include "profiler/time/aggregate.h"
#include "profiler/time/pools.h"
#include "profiler/time/wait_awaits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MS = 1000000, ROOT = 1, BEFORE, AFTER, PLACES };

/* The thread and its machine as they are now. */
static struct {
    uint64_t now_ns, cpu_ns, delay_ns, slices;
    uint64_t runs_ns; /* by which its CPU clock moves with each reading */
    char state;
    uint32_t place;
} world;

static int64_t waited_ns[PLACES], delayed_ns[PLACES]; /* booked by place */

int clock_gettime(clockid_t clock, struct timespec *ret_time) {
    (void)clock;
    *ret_time = (struct timespec){.tv_sec = (time_t)(world.now_ns / 1000000000),
                                  .tv_nsec = (long)(world.now_ns % 1000000000)};
    return 0;
}

uint64_t pie_thread_cpu_of(int32_t tid) {
    (void)tid;
    return world.cpu_ns += world.runs_ns;
}

enum pie_thread_state pie_thread_state(const struct pie_thread *thread) {
    (void)thread;
    return PIE_THREAD_RUNNING;
}

char pie_wait_files_state(struct pie_wait_files *files, int32_t tid) {
    (void)files, (void)tid;
    return world.state;
}

bool pie_wait_files_delay(struct pie_wait_files *files, int32_t tid, uint64_t *ret_ns, uint64_t *ret_slices) {
    (void)files, (void)tid;
    *ret_ns = world.delay_ns;
    *ret_slices = world.slices;
    return true;
}

void pie_wait_files_close(struct pie_wait_files *files) {
    (void)files;
}

uint64_t pie_throttle_share(struct pie_throttle *throttle, uint64_t now_ns, uint64_t delay_ns,
                            uint64_t *seen_ns) {
    (void)throttle, (void)now_ns, (void)delay_ns, (void)seen_ns;
    return 0;
}

struct pie_cct_id pie_cct_root(void) {
    return (struct pie_cct_id){ROOT};
}

struct pie_cct_id pie_cct_child(struct pie_cct_id parent, uint64_t key) {
    (void)parent;
    return (struct pie_cct_id){(uint32_t)key};
}

uint64_t pie_cct_python_key(uint32_t code_id, uint32_t instr_offset) {
    (void)instr_offset;
    return code_id;
}

void pie_wait_reason_find(const struct pie_thread *thread, uintptr_t tstate,
                          const struct pie_pystack_ops *ops, struct pie_wait_reason *ret_reason,
                          struct pie_wait_holder *ret_holder) {
    (void)thread, (void)tstate, (void)ops;
    *ret_reason = (struct pie_wait_reason){0};
    *ret_holder = (struct pie_wait_holder){0};
}

uint32_t pie_wait_awaits_find(const struct pie_pystack_ops *ops, uintptr_t tstate, enum pie_wait_cause cause,
                              const uint64_t *keys, size_t n, struct pie_wait_await *ret_awaits) {
    (void)ops, (void)tstate, (void)cause, (void)keys, (void)n, (void)ret_awaits;
    return 0;
}

int pie_aggregate_add_wait(struct pie_aggregate *aggregate, uint32_t thread, struct pie_cct_id node,
                           const struct pie_wait_reason *reason, int64_t wait_ns) {
    (void)aggregate, (void)thread, (void)reason;
    waited_ns[node.value] += wait_ns;
    return 0;
}

int pie_aggregate_add_delay(struct pie_aggregate *aggregate, uint32_t thread, struct pie_cct_id node,
                            uint64_t runnable_ns, uint64_t throttled_ns) {
    (void)aggregate, (void)thread;
    delayed_ns[node.value] += (int64_t)(runnable_ns + throttled_ns);
    return 0;
}

void pie_pools_wait(const struct pie_thread *thread, struct pie_cct_id node, uint64_t wait_ns) {
    (void)thread, (void)node, (void)wait_ns;
}

static size_t walk_thread(uintptr_t tstate, struct pie_pyframe *frames, size_t max, unsigned *ret_flags) {
    (void)tstate, (void)max;
    *ret_flags = PIE_PYSTACK_PYTHON_THREAD;
    frames[0] = (struct pie_pyframe){.code = world.place};
    return 1;
}

static uint32_t intern_by_content(uintptr_t code, uintptr_t tstate) {
    return (uint32_t)code;
}

static uint32_t instr_offset(uintptr_t code, uintptr_t instr) {
    (void)code, (void)instr;
    return 0;
}

static const struct pie_pystack_ops ops = {
    .walk_thread = walk_thread, .intern_by_content = intern_by_content, .instr_offset = instr_offset};

static struct pie_thread thread = {.id = 1, .tid = 1, .tstate = 1};
static struct pie_wait wait;

static struct pie_cct_id no_peer(struct pie_wait_holder *holder) {
    (void)holder;
    return (struct pie_cct_id){0};
}

/* A thread that is asleep, as it has been seen once. */
static int begin(void **test) {
    (void)test;
    world.now_ns = UINT64_C(1000) * MS;
    world.cpu_ns = MS;
    world.slices = 1;
    world.delay_ns = world.runs_ns = 0;
    world.state = 'S';
    world.place = BEFORE;
    wait = (struct pie_wait){0};
    thread.started_ns = world.now_ns - MS;
    pie_wait_meet(&wait, &thread);
    memset(waited_ns, 0, sizeof waited_ns);
    memset(delayed_ns, 0, sizeof delayed_ns);
    return 0;
}

static void look(uint64_t after_ms) {
    world.now_ns += after_ms * MS;
    pie_wait_meet(&wait, &thread);
    pie_wait_tick(&wait, &thread, &ops, no_peer, NULL, NULL);
}

static void end(uint64_t after_ms) {
    world.now_ns += after_ms * MS;
    thread.ended_ns = world.now_ns;
    thread.ended_cpu_ns = world.cpu_ns;
    pie_wait_end(&wait, &thread, NULL, NULL);
}

/* It has run for a millisecond since the last look, and was given a processor that often. */
static void ran(uint64_t slices) {
    world.cpu_ns += MS;
    world.slices += slices;
}

static void test_a_wait_that_goes_on_has_all_of_its_time(void **test) {
    (void)test;
    look(20);
    look(300);
    end(50);
    assert_int_equal(waited_ns[BEFORE], 370 * MS);
}

/* However often it ran between two looks, nobody knows when the first wait ended and the second began. */
static void test_the_time_between_two_looks_is_shared(void **test) {
    for (uint64_t slices = 1; slices <= 5; slices += 2) {
        begin(test);
        look(20);
        ran(slices);
        world.place = AFTER;
        look(301);
        end(50);
        assert_int_equal(waited_ns[BEFORE], (20 + 150) * MS);
        assert_int_equal(waited_ns[AFTER], (150 + 50) * MS);
    }
}

/* It still has the processor that it was given once: it has waited nowhere else. */
static void test_a_wait_before_a_run_has_all_of_its_time(void **test) {
    (void)test;
    look(20);
    ran(1);
    world.runs_ns = 1;
    look(301);
    world.runs_ns = 0;
    assert_int_equal(waited_ns[BEFORE] / MS, 320 - 1);
}

static void test_the_other_half_waits_for_the_next_place(void **test) {
    (void)test;
    look(20);
    ran(4);
    world.state = 'R';
    world.runs_ns = 1;
    look(301);
    assert_int_equal(waited_ns[BEFORE] / MS, 20 + 150 - 1);
    assert_int_equal(waited_ns[AFTER], 0);
    world.runs_ns = 0;
    world.state = 'S';
    world.place = AFTER;
    ran(1);
    look(101);
    assert_int_equal((waited_ns[AFTER] + MS / 2) / MS, 150 + 100);
}

/* Over all moments at which the first of two equal waits may have ended, both have the same time. */
static void test_two_equal_waits_are_equal(void **test) {
    int64_t before_ns = 0, after_ns = 0;

    for (uint64_t first_ms = 10; first_ms < 300; first_ms += 10) { /* the first look, after the first began */
        begin(test);
        look(first_ms);
        uint64_t at_ms = first_ms;
        for (; at_ms + 300 < 1000; at_ms += 300)
            look(300);
        ran(3);
        world.place = AFTER;
        look(300);
        end(2000 - at_ms - 300);
        before_ns += waited_ns[BEFORE];
        after_ns += waited_ns[AFTER];
    }
    assert_true(before_ns > after_ns - after_ns / 50 && before_ns < after_ns + after_ns / 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_wait_that_goes_on_has_all_of_its_time, begin),
        cmocka_unit_test(test_the_time_between_two_looks_is_shared),
        cmocka_unit_test_setup(test_a_wait_before_a_run_has_all_of_its_time, begin),
        cmocka_unit_test_setup(test_the_other_half_waits_for_the_next_place, begin),
        cmocka_unit_test(test_two_equal_waits_are_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
