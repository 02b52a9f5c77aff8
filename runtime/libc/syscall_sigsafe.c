/* SPDX-License-Identifier: Apache-2.0 */

/* The exported syscall(): as the C library's, but for calls that set a seccomp filter, which go by filter.c, and fork,
 * which goes by children.c. Eight instructions more than there; handlers of ours use it too. x86-64 only, as all of the
 * profiler.
 *
 * System V ABI: the number and five arguments come in registers, the sixth on the stack; the kernel takes the fourth in
 * R10 instead of RCX, which SYSCALL overwrites. */

#include "runtime/libc/syscall.h"

#include "runtime/libc/export.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define STRINGIFY(x) #x
#define STRING(x) STRINGIFY(x)

/* Until filter.c is there nothing is seen. Written once, before main. */
static pie_syscall_filter_fn on_filter;

void pie_syscall_set_filter(pie_syscall_filter_fn filter) {
    on_filter = filter;
}

/* As above, of children.c. */
static pie_syscall_fork_fn on_fork;

void pie_syscall_set_fork(pie_syscall_fork_fn fork) {
    on_fork = fork;
}

/* All are jumped to from below. */
__attribute__((used)) long pie_syscall_failed(long result) {
    errno = (int)-result;
    return -1;
}

__attribute__((used)) long pie_syscall_filter(long number, long a, long b, long c, long d, long e) {
    pie_syscall_filter_fn filter = on_filter;
    long r = filter ? filter(number, a, b, c, d, e) : pie_syscall_raw(number, a, b, c, d, e);

    return r < 0 && r > -4096 ? pie_syscall_failed(r) : r;
}

__attribute__((used)) long pie_syscall_fork(void) {
    pie_syscall_fork_fn fork = on_fork;
    long r = fork ? fork() : pie_syscall_raw(SYS_fork, 0, 0, 0, 0, 0);

    return r < 0 ? pie_syscall_failed(r) : r;
}

/* Not as unistd.h declares it, with an ellipsis: for one, gcc -O0 stores the registers relative to RBP even in a naked
 * function, which set no frame up, and so writes over the caller's. */
PIE_EXPORT long syscall(void);

/* clang-format off */
__attribute__((naked)) long syscall(void) {
    __asm__("cmpq $" STRING(__NR_seccomp) ", %rdi\n\t"
            "je pie_syscall_filter\n\t"
            "cmpq $" STRING(__NR_fork) ", %rdi\n\t"
            "je pie_syscall_fork\n\t"
            "cmpq $" STRING(__NR_prctl) ", %rdi\n\t"
            "je 2f\n"
            "1:\n\t"
            "movq %rdi, %rax\n\t"
            "movq %rsi, %rdi\n\t"
            "movq %rdx, %rsi\n\t"
            "movq %rcx, %rdx\n\t"
            "movq %r8, %r10\n\t"
            "movq %r9, %r8\n\t"
            "movq 8(%rsp), %r9\n\t"
            "syscall\n\t"
            "cmpq $-4095, %rax\n\t"
            "jae 3f\n\t"
            "ret\n"
            "2:\n\t"
            "cmpl $" STRING(PR_SET_SECCOMP) ", %esi\n\t" /* an int: what is above it is anything */
            "jne 1b\n\t"
            "jmp pie_syscall_filter\n"
            "3:\n\t"
            "movq %rax, %rdi\n\t"
            "jmp pie_syscall_failed\n\t");
}
/* clang-format on */
