/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/safe_load.h"

#include <string.h>

/* The load must be one known instruction, so it is written in assembly: a compiler may move, duplicate or
 * widen a load in C. The function touches no stack and no callee-saved register, so the fault handler repairs
 * it by changing the program counter alone: control goes on at the second entry, which returns false before
 * anything was stored.
 *
 * A sanitizer's instrumentation does not reach assembly either, which is what we want: the address may be
 * poison. */
extern const char pie_safe_load_at[];
extern const char pie_safe_load_failed[];

#if defined(__x86_64__)
__asm__(".pushsection .text\n"
        ".globl pie_safe_load, pie_safe_load_at, pie_safe_load_failed\n"
        ".hidden pie_safe_load, pie_safe_load_at, pie_safe_load_failed\n"
        ".type pie_safe_load, @function\n"
        ".p2align 4\n"
        "pie_safe_load:\n"
        ".cfi_startproc\n"
        "pie_safe_load_at:\n"
        "    mov (%rdi), %rax\n"
        "    mov %rax, (%rsi)\n"
        "    mov $1, %eax\n"
        "    ret\n"
        "pie_safe_load_failed:\n"
        "    xor %eax, %eax\n"
        "    ret\n"
        ".cfi_endproc\n"
        ".size pie_safe_load, . - pie_safe_load\n"
        ".popsection\n");
#elif defined(__aarch64__)
__asm__(".pushsection .text\n"
        ".globl pie_safe_load, pie_safe_load_at, pie_safe_load_failed\n"
        ".hidden pie_safe_load, pie_safe_load_at, pie_safe_load_failed\n"
        ".type pie_safe_load, %function\n"
        ".p2align 4\n"
        "pie_safe_load:\n"
        ".cfi_startproc\n"
        "pie_safe_load_at:\n"
        "    ldr x2, [x0]\n"
        "    str x2, [x1]\n"
        "    mov w0, #1\n"
        "    ret\n"
        "pie_safe_load_failed:\n"
        "    mov w0, #0\n"
        "    ret\n"
        ".cfi_endproc\n"
        ".size pie_safe_load, . - pie_safe_load\n"
        ".popsection\n");
#else
#error "pie_safe_load is written for x86-64 and AArch64: add this machine's three instructions"
#endif

uintptr_t pie_safe_load_fix(uintptr_t pc) {
    return pc == (uintptr_t)pie_safe_load_at ? (uintptr_t)pie_safe_load_failed : 0;
}

/* Loads aligned words only: one never crosses into a page that none of the wanted bytes is in. */
bool pie_safe_copy(void *dst, const void *src, size_t size) {
    uintptr_t at = (uintptr_t)src;
    char *out = dst;

    while (size) {
        size_t skip = at % sizeof(uintptr_t);
        size_t part = sizeof(uintptr_t) - skip;
        uintptr_t word;

        if (part > size)
            part = size;
        if (!pie_safe_load((const void *)(at - skip), &word))
            return false;
        memcpy(out, (const char *)&word + skip, part);
        out += part;
        at += part;
        size -= part;
    }
    return true;
}
