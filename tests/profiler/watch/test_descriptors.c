/* SPDX-License-Identifier: Apache-2.0 */

/* Real debug registers and the descriptors behind them: they follow orders, the program is not disturbed by
 * them, and they go when they should: with their thread, in a forked child, when the program closes them. */

#include "tests/profiler/watch/hardware_scene.h"

#include "profiler/base/region.h"
#include "profiler/collect/collectors.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct hardware_way *way;
static struct pie_thread *thread;

static _Alignas(64) volatile uint64_t words[8];

static int set_up(void **state) {
    static bool is_mapped;

    pie_collectors_lay_out_threads();
    if ((is_mapped ? pie_region_reset() : pie_region_init()) < 0)
        return -1;
    is_mapped = true;
    pie_threads_reset();
    thread = pie_thread_begin(true, "main");
    hardware_take_traps();
    hardware_keep();
    return thread ? 0 : -1;
}

static int tear_down(void **state) {
    pie_thread_self() ? way->ops->release(thread) : (void)0;
    pie_thread_self() ? pie_thread_end() : (void)0;
    hardware_stop_keeping();
    return 0;
}

static void __attribute__((noinline)) function(void) {
    __asm__ volatile("" ::: "memory");
}

static void arm(unsigned index, enum pie_debug_kind kind, const volatile void *address, unsigned length,
                uint8_t cookie) {
    assert_int_equal(hardware_arm(way, thread, index, kind, address, length, cookie), 0);
}

static const void *address_of(void (*code)(void)) {
    return (const void *)(uintptr_t)code;
}

/* --- What registers do --- */

static void test_each_kind_traps_on_what_it_is_for(void **state) {
    arm(0, PIE_DEBUG_EXECUTE, address_of(function), 1, 10);
    arm(1, PIE_DEBUG_STORE, &words[1], 8, 11);
    arm(2, PIE_DEBUG_LOAD_STORE, &words[2], 8, 12);
    function();
    assert_int_equal(hardware_traps(10), 1);
    (void)words[1];
    assert_int_equal(hardware_traps(11), 0);
    words[1] = 5;
    words[1] = 5; /* the same value is a store all the same */
    assert_int_equal(hardware_traps(11), 2);
    (void)words[2];
    words[2] = 1;
    assert_int_equal(hardware_traps(12), 2);
}

static void test_words_of_all_lengths(void **state) {
    volatile char *bytes = (volatile char *)words;

    for (unsigned length = 1; length <= 8; length *= 2) {
        arm(0, PIE_DEBUG_STORE, bytes + 16, length, 20);
        for (unsigned i = 8; i < 40; i++)
            bytes[i] = 1;
        assert_int_equal(hardware_traps(20), length);
    }
}

/* A register is moved without a trap from the old place, and disarmed without one from any. */
static void test_register_moves_and_is_silenced(void **state) {
    arm(3, PIE_DEBUG_STORE, &words[0], 8, 30);
    for (int i = 1; i < 8; i++) {
        arm(3, PIE_DEBUG_STORE, &words[i], 8, (uint8_t)(30 + i));
        words[i - 1] = 1;
        assert_int_equal(hardware_traps((uint8_t)(30 + i - 1)), 0);
        words[i] = 1;
        assert_int_equal(hardware_traps((uint8_t)(30 + i)), 1);
    }
    way->ops->disarm(thread, 3);
    words[7] = 2;
    assert_int_equal(hardware_traps(37), 0);
    way->ops->disarm(thread, 3); /* twice does no harm */
    way->ops->disarm(thread, 2); /* nor does what was never armed */
    arm(3, PIE_DEBUG_EXECUTE, address_of(function), 1, 38);
    function();
    assert_int_equal(hardware_traps(38), 1);
}

static void test_address_that_cannot_be_watched_is_refused(void **state) {
    arm(0, PIE_DEBUG_STORE, &words[0], 8, 40);
    assert_true(hardware_arm(way, thread, 0, PIE_DEBUG_STORE, (void *)UINT64_C(0xffff888000000000), 8, 41) <
                0);
    assert_true(hardware_arm(way, thread, 0, PIE_DEBUG_STORE, (volatile char *)words + 1, 8, 42) < 0);
    arm(0, PIE_DEBUG_STORE, &words[1], 8, 43); /* and is none the worse for it */
    words[1] = 3;
    assert_int_equal(hardware_traps(43), 1);
}

/* --- Descriptors --- */

static int lowest_free(void) {
    int fd = dup(0);

    close(fd);
    return fd;
}

static void arm_all(void) {
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++)
        arm(i, PIE_DEBUG_STORE, &words[i], 8, (uint8_t)(50 + i));
}

static void expect_all_trap(void) {
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++) {
        words[i]++;
        assert_int_equal(hardware_traps((uint8_t)(50 + i)), 1);
    }
}

static void test_descriptors_are_out_of_the_programs_way(void **state) {
    int lowest, free_before = lowest_free();
    struct rlimit limit;

    arm_all();
    assert_int_equal(lowest_free(), free_before);
    int events = hardware_descriptors(&lowest);
    if (way->is_hidden) {
        assert_int_equal(events, 0);
        assert_int_equal(hardware_kept(), PIE_DEBUG_REGISTERS);
        return;
    }
    assert_int_equal(events, PIE_DEBUG_REGISTERS);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    rlim_t top = limit.rlim_cur < 4096 ? limit.rlim_cur : 4096;
    assert_true((rlim_t)lowest >= top - top / 8);
    for (int fd = lowest; fd < lowest + PIE_DEBUG_REGISTERS; fd++)
        assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
}

static void test_descriptors_go_with_their_thread(void **state) {
    arm_all();
    if (!way->is_hidden)
        way->ops->release(thread); /* the collection thread closes the hidden ones of an ended thread */
    pie_thread_end();
    assert_int_equal(hardware_descriptors(NULL), 0);
    assert_int_equal(hardware_kept(), 0);
    words[0]++;
    assert_int_equal(hardware_traps(50), 0);
}

/* What the child finds wrong, as bits of its status. */
static int look_around_in_child(void) {
    int wrong = 0;

    if (!way->is_hidden)
        pie_debug_own_table_forget();
    wrong |= hardware_descriptors(NULL) != 0;
    words[0]++;
    wrong |= (hardware_traps(50) != 0) << 1;
    return wrong;
}

static void test_forked_child_has_none_and_the_parents_stay_armed(void **state) {
    int status;

    arm_all();
    pid_t child = fork();
    if (child == 0)
        _exit(look_around_in_child());
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    expect_all_trap();
}

static void test_program_closes_everything(void **state) {
    arm_all();
    assert_int_equal(syscall(SYS_close_range, 3u, ~0u, 0u), 0);
    arm_all();
    expect_all_trap();
}

/* The program closes ours and its own files get the numbers. */
static void test_numbers_that_the_program_uses_again_are_left_alone(void **state) {
    int lowest, pipes[2];

    arm_all();
    hardware_descriptors(&lowest);
    assert_int_equal(pipe(pipes), 0);
    for (int fd = lowest; fd < lowest + PIE_DEBUG_REGISTERS; fd++)
        assert_int_equal(dup2(pipes[1], fd), fd);
    way->ops->disarm(thread, 0);
    arm_all();
    expect_all_trap();
    way->ops->release(thread);
    for (int fd = lowest; fd < lowest + PIE_DEBUG_REGISTERS; fd++) {
        char byte = 0;
        assert_int_equal(write(fd, "x", 1), 1);
        assert_int_equal(read(pipes[0], &byte, 1), 1);
        close(fd);
    }
    close(pipes[0]);
    close(pipes[1]);
}

static void test_few_descriptors_are_allowed(void **state) {
    struct rlimit before, few;
    int armed = 0;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = (struct rlimit){.rlim_cur = 24, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++) {
        int r = hardware_arm(way, thread, i, PIE_DEBUG_STORE, &words[i], 8, 60);
        assert_true(r == 0 || r == -EMFILE || r == -EAGAIN);
        armed += r == 0;
    }
    assert_true(lowest_free() < 16); /* most are left to the program */
    setrlimit(RLIMIT_NOFILE, &before);
    for (int i = 0; i < PIE_DEBUG_REGISTERS; i++)
        words[i]++;
    assert_int_equal(hardware_traps(60), armed);
    assert_true(armed < PIE_DEBUG_REGISTERS || way->is_hidden);
}

/* --- Threads --- */

enum { THREADS = 200, AT_ONCE = 8 };

static _Atomic int armed_threads;

static void *come_and_go(void *argument) {
    volatile uint64_t word[2] = {0};
    struct pie_thread *self = pie_thread_begin(false, "");

    if (!self)
        return NULL;
    if (hardware_arm(way, self, 0, PIE_DEBUG_STORE, &word[0], 8, 70) == 0 &&
        hardware_arm(way, self, 1, PIE_DEBUG_STORE, &word[1], 8, 71) == 0) {
        word[0] = word[1] = 1;
        armed_threads++;
    }
    way->ops->release(self);
    pie_thread_end();
    word[0] = 2;
    return NULL;
}

static void test_threads_that_come_and_go(void **state) {
    pthread_t threads[THREADS];

    armed_threads = 0;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, NULL), 0);
        if (i >= AT_ONCE)
            pthread_join(threads[i - AT_ONCE], NULL);
    }
    for (int i = THREADS - AT_ONCE; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(armed_threads, THREADS);
    /* hidden ones are there until the collection thread has closed them, while the thread's end uses its stack; so does
     * the way to the closing of the others */
    unsigned most = way->is_hidden ? UINT32_MAX : THREADS + THREADS / 10;
    assert_in_range(hardware_traps(70), THREADS, most);
    assert_in_range(hardware_traps(71), THREADS, most);
    assert_int_equal(hardware_descriptors(NULL), 0);
    assert_int_equal(hardware_kept(), 0);
    arm_all(); /* the books are right: there is still room */
    expect_all_trap();
}

static _Atomic bool stops;

/* Descriptors come and go all the time. */
static void *move_registers(void *argument) {
    struct pie_thread *self = pie_thread_begin(false, "");
    uint64_t moves = 0;

    if (!self || hardware_arm(way, self, 0, PIE_DEBUG_STORE, &words[7], 8, 90) != 0)
        return NULL;
    for (; !stops; moves++) {
        way->ops->arm(self, 0, PIE_DEBUG_STORE, (uintptr_t)&words[moves % 8], 8, 90);
        way->ops->disarm(self, 0);
        if (!way->is_hidden)
            way->ops->release(self);
    }
    way->ops->release(self);
    pie_thread_end();
    return moves ? &stops : NULL;
}

static int foreign_descriptors(void) {
    char link[64], path[64];
    int n = 0;

    for (int fd = 0; fd < 4096; fd++) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t length = readlink(link, path, sizeof path - 1);
        path[length > 0 ? length : 0] = '\0';
        n += strncmp(path, "anon_inode:", 11) == 0 || strncmp(path, "pidfd:", 6) == 0;
    }
    return n;
}

static void test_child_forked_meanwhile_gets_no_descriptor(void **state) {
    enum { FORKS = 100 };
    pthread_t mover;
    void *moved;
    int leaks = 0, status;

    stops = false;
    assert_int_equal(pthread_create(&mover, NULL, move_registers, NULL), 0);
    for (int i = 0; i < FORKS; i++) {
        pie_debug_before_fork();
        pid_t child = fork();
        if (child == 0) {
            pie_debug_fork_child();
            pie_debug_own_table_forget();
            _exit(foreign_descriptors());
        }
        pie_debug_after_fork();
        assert_int_equal(waitpid(child, &status, 0), child);
        leaks += status != 0;
    }
    stops = true;
    pthread_join(mover, &moved);
    assert_non_null(moved);
    assert_int_equal(leaks, 0);
}

/* While the process forks nothing is moved; what was to be disarmed is so afterwards. */
static void test_what_a_fork_forbids_is_done_later(void **state) {
    arm(0, PIE_DEBUG_STORE, &words[0], 8, 95);
    pie_debug_before_fork();
    assert_int_equal(way->ops->arm(thread, 1, PIE_DEBUG_STORE, (uintptr_t)&words[1], 8, 96), -EAGAIN);
    way->ops->disarm(thread, 0);
    words[0]++;
    assert_int_equal(hardware_traps(95), 1);
    way->ops->catch_up(thread); /* the fork is not over */
    words[0]++;
    assert_int_equal(hardware_traps(95), 1);
    pie_debug_after_fork();
    way->ops->catch_up(thread);
    words[0]++;
    assert_int_equal(hardware_traps(95), 0);
}

/* The collection thread ends first (the profile is over, the program runs on). */
static void test_nothing_bad_happens_without_a_keeper(void **state) {
    arm_all();
    hardware_stop_keeping();
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++) {
        assert_true(way->ops->arm(thread, i, PIE_DEBUG_STORE, (uintptr_t)&words[i], 8, 80) < 0);
        way->ops->disarm(thread, i);
    }
    assert_int_equal(hardware_descriptors(NULL), 0);
    hardware_keep();
}

#define ON(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

static const struct CMUnitTest own_table_tests[] = {
    ON(test_each_kind_traps_on_what_it_is_for),
    ON(test_words_of_all_lengths),
    ON(test_register_moves_and_is_silenced),
    ON(test_address_that_cannot_be_watched_is_refused),
    ON(test_descriptors_are_out_of_the_programs_way),
    ON(test_descriptors_go_with_their_thread),
    ON(test_forked_child_has_none_and_the_parents_stay_armed),
    ON(test_program_closes_everything),
    ON(test_few_descriptors_are_allowed),
    ON(test_threads_that_come_and_go),
    ON(test_numbers_that_the_program_uses_again_are_left_alone),
    ON(test_child_forked_meanwhile_gets_no_descriptor),
};

static const struct CMUnitTest hidden_tests[] = {
    ON(test_child_forked_meanwhile_gets_no_descriptor),
    ON(test_what_a_fork_forbids_is_done_later),
    ON(test_each_kind_traps_on_what_it_is_for),
    ON(test_words_of_all_lengths),
    ON(test_register_moves_and_is_silenced),
    ON(test_address_that_cannot_be_watched_is_refused),
    ON(test_descriptors_are_out_of_the_programs_way),
    ON(test_descriptors_go_with_their_thread),
    ON(test_forked_child_has_none_and_the_parents_stay_armed),
    ON(test_program_closes_everything),
    ON(test_few_descriptors_are_allowed),
    ON(test_threads_that_come_and_go),
    ON(test_nothing_bad_happens_without_a_keeper),
};

int main(int argc, char **argv) {
    way = &hardware_ways[argc > 1 && strcmp(argv[1], "hidden") == 0];
    if (!hardware_is_there(way))
        return 0;
    if (way->is_hidden)
        return cmocka_run_group_tests_name("hidden", hidden_tests, NULL, NULL);
    return cmocka_run_group_tests_name("own table", own_table_tests, NULL, NULL);
}
