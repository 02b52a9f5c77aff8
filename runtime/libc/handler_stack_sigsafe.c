/* SPDX-License-Identifier: Apache-2.0 */

/* The kernel puts a signal's frame onto the alternate stack that the thread has, which may be the program's: 8 KiB are
 * customary, and the frame alone takes up to half of it. What a handler of ours needs beside it is not the program's to
 * provide. So the handler changes to the slot's stack.
 *
 * From then on the stack pointer is off the alternate stack, and a further signal's frame would begin at its top again,
 * over that of the handler. So the slot's stack becomes the alternate one, which the kernel allows only to who has left
 * the other; between the two no signal may come. All are blocked in our handlers but for those of faults, and SIGTRAP
 * where registers are set by ptrace; these are for this moment, in which nothing is touched that could be watched. The
 * return from the handler makes the program's stack the alternate one again: the frame has it (uc_stack).
 *
 * On the way back nothing needs to be undone: nothing stands on the slot's stack any more when a signal comes that is
 * put there. */

#include "runtime/libc/handler_stack.h"

#include "profiler/thread/thread.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

struct change {
    const struct pie_thread *thread;
    void (*work)(void *);
    void *argument;
    uint64_t mask; /* to be restored */
};

/* begin(change) on the stack below `top`, which is a multiple of 16. */
__attribute__((naked, noinline)) static void call_on(char *top, void (*begin)(void *),
                                                     struct change *change) {
    __asm__("push %rbp\n\t"
            ".cfi_def_cfa_offset 16\n\t"
            ".cfi_offset %rbp, -16\n\t"
            "mov %rsp, %rbp\n\t"
            ".cfi_def_cfa_register %rbp\n\t"
            "mov %rdi, %rsp\n\t"
            "mov %rdx, %rdi\n\t"
            "call *%rsi\n\t"
            "mov %rbp, %rsp\n\t"
            "pop %rbp\n\t"
            ".cfi_def_cfa %rsp, 8\n\t"
            "ret");
}

static void begin(void *argument) {
    const struct change *change = argument;
    const struct pie_thread *thread = change->thread;
    stack_t ours = {.ss_sp = thread->stack, .ss_size = thread->stack_bytes};

    syscall(SYS_sigaltstack, &ours, NULL);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &change->mask, NULL, sizeof change->mask);
    change->work(change->argument);
}

static bool is_on(const struct pie_thread *thread) {
    return (uintptr_t)__builtin_frame_address(0) - (uintptr_t)thread->stack < thread->stack_bytes;
}

void pie_handler_stack_run(struct pie_thread *thread, void (*work)(void *), void *argument) {
    const uint64_t open =
        UINT64_C(1) << (SIGSEGV - 1) | UINT64_C(1) << (SIGBUS - 1) | UINT64_C(1) << (SIGTRAP - 1);
    struct change change = {.thread = thread, .work = work, .argument = argument};

    if (!thread->stack || is_on(thread)) {
        work(argument);
        return;
    }
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &open, &change.mask, sizeof change.mask);
    call_on(thread->stack + thread->stack_bytes, begin, &change);
}
