/* SPDX-License-Identifier: Apache-2.0 */

/* Hand-written machine code (decode_cases.S) whose accesses, blocks and traps are known. */

#include "profiler/code/cfi.h"
#include "profiler/code/decode.h"
#include "tests/profiler/code/stepping.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

enum {
    L = PIE_ACCESS_LOAD,
    S = PIE_ACCESS_STORE,
    R = PIE_ACCESS_REP,
    B = PIE_ACCESS_LOOP, /* bulk */
    C = PIE_ACCESS_COUNTING,
    K = PIE_ACCESS_STACK,
    T = PIE_ACCESS_TLS,
    G = PIE_ACCESS_GATHER,
    NONE = PIE_ACCESS_NO_REGISTER,
    ACCESSES_MAX = 64,
};

/* Labels of decode_cases.S. */
extern const char case_unwatched[], case_watched[], case_watched_end[], case_traps[], case_loop[],
    case_branches[], case_switch[], case_lock[], case_bad_data[], case_many[], case_large[],
    case_unreadable[];
extern uint64_t case_data;

static uint64_t at(const char *label) {
    return (uint64_t)(uintptr_t)label;
}

static struct pie_access accesses[ACCESSES_MAX];
static struct pie_decode_basic_block block;

static int look(uint64_t ip) {
    memset(accesses, 0xff, sizeof accesses);
    memset(&block, 0xff, sizeof block);
    return pie_decode_basic_block(ip, accesses, ACCESSES_MAX, &block);
}

static void test_what_is_no_access_or_not_worth_watching_is_left_out(void **state) {
    assert_int_equal(look(at(case_unwatched)), 0);
    for (size_t i = 0; i < block.count; i++)
        print_message("# listed: +%#lx\n", accesses[i].ip - at(case_unwatched));
    assert_int_equal(block.count, 0);
    assert_int_equal(block.low, at(case_unwatched));
    assert_true(block.high > block.low + 150); /* all of them were looked at */
}

extern const char watched_1[], watched_2[], watched_3[], watched_4[], watched_5[], watched_6[], watched_7[],
    watched_8[], watched_9[], watched_10[], watched_11[], watched_12[], watched_13[], watched_14[],
    watched_15[], watched_16[], watched_17[], watched_18[], watched_19[], watched_20[], watched_21[],
    watched_22[], watched_23[], watched_24[], watched_25[];

/* Registers by their numbers. */
enum { AX, CX, DX, BX, SP, BP, SI, DI, R8, R9, R10, R11, R12, R13, R14, R15, IP };

static const struct expected {
    const char *ip;
    uint8_t base, index, scale;
    int32_t disp;
    uint16_t size_bytes;
    uint8_t flags;
} watched[] = {
    {watched_1, AX, BX, 4, 0x10, 4, L},
    {watched_2, R13, NONE, 1, -1, 1, S},
    {watched_3, R15, R14, 1, 0x12345678, 8, L | S},
    {watched_4, DI, NONE, 1, 0, 8, L | S},
    {watched_5, DI, NONE, 1, 0, 1, L},
    {watched_6, DI, NONE, 1, 8, 8, L | S},
    {watched_7, DI, NONE, 1, 0, 1, S},
    {watched_7, SI, NONE, 1, 0, 1, L},
    {watched_8, AX, NONE, 1, 8, 8, L},
    {watched_9, AX, NONE, 1, 16, 8, S},
    {watched_10, DI, NONE, 1, 0, 4, S | R | B},
    {watched_11, DI, NONE, 1, 0, 8, S | R | B},
    {watched_11, SI, NONE, 1, 0, 8, L | R | B},
    {watched_12, SI, NONE, 1, 0, 2, L},
    {watched_12, DI, NONE, 1, 0, 2, L},
    {watched_13, AX, NONE, 1, 64, 32, L | B},
    {watched_14, AX, NONE, 1, 0, 64, S | B},
    {watched_15, AX, NONE, 1, 4, 4, L},
    {watched_16, SI, NONE, 1, 0, 16, L},
    {watched_17, BP, NONE, 1, 0, 10, L},
    {watched_18, IP, NONE, 1, 0, 4, S},
    {watched_19, NONE, CX, 8, 0x40, 8, L},
    {watched_20, DI, NONE, 1, 0, 16, S},
    {watched_21, DI, NONE, 1, 0, 4, L | S},
    {watched_22, R12, NONE, 1, 0, 8, L},
    {watched_23, DI, NONE, 1, 0, 4, L},
    {watched_24, DI, NONE, 1, 0, 8, L},
    {watched_25, AX, NONE, 1, 8, 8, L},
};

static void test_accesses_are_described(void **state) {
    const size_t n = sizeof watched / sizeof *watched;

    assert_int_equal(look(at(case_watched) + 7), -EILSEQ); /* inside an instruction */
    assert_int_equal(look(at(watched_5)), 0);
    assert_int_equal(block.low, at(case_watched));
    assert_int_equal(block.high, at(watched_25) + 3); /* a call ends a block */
    assert_int_equal(block.count, n);
    for (size_t i = 0; i < n; i++) {
        const struct pie_access *access = &accesses[i];
        const struct expected *expected = &watched[i];
        if (access->ip != at(expected->ip) || access->flags != expected->flags ||
            access->base != expected->base)
            print_message("# access %zu differs\n", i);
        assert_int_equal(access->ip, at(expected->ip));
        assert_int_equal(access->base, expected->base);
        assert_int_equal(access->index, expected->index);
        assert_int_equal(access->scale, expected->scale);
        assert_int_equal(access->size_bytes, expected->size_bytes);
        assert_int_equal(access->flags, expected->flags);
        if (expected->base != IP)
            assert_int_equal(access->disp, expected->disp);
    }
}

static void test_functions_have_an_end(void **state) {
    uintptr_t begin = 0, end = 0;

    assert_true(pie_cfi_function_range(at(watched_5), &begin, &end));
    assert_int_equal(begin, at(case_watched));
    assert_int_equal(end, at(case_watched_end));
    assert_false(pie_cfi_function_range((uintptr_t)&case_data, &begin, &end));
    assert_int_equal(end, at(case_watched_end));
}

static const uint64_t *some_registers(void) {
    static uint64_t registers[PIE_ACCESS_REGISTERS];

    for (unsigned i = 0; i < PIE_ACCESS_REGISTERS; i++)
        registers[i] = UINT64_C(0x100000000000) + i * 0x1000000;
    return registers;
}

static void test_addresses_are_computed(void **state) {
    const uint64_t *r = some_registers();

    assert_int_equal(look(at(case_watched)), 0);
    assert_int_equal(pie_access_address(&accesses[0], r), r[AX] + r[BX] * 4 + 0x10);
    assert_int_equal(pie_access_address(&accesses[1], r), r[R13] - 1);
    assert_int_equal(pie_access_address(&accesses[2], r), r[R15] + r[R14] + 0x12345678);
    assert_int_equal(pie_access_address(&accesses[8], r), r[AX] + 8);
    assert_int_equal(pie_access_address(&accesses[20], r), (uintptr_t)&case_data);
    assert_int_equal(pie_access_address(&accesses[21], r), r[CX] * 8 + 0x40);
}

extern const char trap_overwritten[], trap_overwritten_index[], trap_counting[], trap_push[],
    trap_push_memory[], trap_push_stack[], trap_pop[], trap_pop_memory[], trap_pop_stack[], trap_leave[],
    trap_movs[], trap_lods[], trap_scas[], trap_rep[], trap_after_rep[], trap_tls[], trap_gather[],
    trap_rip[], trap_narrow[], trap_xsave[], trap_fxsave[], trap_nop[], trap_call[], trap_after_call[],
    trap_before_rep[], trap_rep_stos[], trap_indirect[], trap_after_jump[], trap_plain[];

enum { NOWHERE = 0, ELSEWHERE = 1 << 30 };

/* RIP, then the base and the distance of the watched word of 8 bytes, then the instruction that must be named (NULL:
 * none) and its flags. Register 16: the word is case_data. */
static const struct asked {
    const char *rip;
    uint8_t base;
    int32_t disp;
    const char *named;
    uint8_t flags;
} asked[] = {
    {trap_overwritten, NONE, 0, trap_plain, L}, /* base and index: see there */
    {trap_overwritten, AX, ELSEWHERE, NULL, 0},
    {trap_overwritten_index, DX, ELSEWHERE, trap_overwritten, L}, /* nobody knows what RDX was */
    {trap_counting, AX, 64, trap_overwritten_index, L},
    {trap_push, DI, 0, trap_counting, L | S | C},
    {trap_push, DI, 3, trap_counting, L | S | C},
    {trap_push, DI, 4, NULL, 0},
    {trap_push, DI, -7, trap_counting, L | S | C},
    {trap_push, DI, -8, NULL, 0},
    {trap_push_memory, SP, 0, trap_push, S | K}, /* RSP is after the push */
    {trap_push_memory, SP, 8, NULL, 0},
    {trap_push_memory, SP, -8, NULL, 0},
    {trap_push_stack, AX, 8, trap_push_memory, L},
    {trap_push_stack, SP, 0, trap_push_memory, S | K},
    {trap_pop, SP, 16, trap_push_stack, L | K},
    {trap_pop, SP, 0, trap_push_stack, S | K},
    {trap_pop, SP, 8, NULL, 0},
    {trap_pop_memory, SP, -8, trap_pop, L | K},
    {trap_pop_memory, SP, 0, NULL, 0},
    {trap_pop_stack, AX, 8, trap_pop_memory, S},
    {trap_pop_stack, SP, -8, trap_pop_memory, L | K},
    {trap_leave, SP, 8, trap_pop_stack, S | K},
    {trap_leave, SP, -8, trap_pop_stack, L | K},
    {trap_leave, SP, 16, NULL, 0},
    {trap_movs, SP, -8, trap_leave, L | K},
    {trap_movs, BP, 0, NULL, 0},
    {trap_lods, SI, -8, trap_movs, L},
    {trap_lods, DI, -8, trap_movs, S},
    {trap_lods, SI, 8, trap_movs, L}, /* with STD */
    {trap_lods, SI, 0, NULL, 0},
    {trap_lods, SI, -16, NULL, 0},
    {trap_scas, SI, -4, trap_lods, L},
    {trap_rep, DI, -1, trap_scas, L},
    {trap_rep, DI, -128, trap_rep, S | R | B}, /* still on it, and late */
    {trap_rep, SI, -128, trap_rep, L | R | B},
    {trap_rep, SI, 1, trap_rep, L | R | B}, /* with STD */
    {trap_rep, SI, -100000, NULL, 0},
    {trap_after_rep, DI, -500, trap_rep, S | R | B},
    {trap_after_rep, SI, -8, trap_rep, L | R | B},
    {trap_after_rep, SI, ELSEWHERE, NULL, 0},
    {trap_tls, SI, -8, NULL, 0}, /* behind the NOP */
    {trap_gather, DX, ELSEWHERE, trap_tls, L | T},
    {trap_rip, DX, ELSEWHERE, trap_gather, L | G},
    {trap_narrow, IP, 0, trap_rip, L},
    {trap_narrow, DI, 0, NULL, 0},
    {trap_fxsave, DI, 3000, trap_xsave, L | S},
    {trap_fxsave, DI, -8, NULL, 0},
    {trap_nop, DI, 504, trap_fxsave, S | B},
    {trap_nop, DI, 512, NULL, 0},
    {trap_call, AX, 0, NULL, 0},        /* a NOP names memory and does not touch it */
    {trap_after_call, SP, -8, NULL, 0}, /* RIP is the return address: not behind the push of the call */
    {trap_after_call, AX, 8, NULL, 0},
    {trap_rep_stos, DI, 0, trap_before_rep, S}, /* not begun yet */
    {trap_rep_stos, DI, -64, trap_rep_stos, S | R | B},
    {trap_after_jump, AX, 0, NULL, 0},
};

static void test_the_access_behind_a_trap_is_named(void **state) {
    const uint64_t *r = some_registers();

    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct pie_access access;
        uint64_t address = asked[i].base == NONE ? r[AX] + r[BX] * 4 + 0x10 : (uintptr_t)&case_data;
        if (asked[i].base < PIE_ACCESS_REGISTERS)
            address = r[asked[i].base] + (uint64_t)(int64_t)asked[i].disp;
        int result = pie_decode_trap(at(asked[i].rip), r, address,
                                     asked[i].base == DI && asked[i].disp == 3 ? 1 : 8, &access);
        if (result != (asked[i].named ? 0 : -ENXIO) || (result == 0 && access.ip != at(asked[i].named)))
            print_message("# case %zu: %d, named +%#lx\n", i, result,
                          result == 0 ? access.ip - at(case_traps) : 0);
        assert_int_equal(result, asked[i].named ? 0 : -ENXIO);
        if (asked[i].named) {
            assert_int_equal(access.ip, at(asked[i].named));
            assert_int_equal(access.flags & ~(asked[i].flags & B ? 0 : B), asked[i].flags);
        }
    }
}

static void test_an_address_of_32_bits_is_cut(void **state) {
    uint64_t r[PIE_ACCESS_REGISTERS];
    struct pie_access access;

    memcpy(r, some_registers(), sizeof r);
    assert_int_equal(pie_decode_trap(at(trap_xsave), r, (uint32_t)(r[DI] + 8), 4, &access), 0);
    assert_int_equal(access.ip, at(trap_narrow));
    assert_int_equal(pie_decode_trap(at(trap_xsave), r, r[DI] + 8, 4, &access), -ENXIO);
}

extern const char loop_entry[], loop_body[], loop_2[], loop_3[], loop_4[], loop_5[], loop_6[], loop_behind[];

static void test_a_loop_of_six_accesses_has_these_six(void **state) {
    const char *const expected[] = {loop_body, loop_2, loop_3, loop_4, loop_5, loop_6};

    assert_int_equal(look(at(loop_4)), 0);
    assert_int_equal(block.low, at(loop_body));
    assert_int_equal(block.high, at(loop_behind));
    assert_int_equal(block.count, 6);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(accesses[i].ip, at(expected[i]));
        assert_true(accesses[i].flags & PIE_ACCESS_LOOP);
    }
    assert_int_equal(block.next, at(loop_behind)); /* of the two ways of a branch the near one */
    assert_int_equal(block.before, at(loop_entry));
    assert_int_equal(look(at(loop_entry)), 0);
    assert_int_equal(block.next, at(loop_body));
    assert_int_equal(block.before, 0);
    assert_int_equal(block.count, 1);
    assert_int_equal(block.high, at(loop_body));
    assert_false(accesses[0].flags & PIE_ACCESS_LOOP);
    assert_int_equal(look(at(loop_behind)), 0);
    assert_int_equal(block.low, at(loop_behind));
    assert_int_equal(block.next, 0); /* it returns */
    assert_int_equal(block.before, at(loop_body));
    assert_int_equal(block.count, 1);
    assert_false(accesses[0].flags & PIE_ACCESS_LOOP);
}

extern const char branch_back[], branch_middle[], branch_forward[], branch_called[], branch_cold[];

static void test_branches_both_ways_and_calls_begin_blocks(void **state) {
    const char *const leaders[] = {case_branches,  branch_back,   branch_middle,
                                   branch_forward, branch_called, branch_cold};

    for (size_t i = 0; i < sizeof leaders / sizeof *leaders; i++) {
        assert_int_equal(look(at(leaders[i])), 0);
        assert_int_equal(block.low, at(leaders[i]));
        assert_int_equal(block.count, i > 0);
        /* Unlikely code at the end jumps back to the beginning, and nothing goes round. */
        assert_false(i > 0 && accesses[0].flags & PIE_ACCESS_LOOP);
    }
    assert_int_equal(look(at(branch_middle)), 0);
    assert_int_equal(block.high, at(branch_forward));
    assert_int_equal(block.next, at(branch_forward));
    assert_int_equal(look(at(branch_cold)), 0);
    assert_int_equal(block.next, at(branch_back));
}

extern const char switch_head[], switch_case_0[], switch_case_1[], switch_case_2[], switch_out[],
    addresses_head[], addresses_case_0[], addresses_case_1[];

static void test_a_loop_goes_through_jump_tables(void **state) {
    const char *const inside[] = {switch_head,   switch_case_0,  switch_case_1,
                                  switch_case_2, addresses_head, addresses_case_0};

    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        assert_int_equal(look(at(inside[i])), 0);
        assert_int_equal(block.low, at(inside[i]));
        assert_true(accesses[0].flags & PIE_ACCESS_LOOP);
    }
    assert_int_equal(look(at(switch_out)), 0);
    assert_false(accesses[0].flags & PIE_ACCESS_LOOP);
    assert_int_equal(look(at(addresses_case_1)), 0);
    assert_int_equal(block.low, at(addresses_case_1));
    assert_false(accesses[0].flags & PIE_ACCESS_LOOP);
}

extern const char lock_with[], lock_without[], lock_behind[];

static void test_a_lock_that_is_jumped_over_has_two_beginnings(void **state) {
    const uint64_t *r = some_registers();
    struct pie_access access;

    assert_int_equal(look(at(lock_without)), 0);
    assert_int_equal(block.low, at(lock_without));
    assert_int_equal(block.count, 2);
    assert_int_equal(accesses[0].ip, at(lock_without));
    assert_int_equal(look(at(lock_with)), 0);
    assert_int_equal(accesses[0].ip, at(lock_with));
    assert_int_equal(accesses[1].ip, at(lock_behind));
    assert_int_equal(pie_decode_trap(at(lock_behind), r, r[DI], 4, &access), 0);
    assert_true(access.ip == at(lock_with) || access.ip == at(lock_without));
}

extern const char bad_inside[], bad_behind[], bad_next[], bad_last[], greedy_inside[], greedy_behind[],
    greedy_next[];

static void test_data_between_the_code_does_no_harm(void **state) {
    const uint64_t *r = some_registers();
    struct pie_access access;

    assert_int_equal(look(at(bad_inside)), -EILSEQ);
    assert_int_equal(look(at(bad_last)), -EILSEQ);
    assert_int_equal(look(at(bad_next)), 0);
    assert_int_equal(block.low, at(bad_behind));
    assert_int_equal(block.high, at(bad_last));
    assert_int_equal(block.count, 2);
    assert_int_equal(pie_decode_trap(at(bad_next), r, r[DI], 8, &access), 0);
    assert_int_equal(access.ip, at(bad_behind));
    assert_int_equal(pie_decode_trap(at(bad_last), r, r[DI], 8, &access), -EILSEQ);
    assert_int_equal(look(at(greedy_next)), 0);
    assert_int_equal(block.low, at(greedy_behind));
    assert_int_equal(block.count, 2);
    assert_int_equal(pie_decode_trap(at(greedy_next), r, r[DI], 8, &access), 0);
    assert_int_equal(access.ip, at(greedy_behind));
}

static void test_too_much_is_said(void **state) {
    struct pie_access access;

    assert_int_equal(look(at(case_many)), -E2BIG);
    assert_int_equal(block.count, ACCESSES_MAX);
    assert_int_equal(block.low, at(case_many));
    assert_int_equal(block.high, at(case_many) + 301);
    assert_int_equal(accesses[63].ip, at(case_many) + 63 * 3);
    assert_int_equal(look(at(case_large) + 1000), -E2BIG);
    assert_int_equal(block.count, 0);
    assert_int_equal(pie_decode_trap(at(case_large) + 1000, some_registers(), 8, 8, &access), -ENXIO);
}

static void test_what_is_no_code_has_no_function(void **state) {
    struct pie_access access;
    void *heap = malloc(100);

    assert_int_equal(look((uintptr_t)heap), -ENOENT);
    assert_int_equal(look(0), -ENOENT);
    assert_int_equal(look(UINT64_MAX), -ENOENT);
    assert_int_equal(look((uintptr_t)&case_data), -ENOENT);
    assert_int_equal(pie_decode_trap((uintptr_t)heap, some_registers(), 8, 8, &access), -ENOENT);
    assert_int_equal(pie_decode_trap(0, some_registers(), 8, 8, &access), -ENOENT);
    free(heap);
}

extern const char case_bare[], case_bare_end[], bare_body[], bare_2[], bare_3[];

/* data: counts the questions. */
static bool bare_range(void *data, uintptr_t address, uintptr_t *ret_begin, uintptr_t *ret_end) {
    ++*(int *)data;
    if (address < at(case_bare) || address >= at(case_bare_end))
        return false;
    *ret_begin = at(case_bare);
    *ret_end = at(case_bare_end);
    return true;
}

/* But for what a trap shows, and what that leads to: there is a loop. */
static void assert_bare_is_unknown(void) {
    struct pie_access access;

    pie_decode_flush_cache();
    assert_int_equal(look(at(bare_2)), -ENOENT);
    assert_int_equal(pie_decode_trap(at(bare_2), some_registers(), some_registers()[SI], 8, &access), 0);
    assert_int_equal(access.ip, at(bare_body));
    assert_int_equal(look(at(case_bare)), -EILSEQ);
}

static void test_code_without_frame_information_has_the_bounds_of_its_symbol(void **state) {
    struct pie_access access;
    int questions = 0;

    assert_bare_is_unknown();
    pie_decode_flush_cache();
    pie_decode_set_range(bare_range, &questions);
    assert_int_equal(look(at(bare_2)), 0);
    assert_int_equal(block.low, at(bare_body));
    assert_int_equal(block.before, at(case_bare));
    assert_int_equal(block.count, 2);
    assert_int_equal(accesses[0].ip, at(bare_body));
    assert_int_equal(accesses[1].ip, at(bare_2));
    assert_int_equal(accesses[0].flags, L | B);
    assert_int_equal(pie_decode_trap(at(bare_2), some_registers(), some_registers()[SI], 8, &access), 0);
    assert_int_equal(access.ip, at(bare_body));
    assert_int_equal(pie_decode_trap(at(bare_3), some_registers(), some_registers()[SI] + 8, 8, &access), 0);
    assert_int_equal(access.ip, at(bare_2));
    assert_true(questions > 0);

    questions = 0;
    assert_int_equal(look(at(watched_5)), 0);
    assert_int_equal(questions, 0); /* call frame information goes first */
    assert_int_equal(look((uintptr_t)&case_data), -ENOENT);
    assert_int_equal(questions, 1);
    pie_decode_set_range(NULL, NULL);
    assert_bare_is_unknown();
}

static void test_unreadable_code_is_said(void **state) {
    struct pie_access access;
    void *page = (void *)(uintptr_t)at(case_unreadable);

    stepping_catch_faults();
    assert_int_equal(mprotect(page, 4096, PROT_NONE), 0);
    assert_int_equal(look(at(case_unreadable)), -EFAULT);
    assert_int_equal(pie_decode_trap(at(case_unreadable) + 3, some_registers(), 8, 8, &access), -EFAULT);
    assert_int_equal(mprotect(page, 4096, PROT_READ | PROT_EXEC), 0);
    pie_decode_flush_cache();
    assert_int_equal(look(at(case_unreadable)), 0);
    assert_int_equal(block.count, 1);
    /* What was swept once is looked at again where it stands. */
    assert_int_equal(mprotect(page, 4096, PROT_NONE), 0);
    assert_int_equal(look(at(case_unreadable)), -EFAULT);
    assert_int_equal(mprotect(page, 4096, PROT_READ | PROT_EXEC), 0);
}

static int set_up(void **state) {
    return pie_decode_is_available() ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_no_access_or_not_worth_watching_is_left_out),
        cmocka_unit_test(test_accesses_are_described),
        cmocka_unit_test(test_functions_have_an_end),
        cmocka_unit_test(test_addresses_are_computed),
        cmocka_unit_test(test_the_access_behind_a_trap_is_named),
        cmocka_unit_test(test_an_address_of_32_bits_is_cut),
        cmocka_unit_test(test_a_loop_of_six_accesses_has_these_six),
        cmocka_unit_test(test_branches_both_ways_and_calls_begin_blocks),
        cmocka_unit_test(test_a_loop_goes_through_jump_tables),
        cmocka_unit_test(test_a_lock_that_is_jumped_over_has_two_beginnings),
        cmocka_unit_test(test_data_between_the_code_does_no_harm),
        cmocka_unit_test(test_too_much_is_said),
        cmocka_unit_test(test_what_is_no_code_has_no_function),
        cmocka_unit_test(test_code_without_frame_information_has_the_bounds_of_its_symbol),
        cmocka_unit_test(test_unreadable_code_is_said),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
