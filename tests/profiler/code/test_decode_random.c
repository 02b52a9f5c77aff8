/* SPDX-License-Identifier: Apache-2.0 */

/* Any address of any executable mapping, with any registers: nothing crashes, all that comes out is in order, and
 * memory stays bounded. What it costs is printed. */

#include "profiler/code/decode.h"
#include "profiler/code/decode_function.h"
#include "tests/profiler/code/stepping.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { RANGES_MAX = 200, ADDRESSES = 10000, ACCESSES_MAX = 32, COUNTED_ERRORS = 256 };

static struct {
    uint64_t begin, end;
} ranges[RANGES_MAX];
static size_t n_ranges;
static uint64_t random_state = 88172645463325252;

/* xorshift64 (G. Marsaglia, 2003). */
static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static uint64_t now_ns(void) {
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void find_ranges(void) {
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512], mode[8];
    unsigned long begin, end;

    n_ranges = 0;
    while (maps && n_ranges < RANGES_MAX && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %7s", &begin, &end, mode) == 3 && mode[2] == 'x') {
            ranges[n_ranges].begin = begin;
            ranges[n_ranges++].end = end;
        }
    if (maps)
        fclose(maps);
}

static uint64_t random_address(void) {
    size_t i = next_random() % n_ranges;

    return ranges[i].begin + next_random() % (ranges[i].end - ranges[i].begin);
}

static void test_any_address_and_any_registers(void **state) {
    static long blocks[COUNTED_ERRORS], traps[COUNTED_ERRORS];
    struct pie_access accesses[ACCESSES_MAX], access;
    uint64_t registers[PIE_ACCESS_REGISTERS];
    struct pie_decode_basic_block block;

    stepping_catch_faults();
    for (int i = 0; i < ADDRESSES; i++) {
        uint64_t ip = random_address();
        int r = pie_decode_basic_block(ip, accesses, ACCESSES_MAX, &block);
        assert_in_range(-r, 0, COUNTED_ERRORS - 1);
        blocks[-r]++;
        if (r == 0) {
            assert_true(block.low <= ip && ip < block.high && block.count <= ACCESSES_MAX);
            for (size_t k = 0; k < block.count; k++)
                assert_true(accesses[k].ip >= (k ? accesses[k - 1].ip : block.low) &&
                            accesses[k].ip < block.high && accesses[k].size_bytes >= 1 &&
                            accesses[k].size_bytes <= 64 &&
                            accesses[k].flags & (PIE_ACCESS_LOAD | PIE_ACCESS_STORE));
        }
        for (int k = 0; k < PIE_ACCESS_REGISTERS; k++)
            registers[k] = next_random() >> next_random() % 64;
        r = pie_decode_trap(ip, registers, next_random() >> next_random() % 64, 1 + next_random() % 64,
                            &access);
        assert_in_range(-r, 0, COUNTED_ERRORS - 1);
        traps[-r]++;
        assert_true(r != 0 || access.ip == ip || access.ip + access.length == ip);
        assert_true(pie_decode_functions_bytes() <= PIE_DECODE_CACHE_BYTES_MAX);
    }
    print_message(
        "# blocks: %ld known, %ld no instruction, %ld no function, %ld large; traps: %ld named, %ld "
        "not there, %ld no "
        "instruction, %ld no function\n",
        blocks[0], blocks[EILSEQ], blocks[ENOENT], blocks[E2BIG], traps[0], traps[ENXIO], traps[EILSEQ],
        traps[ENOENT]);
    assert_int_equal(blocks[0] + blocks[EILSEQ] + blocks[ENOENT] + blocks[E2BIG] + blocks[EFAULT], ADDRESSES);
    assert_true(blocks[0] > ADDRESSES / 20 && blocks[EILSEQ] > ADDRESSES / 20);
}

/* Random bytes in place of code: instructions never reach beyond what they were given, and without decoding operands
 * it is known which have none that may be watched. */
static void test_any_bytes(void **state) {
    struct pie_operand operands[PIE_OPERANDS_MAX];
    struct pie_instruction in;
    long decoded = 0, listed = 0, told = 0;

    for (int i = 0; i < 20 * ADDRESSES; i++) {
        size_t size = 1 + next_random() % PIE_INSTRUCTION_BYTES_MAX;
        uint8_t *bytes = malloc(size);
        for (size_t k = 0; k < size; k++)
            bytes[k] = (uint8_t)next_random();
        int n = pie_instruction_decode(bytes, size, next_random(), &in, operands);
        assert_true(n == -EILSEQ || (n >= 0 && n <= PIE_OPERANDS_MAX && in.length >= 1 && in.length <= size));
        decoded += n >= 0;
        bool is_listed = false;
        for (int k = 0; k < n; k++)
            is_listed = is_listed || operands[k].traits & PIE_OPERAND_LISTED;
        assert_true(!is_listed || in.may_list);
        listed += is_listed;
        told += n >= 0 && in.may_list;
        free(bytes);
    }
    print_message("# of %ld instructions %ld may be watched, %ld look so\n", decoded, listed, told);
    assert_true(decoded > ADDRESSES);
    assert_true(listed > ADDRESSES);
}

static void test_forgetting_gives_the_memory_back(void **state) {
    struct pie_access accesses[ACCESSES_MAX];
    struct pie_decode_basic_block block;

    stepping_catch_faults();
    pie_decode_flush_cache();
    assert_int_equal(pie_decode_functions_bytes(), 0);
    assert_int_equal(pie_decode_basic_block((uintptr_t)now_ns, accesses, ACCESSES_MAX, &block), 0);
    assert_true(pie_decode_functions_bytes() > 0);
    pie_decode_flush_cache();
    pie_decode_flush_cache();
    assert_int_equal(pie_decode_functions_bytes(), 0);
}

static void test_what_is_kept_is_as_good_as_new(void **state) {
    struct pie_access kept[ACCESSES_MAX], fresh[ACCESSES_MAX];
    struct pie_decode_basic_block kept_block, fresh_block;
    int known = 0;

    stepping_catch_faults();
    for (int i = 0; i < ADDRESSES / 10; i++) {
        uint64_t ip = random_address();
        pie_decode_basic_block(ip, kept, ACCESSES_MAX, &kept_block); /* now it is kept */
        int r = pie_decode_basic_block(ip, kept, ACCESSES_MAX, &kept_block);
        if (i % 3 == 0)
            pie_decode_flush_cache();
        assert_int_equal(pie_decode_basic_block(ip, fresh, ACCESSES_MAX, &fresh_block), r);
        if (r != 0)
            continue;
        assert_memory_equal(&kept_block, &fresh_block, sizeof kept_block);
        assert_memory_equal(kept, fresh, kept_block.count * sizeof *kept);
        known++;
    }
    assert_true(known > ADDRESSES / 100);
}

static int compare_ns(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

enum { QUERIES = 2000, PLACES = 100 };

static uint64_t spent_ns[QUERIES];

static uint64_t median_ns(size_t n) {
    qsort(spent_ns, n, sizeof *spent_ns, compare_ns);
    return spent_ns[n / 2];
}

/* Instructions in functions that were not swept yet, with what their sweeps took. Returns how many. */
static size_t sweep_some(uint64_t places[PLACES], double *ret_ns_a_byte) {
    const struct pie_decode_function *function;
    uint64_t bytes = 0, all_ns = 0;
    size_t n = 0;

    for (int i = 0; i < 100 * PLACES && n < PLACES; i++) {
        uint64_t ip = random_address(), start = now_ns();
        size_t before = pie_decode_functions_bytes();
        if (pie_decode_function_find(ip, &function) != 0 || pie_decode_functions_bytes() <= before)
            continue;
        all_ns += now_ns() - start;
        bytes += function->size;
        places[n++] = pie_decode_function_last(function, PIE_DECODE_START, ip);
    }
    *ret_ns_a_byte = bytes ? (double)all_ns / (double)bytes : 0;
    return n;
}

static void test_what_it_costs(void **state) {
    struct pie_access accesses[ACCESSES_MAX], access;
    uint64_t registers[PIE_ACCESS_REGISTERS] = {0}, places[PLACES], start;
    struct pie_decode_basic_block block;
    double ns_a_byte;

    stepping_catch_faults();
    pie_decode_flush_cache();
    size_t n = sweep_some(places, &ns_a_byte);
    assert_true(n > PLACES / 2);
    for (size_t i = 0; i < QUERIES; i++) {
        start = now_ns();
        pie_decode_basic_block(places[i % n], accesses, ACCESSES_MAX, &block);
        spent_ns[i] = now_ns() - start;
    }
    uint64_t block_ns = median_ns(QUERIES);
    for (size_t i = 0; i < QUERIES; i++) {
        start = now_ns();
        pie_decode_trap(places[i % n], registers, 8, 8, &access);
        spent_ns[i] = now_ns() - start;
    }
    print_message(
        "# a sweep: %.1f ns a byte of code; functions that are known: %lu ns a block, %lu ns a trap "
        "(medians)\n",
        ns_a_byte, block_ns, median_ns(QUERIES));
}

static int set_up(void **state) {
    /* Large libraries of different kinds, where they are. */
    static const char *const libraries[] = {"libpython" PIEPROF_PYTHON_VERSION ".so.1.0", "libcrypto.so.3",
                                            "libstdc++.so.6", "libz.so.1", "libm.so.6"};

    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        dlopen(libraries[i], RTLD_NOW);
    find_ranges();
    return n_ranges ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_address_and_any_registers),
        cmocka_unit_test(test_any_bytes),
        cmocka_unit_test(test_forgetting_gives_the_memory_back),
        cmocka_unit_test(test_what_is_kept_is_as_good_as_new),
        cmocka_unit_test(test_what_it_costs),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
