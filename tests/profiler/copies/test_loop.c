/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/copies/loop.h"

#include "profiler/code/access.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

/* Functions as compilers make them, with the label NAME_at inside what is asked about. */
#define CODE(name, text)                                                                                     \
    void code_##name(void);                                                                                  \
    extern const char name##_at[];                                                                           \
    __asm__(".text\n.globl code_" #name "\n.type code_" #name ", @function\ncode_" #name                     \
            ":\n.cfi_startproc\n" text "\n.cfi_endproc\n.size code_" #name ", . - code_" #name "\n")
#define AT(name) #name "_at:\n.globl " #name "_at\n"

/* --- Copies --- */

CODE(strided,
     "1: mov (%rax), %r8\n add %rcx, %rax\n" AT(
         strided) "mov %r8, (%rsi,%r9,8)\n mov (%rax), %rdx\n"
                  "add %rcx, %rax\n mov %rdx, 8(%rsi,%r9,8)\n add $2, %r9\n cmp %rdi, %r9\n jne 1b\n ret");
CODE(into_stride, "1: mov (%rsi), %eax\n add $4, %rsi\n" AT(
                      into_stride) "mov %eax, (%rdi)\n add %rdx, %rdi\n"
                                   "mov (%rsi), %eax\n add $4, %rsi\n mov %eax, (%rdi)\n add %rdx, %rdi\n "
                                   "sub $2, %rcx\n jne 1b\n ret");
CODE(cast,
     "1: movupd (%rcx,%rax,2), %xmm2\n movupd 16(%rcx,%rax,2), %xmm3\n cvtpd2ps %xmm2, %xmm0\n"
     "cvtpd2ps %xmm3, %xmm1\n movlhps %xmm1, %xmm0\n" AT(cast) "movups %xmm0, (%rdi,%rax)\n add $16, %rax\n"
                                                               "cmp %rsi, %rax\n jb 1b\n ret");
CODE(widened,
     "1: movdqu (%rcx), %xmm0\n pxor %xmm4, %xmm4\n movdqa %xmm4, %xmm3\n pcmpgtw %xmm0, %xmm3\n"
     "movdqa %xmm0, %xmm2\n punpcklwd %xmm3, %xmm2\n" AT(
         widened) "cvtdq2ps %xmm2, %xmm2\n"
                  "movups %xmm2, (%rdi)\n add $8, %rcx\n add $16, %rdi\n cmp %rsi, %rdi\n jne 1b\n ret");
CODE(swapped, "1: mov (%rdi,%rax,8), %rdx\n" AT(swapped) "bswap %rdx\n mov %rdx, (%rsi,%rax,8)\n inc %rax\n"
                                                         "cmp %rax, %rcx\n jne 1b\n ret");
CODE(taken, "1: mov (%rsi,%rax,8), %rbx\n cmp %rbx, %rbp\n jle 2f\n test %rbx, %rbx\n lea (%rbx,%rbp), %rdx\n"
            "cmovs %rdx, %rbx\n add $1, %rax\n add $8, %rdi\n" AT(
                taken) "mov (%r10,%rbx,8), %rdx\n"
                       "mov %rdx, -8(%rdi)\n cmp %rax, %r8\n jne 1b\n2: ret");
CODE(scattered,
     "1: mov (%rbx), %rdx\n mov (%r13), %rcx\n add %r12, %rbx\n add %rsi, %r13\n imul %r9, %rdx\n" AT(
         scattered) "mov %rcx, (%r8,%rdx)\n sub $1, %rax\n jae 1b\n ret");
CODE(chosen,
     "jmp 2f\n1: mov (%rax), %rdx\n3:" AT(
         chosen) "mov %rdx, (%rbp,%r9,8)\n add $1, %r9\n add %rsi, %rax\n"
                 "add %rdi, %r8\n add %r13, %rbx\n cmp %r9, %r12\n je 4f\n2: cmpb $0, (%rbx)\n jne 1b\n"
                 "mov (%r8), %rdx\n jmp 3b\n4: ret");
CODE(repeated, AT(repeated) "rep movsb\n ret");
CODE(short_calls,
     "mov (%rdx), %r8\n mov 8(%rsi), %rdx\n mov (%rsi), %rax\n mov (%rcx), %rcx\n lea (%rdx,%r8), %rdi\n"
     "test $1, %r8\n je 1f\n movzbl (%rax), %r10d\n" AT(
         short_calls) "add $1, %rdx\n add %rcx, %rax\n"
                      "mov %r10b, -1(%rdx)\n cmp %rdx, %rdi\n je 2f\n1: movzbl (%rax), %r11d\n add %rcx, "
                      "%rax\n"
                      "mov %r11b, (%rdx)\n movzbl (%rax), %r8d\n add %rcx, %rax\n mov %r8b, 1(%rdx)\n add "
                      "$2, %rdx\n"
                      "cmp %rdx, %rdi\n jne 1b\n2: xor %eax, %eax\n ret");

/* --- Others --- */

CODE(sum, "1: movupd (%rcx,%rax), %xmm2\n addpd %xmm1, %xmm2\n" AT(
              sum) "movups %xmm2, (%rdi,%rax)\n"
                   "add $16, %rax\n cmp %rsi, %rax\n jb 1b\n ret");
CODE(sum_of_memory,
     "1: movsd (%rcx,%rax), %xmm2\n addsd (%rdx,%rax), %xmm2\n" AT(
         sum_of_memory) "movsd %xmm2, (%rdi,%rax)\n add $8, %rax\n cmp %rsi, %rax\n jb 1b\n ret");
CODE(negated, "1: movapd (%rax,%rdi,8), %xmm0\n xorpd %xmm1, %xmm0\n" AT(
                  negated) "movaps %xmm0, (%rdx,%rdi,8)\n"
                           "add $2, %rdi\n cmp %rsi, %rdi\n jl 1b\n ret");
CODE(absolute, "1: movupd (%rdx), %xmm0\n andpd %xmm1, %xmm0\n" AT(
                   absolute) "movups %xmm0, (%rdi)\n add $16, %rdx\n"
                             "add $16, %rdi\n cmp %rdi, %rsi\n jne 1b\n ret");
CODE(masked_bits, "1: movdqu (%rdx), %xmm0\n pand %xmm1, %xmm0\n" AT(
                      masked_bits) "movups %xmm0, (%rdi)\n"
                                   "add $16, %rdx\n add $16, %rdi\n cmp %rdi, %rsi\n jne 1b\n ret");
CODE(halved,
     "1: movdqu (%rdx), %xmm0\n psrlw $1, %xmm0\n pand %xmm1, %xmm0\n packuswb %xmm0, %xmm0\n" AT(
         halved) "movups %xmm0, (%rdi)\n add $16, %rdx\n add $16, %rdi\n cmp %rdi, %rsi\n jne 1b\n ret");
CODE(shifted,
     "1: movdqu (%rsi,%rax), %xmm0\n movdqa %xmm3, %xmm1\n pcmpgtd %xmm0, %xmm1\n psrlq %xmm5, %xmm0\n"
     "psllq %xmm2, %xmm1\n por %xmm1, %xmm0\n" AT(shifted) "movups %xmm0, (%rdx,%rax)\n add $16, %rax\n"
                                                           "cmp %rdi, %rax\n jne 1b\n ret");
CODE(insertion, "1: movsd -8(%rcx), %xmm0\n lea -8(%rcx), %rsi\n comisd %xmm1, %xmm0\n jbe 2f\n" AT(
                    insertion) "movsd %xmm0, (%rcx)\n mov %rsi, %rcx\n jmp 1b\n2: ret");
CODE(index_sort, "1: mov -8(%rdx), %rcx\n movsd (%rax,%rcx,8), %xmm0\n comisd %xmm1, %xmm0\n jbe 2f\n" AT(
                     index_sort) "mov %rcx, (%rdx)\n sub $8, %rdx\n jmp 1b\n2: ret");
CODE(signs, "jmp 2f\n1: movq 3f(%rip), %xmm0\n4: add $1, %rdx\n" AT(
                signs) "movsd %xmm0, (%rcx)\n add %r9, %rax\n"
                       "add %r10, %rcx\n cmp %rdx, %r8\n je 5f\n2: movsd (%rax), %xmm0\n comisd %xmm1, "
                       "%xmm0\n ja 1b\n jmp 4b\n"
                       "5: ret\n3: .quad 1");
CODE(in_place,
     "1: mov (%rdi), %rax\n bswap %rax\n" AT(in_place) "mov %rax, (%rdi)\n add %rsi, %rdi\n sub $1, %r8\n"
                                                       "jne 1b\n ret");
CODE(filled, "1:" AT(filled) "mov %rax, (%rdi)\n add $8, %rdi\n cmp %rdi, %rsi\n jne 1b\n ret");
CODE(read_only,
     "1: cmpb $0, (%rbx)\n" AT(read_only) "jne 2f\n add $1, %rbx\n cmp %rbx, %rax\n jne 1b\n2: ret");
CODE(calling,
     "1: mov (%rdi), %rax\n mov %rax, (%rsi)\n" AT(calling) "call code_filled\n add $8, %rdi\n add $8, %rsi\n"
                                                            "cmp %rdi, %rdx\n jne 1b\n ret");
CODE(listed,
     "1: mov (%rdi), %rax\n" AT(listed) "mov %rax, (%rsi)\n mov %rax, %rdi\n add $8, %rsi\n test %rax, %rax\n"
                                        "jne 1b\n ret");
CODE(straight, "mov (%rdi), %rax\n" AT(straight) "mov %rax, (%rsi)\n ret");

static void copies(const char *at, struct pie_copy_site *ret_site) {
    assert_int_equal(pie_copy_loop_analyse((uintptr_t)at, ret_site), 0);
}

/* First of all tests: a table that nothing is in is not gone through, which would touch its 32 pages. */
static void test_an_empty_table_is_left_untouched(void **state) {
    struct rusage before, after;

    assert_int_equal(getrusage(RUSAGE_THREAD, &before), 0);
    pie_copy_sites_forget();
    assert_int_equal(getrusage(RUSAGE_THREAD, &after), 0);
    assert_in_range(after.ru_minflt - before.ru_minflt, 0, 15);
}

static void test_a_strided_copy(void **state) {
    struct pie_copy_site site;

    copies(strided_at, &site);
    assert_int_equal(site.function, (uintptr_t)code_strided);
    assert_int_equal(site.flags, PIE_COPY_IN_LOOP | PIE_COPY_TRACKED);
    assert_int_equal(site.base, PIE_ACCESS_RSI);
    assert_int_equal(site.index, 9);
    assert_int_equal(site.scale, 8);
    assert_int_equal(site.step_bytes, 16);
    assert_int_equal(site.step_register, PIE_COPY_NO_REGISTER);
    assert_int_equal(site.round_bytes, 16);
}

static void test_a_copy_to_a_strided_destination(void **state) {
    struct pie_copy_site site;

    copies(into_stride_at, &site);
    assert_int_equal(site.base, PIE_ACCESS_RDI);
    assert_int_equal(site.step_bytes, 0);
    assert_int_equal(site.step_register, PIE_ACCESS_RDX);
    assert_int_equal(site.step_factor, 2);
    assert_int_equal(site.round_bytes, 8);
}

static void test_conversions(void **state) {
    struct pie_copy_site site;

    copies(cast_at, &site);
    assert_int_equal(site.step_bytes, 16);
    assert_int_equal(site.round_bytes, 16);
    copies(widened_at, &site);
    assert_int_equal(site.round_bytes, 16);
    copies(swapped_at, &site);
    assert_int_equal(site.step_bytes, 8);
}

static void test_gathering_is_recognized_by_its_destination(void **state) {
    struct pie_copy_site site;

    copies(taken_at, &site);
    assert_int_equal(site.base, PIE_ACCESS_RDI);
    assert_int_equal(site.disp, -8);
    assert_int_equal(site.step_bytes, 8);
}

static void test_scattering_is_recognized_by_a_source(void **state) {
    struct pie_copy_site site;

    copies(scattered_at, &site);
    assert_int_equal(site.base, PIE_ACCESS_RBX);
    assert_int_equal(site.step_register, 12);
    assert_int_equal(site.round_bytes, 8);
}

static void test_a_choice_between_two_arrays(void **state) {
    struct pie_copy_site site;

    copies(chosen_at, &site);
    assert_int_equal(site.base, PIE_ACCESS_RBP);
    assert_int_equal(site.step_bytes, 8);
}

static void test_a_repeated_move(void **state) {
    struct pie_copy_site site;

    copies(repeated_at, &site);
    assert_int_equal(site.base, PIE_ACCESS_RDI);
    assert_int_equal(site.step_bytes, site.round_bytes);
}

static void test_what_stands_around_the_loop_of_a_copying_function(void **state) {
    struct pie_copy_site site;

    copies(short_calls_at, &site);
    assert_int_equal(site.flags, PIE_COPY_TRACKED);
    assert_int_equal(site.base, PIE_ACCESS_RDX);
    assert_int_equal(site.disp, -1);
}

static void test_what_is_no_copy(void **state) {
    const char *const others[] = {sum_at,         sum_of_memory_at, negated_at,  absolute_at,
                                  masked_bits_at, halved_at,        shifted_at,  insertion_at,
                                  index_sort_at,  signs_at,         in_place_at, filled_at,
                                  read_only_at,   calling_at,       listed_at,   straight_at};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct pie_copy_site site;
        if (pie_copy_loop_analyse((uintptr_t)others[i], &site) != -ENOENT)
            fail_msg("number %zu is taken for a copy", i);
    }
}

static void test_sites_are_found_until_they_are_forgotten(void **state) {
    const struct pie_copy_site made = {.function = 77};
    uint16_t generation = pie_copy_sites_generation();

    assert_int_equal(pie_copy_site_find(1000), PIE_COPY_SITE_NONE); /* nobody looks */
    pie_copy_sites_set(true);
    assert_int_equal(pie_copy_site_find(1000), PIE_COPY_SITE_UNKNOWN);
    int number = pie_copy_site_put(1000, &made);
    assert_true(number > 0);
    assert_int_equal(pie_copy_site_put(1001, NULL), PIE_COPY_SITE_NONE);
    assert_int_equal(pie_copy_site_find(1000), number);
    assert_int_equal(pie_copy_site_find(1001), PIE_COPY_SITE_NONE);
    assert_int_equal(pie_copy_site_at(number)->function, 77);
    pie_copy_sites_forget();
    assert_int_equal(pie_copy_site_find(1000), PIE_COPY_SITE_UNKNOWN);
    assert_int_not_equal(pie_copy_sites_generation(), generation);
    pie_copy_sites_set(false);
}

static void test_a_full_table_is_no_longer_asked_for(void **state) {
    const struct pie_copy_site made = {.function = 77};
    int r = 0;

    pie_copy_sites_set(true);
    for (uint64_t ip = 1; r >= 0 && ip < 100000; ip++)
        r = pie_copy_site_put(ip * 16, ip < PIE_COPY_SITES_MAX ? &made : NULL);
    assert_true(r < 0);
    assert_int_equal(pie_copy_site_find(UINT64_C(1) << 40), PIE_COPY_SITE_NONE);
    pie_copy_sites_forget();
    assert_int_equal(pie_copy_site_find(UINT64_C(1) << 40), PIE_COPY_SITE_UNKNOWN);
    pie_copy_sites_set(false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_empty_table_is_left_untouched),
        cmocka_unit_test(test_a_strided_copy),
        cmocka_unit_test(test_a_copy_to_a_strided_destination),
        cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_gathering_is_recognized_by_its_destination),
        cmocka_unit_test(test_scattering_is_recognized_by_a_source),
        cmocka_unit_test(test_a_choice_between_two_arrays),
        cmocka_unit_test(test_a_repeated_move),
        cmocka_unit_test(test_what_stands_around_the_loop_of_a_copying_function),
        cmocka_unit_test(test_what_is_no_copy),
        cmocka_unit_test(test_sites_are_found_until_they_are_forgotten),
        cmocka_unit_test(test_a_full_table_is_no_longer_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
