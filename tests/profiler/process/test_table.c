/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/base/clocks.h"
#include "profiler/process/ends.h"
#include "profiler/process/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static size_t count(void) {
    size_t index = 0, n = 0;

    while (pie_process_next(&index))
        n++;
    return n;
}

static struct pie_process_entry *claim(int32_t pid) {
    struct pie_process_entry *entry = pie_process_claim(1);

    assert_non_null(entry);
    if (pid)
        pie_process_forked(entry, pid);
    return entry;
}

static void test_an_entry_lasts_until_parent_and_child_are_done_with_it(void **state) {
    for (int parent_first = 0; parent_first < 2; parent_first++) {
        struct pie_process_entry *entry = claim(parent_first ? 7000001 : 0);
        pie_process_enter(entry);
        assert_ptr_equal(pie_process_own(), entry);
        assert_int_equal(entry->own_pid, getpid());
        assert_int_equal(entry->pid, parent_first ? 7000001 : getpid());
        assert_int_equal(count(), 1);
        pie_process_done();
        assert_null(pie_process_own());
        assert_int_equal(count(), parent_first ? 0 : 1);
        if (!parent_first)
            pie_process_forked(entry, 7000001);
        assert_int_equal(count(), 0);
    }
    pie_process_done(); /* has no effect */
    pie_process_has_row();
    pie_process_lost(-5);
}

static void test_a_status_is_noted_once(void **state) {
    struct pie_process_entry *entry = claim(7000002);

    pie_process_ended(7000003, 9);
    assert_int_equal(entry->ended_ns, 0);
    pie_process_ended(7000002, 9);
    assert_in_range(pie_realtime_ns() - entry->ended_ns, 0, 1000000000);
    pie_process_ended(7000002, 15);
    assert_int_equal(entry->wait_status, 9);
    assert_true(pie_process_take(entry));
    assert_false(pie_process_take(entry));
    assert_int_equal(count(), 0);
    pie_process_release(entry);
}

static void test_what_is_executed_is_kept_as_far_as_there_is_room(void **state) {
    char word[PIE_PROCESS_ARGV_BYTES];
    struct pie_process_entry *entry = claim(0);
    memset(word, 'x', sizeof word - 1);

    for (size_t length = 0; length < sizeof word; length++) {
        word[length] = '\0';
        pie_process_executes(entry, 7000004, (char *[]){"python", "", word, "last", NULL});
        assert_int_equal(entry->flags & PIE_PROCESS_EXECED, PIE_PROCESS_EXECED);
        assert_string_equal(entry->argv, "");
        const char *second = entry->argv + 1, *end = second + strlen(second);
        if (entry->argv_words == 3)
            assert_true(strcmp(end + 1, "last") == 0 || strcmp(end + 1, "…") == 0);
        else
            assert_string_equal(second, "…");
        assert_true(entry->argv_words == 3 ? strcmp(second, word) == 0 : entry->argv_words == 2);
        assert_true(end < entry->argv + sizeof entry->argv);
        word[length] = 'x';
    }
    pie_process_executes(entry, 7000004, (char *[]){NULL});
    assert_int_equal(entry->argv_words, 0);
    pie_process_release(entry);
}

static void test_a_full_table_says_so(void **state) {
    static struct pie_process_entry *entries[PIE_PROCESS_TABLE_MAX];

    for (size_t i = 0; i < PIE_PROCESS_TABLE_MAX; i++)
        entries[i] = claim(7100000 + (int32_t)i);
    assert_null(pie_process_claim(1));
    assert_int_equal(count(), PIE_PROCESS_TABLE_MAX);
    pie_process_forked(NULL, 1);
    pie_process_executes(NULL, 1, NULL);
    for (size_t i = 0; i < PIE_PROCESS_TABLE_MAX; i++)
        pie_process_release(entries[i]);
    assert_int_equal(count(), 0);
}

static void *come_and_go(void *argument) {
    int32_t pid = (int32_t)(intptr_t)argument;

    for (int i = 0; i < 20000; i++) {
        struct pie_process_entry *entry = claim(pid);
        pie_process_ended(pid, i << 8);
        assert_int_equal(entry->wait_status, i << 8);
        assert_true(pie_process_take(entry));
        pie_process_release(entry);
    }
    return NULL;
}

static void test_threads_never_share_an_entry(void **state) {
    pthread_t threads[4];

    for (intptr_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, (void *)(7200000 + i)), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(count(), 0);
}

static void test_who_is_gone(void **state) {
    int64_t now_ns = pie_realtime_ns();
    pid_t child = fork();

    if (child == 0)
        for (;;)
            pause();
    assert_false(pie_process_is_gone(child, now_ns));
    assert_true(pie_process_is_gone(child, now_ns - 60000000000)); /* that one had the pid before */
    kill(child, SIGKILL);
    siginfo_t info;
    waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
    assert_true(pie_process_is_gone(child, now_ns)); /* nobody has waited for it */
    waitpid(child, NULL, 0);
    assert_true(pie_process_is_gone(child, now_ns));
    assert_false(pie_process_is_gone(getpid(), now_ns));
    assert_false(pie_process_is_gone(0, now_ns));
}

static int status_of(pid_t child) {
    int status = -1;

    waitpid(child, &status, 0);
    return status;
}

/* Nothing is there, and nothing that is asked for needs it. */
static int do_without(void) {
    size_t index = 0;
    bool ok = !pie_process_claim(1) && !pie_process_own() && !pie_process_next(&index);

    pie_process_ended(7000009, 9);
    pie_process_has_row();
    pie_process_lost(-5);
    pie_process_done();
    return ok ? 0 : 1;
}

static void test_a_child_that_nobody_announced_has_no_table(void **state) {
    struct pie_process_entry *entry = claim(0);
    pie_process_enter(entry);
    pid_t child = fork();

    if (child == 0)
        _exit(do_without());
    assert_int_equal(status_of(child), 0);
    assert_int_equal(count(), 1);
    pie_process_forked(entry, 7000010);
    pie_process_done();
}

static void test_a_child_that_was_announced_shares_it(void **state) {
    struct pie_process_entry *entry = claim(0);

    pie_process_table_lend();
    pid_t child = fork();
    if (child == 0) {
        pie_process_table_inherited();
        pie_process_enter(entry);
        pie_process_lost(-5);
        /* and its own are left out again */
        pid_t grandchild = fork();
        if (grandchild == 0)
            _exit(do_without());
        _exit(pie_process_own() == entry && status_of(grandchild) == 0 ? 0 : 1);
    }
    pie_process_table_keep();
    assert_int_equal(status_of(child), 0);
    assert_int_equal(entry->own_pid, child);
    assert_int_equal(entry->write_error, -5);
    pie_process_release(entry);
    child = fork();
    if (child == 0)
        _exit(do_without());
    assert_int_equal(status_of(child), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_entry_lasts_until_parent_and_child_are_done_with_it),
        cmocka_unit_test(test_a_status_is_noted_once),
        cmocka_unit_test(test_what_is_executed_is_kept_as_far_as_there_is_room),
        cmocka_unit_test(test_a_full_table_says_so),
        cmocka_unit_test(test_threads_never_share_an_entry),
        cmocka_unit_test(test_who_is_gone),
        cmocka_unit_test(test_a_child_that_nobody_announced_has_no_table),
        cmocka_unit_test(test_a_child_that_was_announced_shares_it),
    };

    assert_null(pie_process_claim(1)); /* no table yet */
    pie_process_table_init();
    pie_process_table_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
