/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/base/safe_load.h"

#include <string.h>

/* The load must be one known instruction, so it is written in assembly: a compiler may move, duplicate or
 * widen a load in C. The function touches no stack and no callee-saved register, so the fault handler repairs
 * it by changing the program counter alone: control goes on at the second entry, which returns false before
 * anything was stored.
 *
 * A sanitizer's instrumentation does not reach assembly either, which is what we want: the address may be
 * poison. */
extern const char pie_safe_load_at[], pie_safe_load_failed[];
extern const char pie_safe_load_byte_at[], pie_safe_load_byte_failed[];
extern const char pie_safe_equal_a[], pie_safe_equal_b[], pie_safe_equal_failed[];
extern const char pie_safe_words_at[], pie_safe_words_failed[];

#define LOADER(name, type, load, store, succeed, fail)                                                       \
    __asm__(".pushsection .text\n"                                                                           \
            ".globl " name ", " name "_at, " name "_failed\n"                                                \
            ".hidden " name ", " name "_at, " name "_failed\n"                                               \
            ".type " name ", " type "\n"                                                                     \
            ".p2align 4\n" name ":\n"                                                                        \
            ".cfi_startproc\n" name "_at:\n" load "\n" store "\n" succeed "\n"                               \
            "    ret\n" name "_failed:\n" fail "\n"                                                          \
            "    ret\n"                                                                                      \
            ".cfi_endproc\n"                                                                                 \
            ".size " name ", . - " name "\n"                                                                 \
            ".popsection\n")

/* The same for a loop over two loads. */
#define COMPARER(type, begin, load_a, load_b, next, succeed, fail)                                           \
    __asm__(".pushsection .text\n"                                                                           \
            ".globl pie_safe_equal, pie_safe_equal_a, pie_safe_equal_b, pie_safe_equal_failed\n"             \
            ".hidden pie_safe_equal, pie_safe_equal_a, pie_safe_equal_b, pie_safe_equal_failed\n"            \
            ".type pie_safe_equal, " type "\n"                                                               \
            ".p2align 4\n"                                                                                   \
            "pie_safe_equal:\n"                                                                              \
            ".cfi_startproc\n" begin "\n"                                                                    \
            "pie_safe_equal_a:\n" load_a "\n"                                                                \
            "pie_safe_equal_b:\n" load_b "\n" next "\n"                                                      \
            "2:\n" succeed "\n"                                                                              \
            "    ret\n"                                                                                      \
            "pie_safe_equal_failed:\n" fail "\n"                                                             \
            "    ret\n"                                                                                      \
            ".cfi_endproc\n"                                                                                 \
            ".size pie_safe_equal, . - pie_safe_equal\n"                                                     \
            ".popsection\n")

/* The same for a loop that loads and stores, whose load is `load`. */
#define COPIER(type, begin, load, next, succeed, fail)                                                       \
    __asm__(".pushsection .text\n"                                                                           \
            ".globl pie_safe_words, pie_safe_words_at, pie_safe_words_failed\n"                              \
            ".hidden pie_safe_words, pie_safe_words_at, pie_safe_words_failed\n"                             \
            ".type pie_safe_words, " type "\n"                                                               \
            ".p2align 4\n"                                                                                   \
            "pie_safe_words:\n"                                                                              \
            ".cfi_startproc\n" begin "\n"                                                                    \
            "pie_safe_words_at:\n" load "\n" next "\n"                                                       \
            "2:\n" succeed "\n"                                                                              \
            "    ret\n"                                                                                      \
            "pie_safe_words_failed:\n" fail "\n"                                                             \
            "    ret\n"                                                                                      \
            ".cfi_endproc\n"                                                                                 \
            ".size pie_safe_words, . - pie_safe_words\n"                                                     \
            ".popsection\n")

#if defined(__x86_64__)
LOADER("pie_safe_load", "@function", "mov (%rdi), %rax", "mov %rax, (%rsi)", "mov $1, %eax",
       "xor %eax, %eax");
LOADER("pie_safe_load_byte", "@function", "movzbl (%rdi), %eax", "mov %al, (%rsi)", "mov $1, %eax",
       "xor %eax, %eax");
COMPARER("@function", "test %rdx, %rdx\njz 2f", "mov (%rdi), %rax", "cmp (%rsi), %rax",
         "jne pie_safe_equal_failed\nadd $8, %rdi\nadd $8, %rsi\ndec %rdx\njnz pie_safe_equal_a",
         "mov $1, %eax", "xor %eax, %eax");
COPIER("@function", "test %rdx, %rdx\njz 2f", "mov (%rsi), %rax",
       "mov %rax, (%rdi)\nadd $8, %rsi\nadd $8, %rdi\ndec %rdx\njnz pie_safe_words_at", "mov $1, %eax",
       "xor %eax, %eax");
#elif defined(__aarch64__)
LOADER("pie_safe_load", "%function", "ldr x2, [x0]", "str x2, [x1]", "mov w0, #1", "mov w0, #0");
LOADER("pie_safe_load_byte", "%function", "ldrb w2, [x0]", "strb w2, [x1]", "mov w0, #1", "mov w0, #0");
COMPARER("%function", "cbz x2, 2f", "ldr x3, [x0]", "ldr x4, [x1]",
         "cmp x3, x4\nb.ne pie_safe_equal_failed\nadd x0, x0, #8\nadd x1, x1, #8\nsubs x2, x2, #1\n"
         "b.ne pie_safe_equal_a",
         "mov w0, #1", "mov w0, #0");
COPIER("%function", "cbz x2, 2f", "ldr x3, [x1]",
       "str x3, [x0]\nadd x1, x1, #8\nadd x0, x0, #8\nsubs x2, x2, #1\nb.ne pie_safe_words_at", "mov w0, #1",
       "mov w0, #0");
#else
#error "pie_safe_load is written for x86-64 and AArch64: add this machine's three instructions"
#endif

uintptr_t pie_safe_load_fix(uintptr_t pc) {
    if (pc == (uintptr_t)pie_safe_load_byte_at)
        return (uintptr_t)pie_safe_load_byte_failed;
    if (pc == (uintptr_t)pie_safe_equal_a || pc == (uintptr_t)pie_safe_equal_b)
        return (uintptr_t)pie_safe_equal_failed;
    if (pc == (uintptr_t)pie_safe_words_at)
        return (uintptr_t)pie_safe_words_failed;
    return pc == (uintptr_t)pie_safe_load_at ? (uintptr_t)pie_safe_load_failed : 0;
}

/* Some bytes of one aligned word. */
static bool copy_part(char *out, uintptr_t word_at, size_t skip, size_t size) {
    char bytes[sizeof(uintptr_t)];
    uintptr_t word;

    if (!pie_safe_load((const void *)word_at, &word))
        return false;
    memcpy(bytes, &word, sizeof word);
    for (size_t i = 0; i < size; i++)
        out[i] = bytes[skip + i];
    return true;
}

/* Loads aligned words only: one never crosses into a page that none of the wanted bytes is in. */
bool pie_safe_copy(void *dst, const void *src, size_t size) {
    uintptr_t at = (uintptr_t)src;
    char *out = dst;
    size_t skip = at % sizeof(uintptr_t), part = skip ? sizeof(uintptr_t) - skip : 0;

    part = part < size ? part : size;
    if (part && !copy_part(out, at - skip, skip, part))
        return false;
    at += part;
    out += part;
    size -= part;
    size_t rest = size % sizeof(uintptr_t), whole = size - rest;
    return pie_safe_words(out, (const void *)at, whole / sizeof(uintptr_t)) &&
           (!rest || copy_part(out + whole, at + whole, 0, rest));
}
