/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/base/region.h"

#if defined(__has_feature)
#define HAS_SANITIZER(name) __has_feature(name)
#else
#define HAS_SANITIZER(name) 0
#endif
/* A sanitizer's shadow memory does not fit into any limit. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !HAS_SANITIZER(address_sanitizer) &&  \
    !HAS_SANITIZER(thread_sanitizer)
#define CAN_LIMIT_ADDRESS_SPACE
#endif

/* The region is one to a process, so each test runs in a forked child; the parent never maps one. */
static int in_child(bool (*body)(void)) {
    pid_t pid = fork();
    int status = -1;

    if (pid == 0)
        _exit(body() ? 0 : 1);
    waitpid(pid, &status, 0);
    return status;
}

static bool is_zero(const char *memory, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (memory[i])
            return false;
    return true;
}

static int count_descriptors(void) {
    DIR *directory = opendir("/proc/self/fd");
    int n = 0;

    while (readdir(directory))
        n++;
    closedir(directory);
    return n;
}

static bool allocates(void) {
    int descriptors = count_descriptors();

    if (pie_region_init() < 0 || count_descriptors() != descriptors || pie_region_init() != -EALREADY)
        return false;
    for (int arena = 0; arena < PIE_ARENA_COUNT; arena++) {
        char *first = pie_region_alloc((enum pie_arena)arena, 13);
        char *second = pie_region_alloc((enum pie_arena)arena, 100);

        if (first != pie_region_base((enum pie_arena)arena) || second != first + 16 ||
            pie_region_used((enum pie_arena)arena) != 16 + 104 || !is_zero(first, 120))
            return false;
        memset(first, 0x55, 120);
    }
    return true;
}

static void test_allocates_zeroed_memory_in_each_arena(void **state) {
    assert_int_equal(in_child(allocates), 0);
}

static bool fills_up(void) {
    if (pie_region_init() < 0)
        return false;
    size_t size = pie_region_size(PIE_ARENA_CODE);
    return !pie_region_alloc(PIE_ARENA_CODE, size + 1) && !pie_region_alloc(PIE_ARENA_CODE, SIZE_MAX) &&
           pie_region_alloc(PIE_ARENA_CODE, size - 8) && pie_region_alloc(PIE_ARENA_CODE, 8) &&
           !pie_region_alloc(PIE_ARENA_CODE, 1) && pie_region_used(PIE_ARENA_CODE) == size;
}

static void test_a_full_arena_gives_null(void **state) {
    assert_int_equal(in_child(fills_up), 0);
}

static bool without_region(void) {
    return !pie_region_alloc(PIE_ARENA_CCT, 8) && !pie_region_base(PIE_ARENA_CCT) &&
           pie_region_reset() == -ENXIO && pie_region_used(PIE_ARENA_CCT) == 0 &&
           pie_region_size(PIE_ARENA_CCT) == 0;
}

static void test_nothing_is_given_before_init(void **state) {
    assert_int_equal(in_child(without_region), 0);
}

static bool child_resets(void) {
    char *mine;

    if (pie_region_init() < 0 || !(mine = pie_region_alloc(PIE_ARENA_CCT, 4096)))
        return false;
    memset(mine, 'p', 4096);
    pid_t pid = fork();
    if (pid == 0) {
        bool ok = pie_region_reset() == 0 && pie_region_used(PIE_ARENA_CCT) == 0 &&
                  pie_region_alloc(PIE_ARENA_CCT, 4096) == mine && is_zero(mine, 4096);

        memset(mine, 'c', 4096);
        _exit(ok ? 0 : 1);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    return status == 0 && mine[0] == 'p' && mine[4095] == 'p' && pie_region_used(PIE_ARENA_CCT) == 4096;
}

static void test_a_forked_child_gets_a_fresh_one_in_the_same_place(void **state) {
    assert_int_equal(in_child(child_resets), 0);
}

/* A child that nothing is done for. */
static bool child_writes(void) {
    size_t size = 0;
    char *used = pie_region_init() < 0 ? NULL : pie_region_alloc(PIE_ARENA_CCT, 4096);
    char *stack = used ? pie_region_stack(20000, &size) : NULL;
    int status = -1;

    if (!stack)
        return false;
    used[0] = stack[0] = stack[size - 1] = 'p';
    pid_t pid = fork();
    if (pid == 0) {
        bool ok = used[0] == 'p' && stack[size - 1] == 'p' && pie_region_alloc(PIE_ARENA_CCT, 8) != NULL;
        used[0] = stack[0] = stack[size - 1] = 'c';
        _exit(ok ? 0 : 1);
    }
    waitpid(pid, &status, 0);
    return status == 0 && used[0] == 'p' && stack[0] == 'p' && stack[size - 1] == 'p' &&
           pie_region_used(PIE_ARENA_CCT) == 4096;
}

static void test_a_child_that_is_left_alone_writes_into_a_copy(void **state) {
    assert_int_equal(in_child(child_writes), 0);
}

static bool is_forbidden(char *at) {
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL);
        *(volatile char *)at = 1;
        _exit(0);
    }
    waitpid(pid, &status, 0);
#ifdef CAN_LIMIT_ADDRESS_SPACE
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
#else
    return status != 0; /* a sanitizer reports it and exits */
#endif
}

static bool guards_stacks(void) {
    char *stacks[3];
    size_t size;

    if (pie_region_init() < 0)
        return false;
    for (int i = 0; i < 3; i++) {
        if (!(stacks[i] = pie_region_stack(65536, &size)) || size != 65536 || (uintptr_t)stacks[i] % 4096)
            return false;
        memset(stacks[i], 's', size);
    }
    for (int i = 0; i < 3; i++)
        if (!is_forbidden(stacks[i] - 1) || !is_forbidden(stacks[i] - 4096))
            return false;
    return is_forbidden(stacks[2] + size); /* the next one's */
}

static void test_stacks_end_in_a_page_that_nobody_may_touch(void **state) {
    assert_int_equal(in_child(guards_stacks), 0);
}

static void set_limit(int resource, rlim_t value) {
    struct rlimit limit = {value, value};

    setrlimit((__rlimit_resource_t)resource, &limit);
}

static size_t whole_size(void) {
    size_t total = 0;

    for (int arena = 0; arena < PIE_ARENA_COUNT; arena++)
        total += pie_region_size((enum pie_arena)arena);
    return total;
}

#ifdef CAN_LIMIT_ADDRESS_SPACE
static bool with_little_address_space(void) {
    set_limit(RLIMIT_AS, (rlim_t)256 << 20);
    if (pie_region_init() < 0)
        return false;
    size_t total = whole_size();
    return total <= (size_t)32 << 20 && total >= (size_t)3 << 20 &&
           pie_region_alloc(PIE_ARENA_THREADS, 1 << 19);
}

/* Private memory that can be written counts, used or not. */
static bool with_little_data(void) {
    set_limit(RLIMIT_DATA, (rlim_t)64 << 20);
    if (pie_region_init() < 0 || whole_size() < (size_t)1 << 30 || !pie_region_alloc(PIE_ARENA_CCT, 1 << 20))
        return false;
    char *own = mmap(NULL, 40 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    /* What can no more be opened is full, and nothing is lost by asking. */
    return own != MAP_FAILED && !pie_region_alloc(PIE_ARENA_CODE, 40 << 20) &&
           pie_region_used(PIE_ARENA_CODE) == 0 && munmap(own, 40 << 20) == 0 &&
           pie_region_alloc(PIE_ARENA_CODE, 40 << 20);
}

static void test_memory_counts_only_once_it_is_used(void **state) {
    assert_int_equal(in_child(with_little_data), 0);
}

static void test_fits_into_a_limited_address_space(void **state) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    const bool sanitized = true; /* a sanitizer's shadow memory does not fit into any limit */
#else
    const bool sanitized = false;
#endif
    if (sanitized)
        skip_because("a sanitizer needs its address space");
    assert_int_equal(in_child(with_little_address_space), 0);
}
#endif

static bool trims(void) {
    enum { USED = 40 << 20, MIB = 1 << 20 };
    char *used = pie_region_init() < 0 ? NULL : pie_region_alloc(PIE_ARENA_CCT, USED);
    char *threads = pie_region_alloc(PIE_ARENA_THREADS, 100);
    size_t before = pie_region_size(PIE_ARENA_CCT), whole = whole_size();

    if (!used || !threads || before <= USED)
        return false;
    used[USED - 1] = threads[99] = 'p';
    pie_region_trim(UINT64_C(1) << 40);
    if (whole_size() != whole)
        return false;
    pie_region_trim((uint64_t)256 << 20);
    if (pie_region_size(PIE_ARENA_CCT) != USED || whole_size() > USED + (32 << 20))
        return false;
    if (pie_region_alloc(PIE_ARENA_CCT, 8) || !pie_region_alloc(PIE_ARENA_THREADS, 1000))
        return false;
    /* What lies behind is anybody's, and stays so when a child gets a fresh region. */
    char *own = mmap(used + USED + MIB, 4096, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (own != used + USED + MIB)
        return false;
    own[0] = 'o';
    return pie_region_reset() == 0 && own[0] == 'o' && pie_region_used(PIE_ARENA_CCT) == 0 &&
           pie_region_alloc(PIE_ARENA_CCT, USED) == used && !used[USED - 1] &&
           pie_region_alloc(PIE_ARENA_THREADS, 100) == threads && !threads[99] &&
           !pie_region_alloc(PIE_ARENA_CCT, 8);
}

static void test_gives_back_what_it_does_not_use(void **state) {
    assert_int_equal(in_child(trims), 0);
}

enum { TRIMS = 30, TAKERS = 3 };

static void *take_until_full(void *unused) {
    char *memory;

    while ((memory = pie_region_alloc(PIE_ARENA_CODE, 4096)) != NULL)
        memory[0] = memory[4095] = 'x'; /* dies of it if that was given back */
    return NULL;
}

static bool trims_while_others_take(void) {
    pthread_t threads[TAKERS];

    if (pie_region_init() < 0)
        return false;
    for (int i = 0; i < TAKERS; i++)
        if (pthread_create(&threads[i], NULL, take_until_full, NULL) != 0)
            return false;
    for (uint64_t limit = UINT64_C(16) << 30; limit > UINT64_C(1) << 20; limit -= limit / 50)
        pie_region_trim(limit);
    for (int i = 0; i < TAKERS; i++)
        pthread_join(threads[i], NULL);
    return true;
}

static void test_memory_that_is_handed_out_is_never_given_back(void **state) {
    for (int i = 0; i < TRIMS; i++)
        assert_int_equal(in_child(trims_while_others_take), 0);
}

static bool without_files(void) {
    set_limit(RLIMIT_NOFILE, 0);
    set_limit(RLIMIT_FSIZE, 0);
    char *memory = pie_region_init() < 0 ? NULL : pie_region_alloc(PIE_ARENA_CCT, 100000);
    return memory && is_zero(memory, 100000) && (memory[99999] = 1);
}

static void test_needs_neither_descriptors_nor_file_size(void **state) {
    assert_int_equal(in_child(without_files), 0);
}

enum { THREADS = 4, ALLOCATIONS = 20000 };

static void *allocate_many(void *stamp) {
    for (int i = 0; i < ALLOCATIONS; i++) {
        uint64_t *memory = pie_region_alloc(PIE_ARENA_THREADS, 16);

        if (!memory || memory[0] || memory[1])
            return "not fresh";
        memory[0] = memory[1] = (uintptr_t)stamp;
    }
    return NULL;
}

static bool from_threads(void) {
    pthread_t threads[THREADS];
    bool ok = pie_region_init() == 0;

    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, allocate_many, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++) {
        void *complaint = "";

        pthread_join(threads[i], &complaint);
        ok = ok && !complaint;
    }
    return ok && pie_region_used(PIE_ARENA_THREADS) == (size_t)THREADS * ALLOCATIONS * 16;
}

static void test_threads_get_disjoint_memory(void **state) {
    assert_int_equal(in_child(from_threads), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocates_zeroed_memory_in_each_arena),
        cmocka_unit_test(test_a_full_arena_gives_null),
        cmocka_unit_test(test_nothing_is_given_before_init),
        cmocka_unit_test(test_a_forked_child_gets_a_fresh_one_in_the_same_place),
#ifdef CAN_LIMIT_ADDRESS_SPACE
        cmocka_unit_test(test_memory_counts_only_once_it_is_used),
        cmocka_unit_test(test_fits_into_a_limited_address_space),
#endif
        cmocka_unit_test(test_a_child_that_is_left_alone_writes_into_a_copy),
        cmocka_unit_test(test_stacks_end_in_a_page_that_nobody_may_touch),
        cmocka_unit_test(test_gives_back_what_it_does_not_use),
        cmocka_unit_test(test_memory_that_is_handed_out_is_never_given_back),
        cmocka_unit_test(test_needs_neither_descriptors_nor_file_size),
        cmocka_unit_test(test_threads_get_disjoint_memory),
    };

    return cmocka_run_group_tests_name("region", tests, NULL, NULL);
}
