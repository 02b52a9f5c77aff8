/* SPDX-License-Identifier: Apache-2.0 */

/* The exported syscall(), which is compiled without optimisation for this test, as its callers here: it leaves their
 * frames alone, hands on all arguments, and goes by filter.c and children.c where it must. */
#include "runtime/libc/syscall.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

enum { WORDS = 64 }; /* more than the registers that a function with an ellipsis stores */

static void test_the_frame_of_the_caller_stays(void **state) {
    volatile uint64_t words[WORDS];
    (void)state;

    for (uint64_t i = 0; i < WORDS; i++)
        words[i] = ~i;
    long pid = syscall(SYS_getpid, 1L, 2L, 3L, 4L, 5L, 6L);
    for (uint64_t i = 0; i < WORDS; i++)
        assert_int_equal(words[i], ~i);
    assert_int_equal(pid, getpid());
}

/* The sixth argument of mmap() is the offset, which shows in what is read there. */
static void test_six_arguments(void **state) {
    long page = sysconf(_SC_PAGESIZE);
    int fd = (int)syscall(SYS_memfd_create, "six", 0);
    (void)state;

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, 2 * page), 0);
    assert_int_equal(pwrite(fd, "6", 1, page), 1);
    char *second =
        (char *)syscall(SYS_mmap, NULL, page, PROT_READ, MAP_PRIVATE, fd, page); /* NOLINT: an address */
    assert_ptr_not_equal(second, MAP_FAILED);
    assert_int_equal(*second, '6');
    assert_int_equal(munmap(second, (size_t)page), 0);
    assert_int_equal(close(fd), 0);
}

static void test_a_failure(void **state) {
    (void)state;
    errno = 0;
    assert_int_equal(syscall(SYS_close, -1), -1);
    assert_int_equal(errno, EBADF);
}

static long filter(long number, long a, long b, long c, long d, long e) {
    return number == SYS_seccomp || number == SYS_prctl ? a + 10 * b + 100 * c + 1000 * d + 10000 * e
                                                        : -ENOSYS;
}

static void test_calls_that_set_a_filter(void **state) {
    (void)state;
    pie_syscall_set_filter(filter);
    assert_int_equal(syscall(SYS_seccomp, 1L, 2L, 3L, 4L, 5L), 54321);
    assert_int_equal(syscall(SYS_prctl, (long)PR_SET_SECCOMP, 0L, 1L, 0L, 0L), PR_SET_SECCOMP + 100);
    assert_int_equal(syscall(SYS_prctl, (long)PR_GET_DUMPABLE, 0L, 0L, 0L, 0L), prctl(PR_GET_DUMPABLE));
    pie_syscall_set_filter(NULL);
}

static long refuse(void) {
    return -EAGAIN;
}

static void test_fork(void **state) {
    (void)state;
    pie_syscall_set_fork(refuse);
    assert_int_equal(syscall(SYS_fork), -1);
    assert_int_equal(errno, EAGAIN);
    pie_syscall_set_fork(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_frame_of_the_caller_stays),
        cmocka_unit_test(test_six_arguments),
        cmocka_unit_test(test_a_failure),
        cmocka_unit_test(test_calls_that_set_a_filter),
        cmocka_unit_test(test_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
