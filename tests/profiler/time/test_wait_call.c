/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread waits for, by the text of its system call: the text is made up, descriptors and memory are this
 * process's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "profiler/base/proc_file.h"
#include "profiler/time/wait_call.h"
#include "tests/safe_load_faults.h"

static struct pie_wait_target target_of(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    struct pie_wait_call call;
    struct pie_wait_target target;
    char text[256];

    let_safe_loads_fault();
    snprintf(text, sizeof text, "%ld 0x%jx 0x%jx 0x%jx 0x%jx 0x0 0x7fff 0x7ffe12345678 0x7f0012345678\n",
             number, (uintmax_t)a, (uintmax_t)b, (uintmax_t)c, (uintmax_t)d);
    assert_int_equal(pie_wait_call_parse(text, &call), 0);
    assert_false(call.is_fault);
    assert_int_equal(call.arguments[5], 0x7fff);
    pie_wait_call_target(&call, gettid(), &target);
    return target;
}

static void check(struct pie_wait_target target, enum pie_wait_cause cause, const char *resource) {
    assert_int_equal(target.cause, cause);
    assert_string_equal(target.resource, resource);
}

static void test_texts_that_are_no_call(void **state) {
    static const char *const bad[] = {"",
                                      "\n",
                                      "x",
                                      "12",
                                      "12\n",
                                      "12 ",
                                      "12 0x1 0x2 0x3 0x4 0x5\n",
                                      "12 0x1 0x2",
                                      "99999999999999999999 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8\n",
                                      "12 zz 0x2 0x3 0x4 0x5 0x6 0x7 0x8\n"};
    struct pie_wait_call call;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(pie_wait_call_parse(bad[i], &call), -EINVAL);
    assert_int_equal(pie_wait_call_parse("running\n", &call), -EAGAIN);
}

static void test_a_thread_outside_of_calls_reads_a_page(void **state) {
    struct pie_wait_call call;
    struct pie_wait_target target;

    assert_int_equal(pie_wait_call_parse("-1 0x7ffe12345678 0x7f0012345678\n", &call), 0);
    assert_true(call.is_fault);
    pie_wait_call_target(&call, gettid(), &target);
    check(target, PIE_WAIT_DISK, "");
}

static void test_calls_that_tell_by_themselves(void **state) {
    check(target_of(SYS_nanosleep, 1, 2, 3, 4), PIE_WAIT_SLEEP, "");
    check(target_of(SYS_clock_nanosleep, 1, 2, 3, 4), PIE_WAIT_SLEEP, "");
    check(target_of(SYS_wait4, 1, 2, 3, 4), PIE_WAIT_CHILD, "");
    check(target_of(SYS_pause, 0, 0, 0, 0), PIE_WAIT_SIGNAL, "");
    check(target_of(SYS_epoll_wait, 5, 0, 0, 0), PIE_WAIT_POLL, "");
    check(target_of(SYS_sync, 0, 0, 0, 0), PIE_WAIT_DISK, "");
    check(target_of(SYS_restart_syscall, 0, 0, 0, 0), PIE_WAIT_UNKNOWN, "");
    check(target_of(SYS_io_uring_enter, 5, 0, 0, 0), PIE_WAIT_OTHER, "system call 426");
}

static void test_descriptors_by_kind(void **state) {
    int pipes[2], pair[2], master = posix_openpt(O_RDWR | O_NOCTTY);
    int event = eventfd(0, 0), timer = timerfd_create(CLOCK_MONOTONIC, 0), epoll = epoll_create1(0);
    char path[] = "/tmp/wait_call_XXXXXX";
    int file = mkstemp(path);

    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_true(file >= 0 && event >= 0 && timer >= 0 && epoll >= 0);
    check(target_of(SYS_read, (uint64_t)pipes[0], 0, 0, 0), PIE_WAIT_PIPE, "");
    check(target_of(SYS_write, (uint64_t)pipes[1], 0, 0, 0), PIE_WAIT_PIPE, "");
    check(target_of(SYS_recvfrom, (uint64_t)pair[0], 0, 0, 0), PIE_WAIT_SOCKET, "");
    check(target_of(SYS_read, (uint64_t)file, 0, 0, 0), PIE_WAIT_FILE, path);
    check(target_of(SYS_fsync, (uint64_t)file, 0, 0, 0), PIE_WAIT_DISK, path);
    check(target_of(SYS_flock, (uint64_t)file, 0, 0, 0), PIE_WAIT_LOCK, path);
    check(target_of(SYS_fcntl, (uint64_t)file, F_SETLKW, 0, 0), PIE_WAIT_LOCK, path);
    check(target_of(SYS_read, (uint64_t)event, 0, 0, 0), PIE_WAIT_OTHER, "anon_inode:[eventfd]");
    check(target_of(SYS_read, (uint64_t)timer, 0, 0, 0), PIE_WAIT_SLEEP, "");
    check(target_of(SYS_read, (uint64_t)epoll, 0, 0, 0), PIE_WAIT_POLL, "");
    check(target_of(SYS_read, 1000000, 0, 0, 0), PIE_WAIT_OTHER, "system call 0"); /* closed meanwhile */
    check(target_of(SYS_openat, (uint64_t)AT_FDCWD, (uintptr_t)"/a/fifo", 0, 0), PIE_WAIT_FILE, "/a/fifo");
    check(target_of(SYS_openat, (uint64_t)AT_FDCWD, 16, 0, 0), PIE_WAIT_FILE, ""); /* no memory there */
    if (master >= 0) {
        grantpt(master);
        unlockpt(master);
        int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
        check(target_of(SYS_read, (uint64_t)terminal, 0, 0, 0), PIE_WAIT_TERMINAL, ptsname(master));
    }
    unlink(path);
}

static void test_sockets_are_named_by_their_peer(void **state) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listening = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    char name[64], at_name[80];

    assert_int_equal(bind(listening, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listening, 1), 0);
    assert_int_equal(getsockname(listening, (struct sockaddr *)&address, &length), 0);
    snprintf(name, sizeof name, "127.0.0.1:%u", ntohs(address.sin_port));
    snprintf(at_name, sizeof at_name, "at %s", name);
    check(target_of(SYS_accept4, (uint64_t)listening, 0, 0, 0), PIE_WAIT_SOCKET, at_name);
    check(target_of(SYS_connect, (uint64_t)client, (uintptr_t)&address, sizeof address, 0), PIE_WAIT_SOCKET,
          name);
    assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof address), 0);
    check(target_of(SYS_recvfrom, (uint64_t)client, 0, 0, 0), PIE_WAIT_SOCKET, name);
    check(target_of(SYS_read, (uint64_t)client, 0, 0, 0), PIE_WAIT_SOCKET, name);

    struct sockaddr_in6 v6 = {
        .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT, .sin6_port = htons(80)};
    check(target_of(SYS_connect, (uint64_t)client, (uintptr_t)&v6, sizeof v6, 0), PIE_WAIT_SOCKET,
          "[::1]:80");
    struct sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = "/run/db.sock"};
    check(target_of(SYS_connect, (uint64_t)client, (uintptr_t)&local, sizeof local, 0), PIE_WAIT_SOCKET,
          "/run/db.sock");
    memcpy(local.sun_path, "\0hidden", 7);
    check(target_of(SYS_connect, (uint64_t)client, (uintptr_t)&local,
                    offsetof(struct sockaddr_un, sun_path) + 7, 0),
          PIE_WAIT_SOCKET, "@hidden");
    check(target_of(SYS_connect, (uint64_t)client, (uintptr_t)&local, 1 << 20, 0), PIE_WAIT_SOCKET, "");
    check(target_of(SYS_connect, (uint64_t)client, 16, sizeof local, 0), PIE_WAIT_SOCKET, "");
}

static void test_poll_of_none_one_and_two(void **state) {
    int pipes[2];

    assert_int_equal(pipe(pipes), 0);
    struct pollfd set[] = {
        {.fd = -1}, {.fd = pipes[0], .events = POLLIN}, {.fd = pipes[1], .events = POLLOUT}};
    check(target_of(SYS_poll, 0, 0, 100, 0), PIE_WAIT_SLEEP, "");
    check(target_of(SYS_poll, (uintptr_t)set, 1, 100, 0), PIE_WAIT_SLEEP, "");
    check(target_of(SYS_poll, (uintptr_t)set, 2, 100, 0), PIE_WAIT_PIPE, "");
    check(target_of(SYS_ppoll, (uintptr_t)set, 3, 100, 0), PIE_WAIT_POLL, "");
    check(target_of(SYS_poll, 16, 3, 100, 0), PIE_WAIT_POLL, ""); /* no memory there */
}

static void test_select_of_none_one_and_two(void **state) {
    int pipes[2], high = fcntl(STDERR_FILENO, F_DUPFD, 200);
    fd_set readable, writable;

    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(dup2(pipes[0], high), high);
    FD_ZERO(&readable);
    FD_ZERO(&writable);
    uint64_t most = (uint64_t)high + 1;
    check(target_of(SYS_select, 0, 0, 0, 0), PIE_WAIT_SLEEP, "");
    check(target_of(SYS_select, most, (uintptr_t)&readable, 0, 0), PIE_WAIT_SLEEP, "");
    FD_SET(high, &readable);
    FD_SET(high, &writable);
    check(target_of(SYS_select, most, (uintptr_t)&readable, (uintptr_t)&writable, 0), PIE_WAIT_PIPE, "");
    check(target_of(SYS_select, (uint64_t)high, (uintptr_t)&readable, 0, 0), PIE_WAIT_SLEEP,
          ""); /* not below */
    FD_SET(3, &writable);
    check(target_of(SYS_pselect6, most, (uintptr_t)&readable, (uintptr_t)&writable, 0), PIE_WAIT_POLL, "");
    check(target_of(SYS_select, most, 16, 0, 0), PIE_WAIT_POLL, ""); /* no memory there */
}

static void test_a_mutex_names_its_owner(void **state) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&mutex);
    struct pie_wait_target target =
        target_of(SYS_futex, (uintptr_t)&mutex, 128 /* a private FUTEX_WAIT */, 2, 0);
    check(target, PIE_WAIT_LOCK, "");
    assert_int_equal(target.futex, (uintptr_t)&mutex);
    assert_int_equal(target.owner_tid, gettid());
    /* a semaphore has another value */
    assert_int_equal(target_of(SYS_futex, (uintptr_t)&mutex, 128, 0, 0).owner_tid, 0);
    assert_int_equal(target_of(SYS_futex, 16, 128, 2, 0).owner_tid, 0); /* no memory there */
    pthread_mutex_unlock(&mutex);
}

static void *sleep_in_a_pipe(void *data) {
    int *pipe_and_tid = data;
    char byte;

    __atomic_store_n(&pipe_and_tid[1], gettid(), __ATOMIC_RELEASE);
    return (void *)(intptr_t)read(pipe_and_tid[0], &byte, 1);
}

static void test_the_kernels_own_text(void **state) {
    int pipes[2], shared[2] = {0};
    struct pie_wait_call call = {.number = -1};
    pthread_t thread;
    char text[256];

    assert_int_equal(pipe(pipes), 0);
    shared[0] = pipes[0];
    pthread_create(&thread, NULL, sleep_in_a_pipe, shared);
    for (int i = 0; i < 1000 && (call.number != SYS_read || call.arguments[0] != (uint64_t)pipes[0]); i++) {
        usleep(1000);
        int tid = __atomic_load_n(&shared[1], __ATOMIC_ACQUIRE);
        int r = tid ? pie_proc_read_task(tid, "syscall", text, sizeof text) : 0;
        if (r == -ENOENT || r == -EACCES || r == -EPERM)
            break;
        if (r > 0)
            pie_wait_call_parse(text, &call);
    }
    assert_int_equal(write(pipes[1], "x", 1), 1);
    pthread_join(thread, NULL);
    if (call.number < 0)
        skip(); /* the kernel does not say */
    assert_int_equal(call.number, SYS_read);
    assert_int_equal(call.arguments[0], pipes[0]);
    assert_int_equal(call.arguments[2], 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_that_are_no_call),
        cmocka_unit_test(test_a_thread_outside_of_calls_reads_a_page),
        cmocka_unit_test(test_calls_that_tell_by_themselves),
        cmocka_unit_test(test_descriptors_by_kind),
        cmocka_unit_test(test_sockets_are_named_by_their_peer),
        cmocka_unit_test(test_poll_of_none_one_and_two),
        cmocka_unit_test(test_select_of_none_one_and_two),
        cmocka_unit_test(test_a_mutex_names_its_owner),
        cmocka_unit_test(test_the_kernels_own_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
