/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A call that may set a seccomp filter: seccomp(2), or prctl(2) with PR_SET_SECCOMP. Returns the kernel's result:
 * -errno for a failure. Context: hook. */
typedef long (*pie_syscall_filter_fn)(long number, long a, long b, long c, long d, long e);

/* Context: launcher (before main). */
void pie_syscall_set_filter(pie_syscall_filter_fn filter);

/* fork(2) past the C library. Returns the kernel's result. Context: hook. */
typedef long (*pie_syscall_fork_fn)(void);

/* Context: launcher (before main). */
void pie_syscall_set_fork(pie_syscall_fork_fn fork);

/* Ends of syscall(), for the assembler only: errno and -1 for -errno; a call to inspect. Context: signal. */
long pie_syscall_failed(long result);
/* Context: hook. */
long pie_syscall_filter(long number, long a, long b, long c, long d, long e);
/* Context: hook. */
long pie_syscall_fork(void);

/* The system call and nothing else. Context: signal. */
static inline long pie_syscall_raw(long number, long a, long b, long c, long d, long e) {
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
}
