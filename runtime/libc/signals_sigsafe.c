/* SPDX-License-Identifier: Apache-2.0 */

/* Our handlers. Both follow one order: save errno; is this delivery ours? if not, do what would have happened without
 * us; guard; work; unguard; restore errno.
 *
 * A delivery that is not ours goes to the program's virtual disposition. Default action: the real disposition is set to
 * the default and the signal raised again (sent ones) or the faulting instruction run again (faults), so that the
 * process ends as it would have, with the same status and a core that shows the culprit and not us. */

#include "runtime/libc/signals.h"

#include "profiler/base/counters.h"
#include "profiler/base/safe_load.h"
#include "profiler/collect/collection.h"
#include "profiler/collect/sample.h"
#include "profiler/thread/thread.h"
#include "profiler/time/clock.h"
#include "profiler/time/clock_perf.h"
#include "profiler/time/clock_price.h"
#include "profiler/watch/debug_registers.h"
#include "profiler/watch/sampler.h"
#include "profiler/watch/watch.h"
#include "runtime/libc/handler_stack.h"
#include "runtime/libc/signals_state.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In older headers not yet defined: SS_AUTODISARM of include/uapi/linux/signal.h. */
static const int DISARMS_ITSELF = (int)(1U << 31);

static bool is_fault(int signal) {
    return signal == SIGSEGV || signal == SIGBUS;
}

static void send_to_self(int signal, const siginfo_t *info) {
    syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid), signal, info);
}

static void reset_and_repeat(int signal, siginfo_t *info) {
    struct sigaction action = {.sa_handler = SIG_DFL};

    pie_real_sigaction(signal, &action, NULL);
    /* A fault comes again by itself. All else waits until we return. */
    if (!is_fault(signal) || info->si_code <= 0 || info->si_code == SI_KERNEL)
        send_to_self(signal, info);
}

/* The mask under which the program's handler expects to run; the return from ours ends it. Signals of faulting loads
 * stay open. */
static void take_mask(int signal, const struct sigaction *action, const ucontext_t *ucontext) {
    uint64_t mask, more;

    memcpy(&mask, &ucontext->uc_sigmask, sizeof mask);
    memcpy(&more, &action->sa_mask, sizeof more);
    mask |= more;
    if (!(action->sa_flags & SA_NODEFER))
        mask |= UINT64_C(1) << (signal - 1);
    mask &= ~(UINT64_C(1) << (SIGSEGV - 1) | UINT64_C(1) << (SIGBUS - 1));
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
}

/* The program believes to have this signal blocked on this thread: it must stay pending, for a later unblocking or a
 * sigwait(). So it is blocked in truth and sent again. No sample can be taken on the thread until the program changes
 * its mask. One that was sent to the process may still be taken by another thread. */
static bool hold_if_blocked(int signal, siginfo_t *info, ucontext_t *ucontext) {
    if (!(pie_signals_virtual_mask() & pie_signals_bit(signal)) || (is_fault(signal) && info->si_code > 0))
        return false;
    sigaddset(&ucontext->uc_sigmask, signal);
    if (info->si_code == SI_TKILL) {
        pie_signals_hold(signal, info);
        send_to_self(signal, info);
    } else if (syscall(SYS_rt_sigqueueinfo, getpid(), signal, info) != 0)
        syscall(SYS_kill, getpid(), signal); /* its origin only the main thread may say */
    return true;
}

/* A hit of a debug register whose reason was lost: of some millions on a busy virtual machine, one reaches the kernel
 * with nothing in DR6. It takes that for an int1 of the program's (TRAP_BRKPT; arch/x86/kernel/traps.c,
 * exc_debug_user()), or, where the register has been given to another thread meanwhile, for a debugger's (TRAP_HWBKPT).
 * A breakpoint on an instruction is hit again at once; of a word, one access is missed. An int1 is a trap and RIP
 * behind it, but some virtual machines on AMD processors report it as a fault: then RIP is at it, and without an end it
 * would be executed again for ever. */
static bool is_lost_hit(int signal, const siginfo_t *info, const ucontext_t *ucontext) {
    enum { INT1 = 0xf1 };
    const char *pc = (const char *)(uintptr_t)ucontext->uc_mcontext.gregs[REG_RIP];
    uint8_t before = 0, at = 0;

    if (signal != SIGTRAP || (info->si_code != TRAP_BRKPT && info->si_code != TRAP_HWBKPT))
        return false;
    pie_safe_copy(&before, pc - 1, 1);
    pie_safe_copy(&at, pc, 1);
    return before != INT1 && at != INT1;
}

static void yield(void *thread) {
    pie_watch_yield(thread);
}

/* The program's handler is to find the alternate stack that it had. */
static void yield_on_own_stack(struct pie_thread *thread, const ucontext_t *ucontext) {
    stack_t before = ucontext->uc_stack;

    if (before.ss_flags & DISARMS_ITSELF)
        before = (stack_t){.ss_flags = SS_DISABLE};
    pie_handler_stack_run(thread, yield, thread);
    syscall(SYS_sigaltstack, &before, NULL); /* refused where it still is */
}

/* A SIGTRAP of the program's is handled with that signal blocked, and no register of ours may fire then. */
static void close_trap(const ucontext_t *ucontext) {
    uint64_t bit = pie_signals_bit(SIGTRAP);
    struct pie_thread *thread = pie_thread_self();

    if (thread && pie_debug_ptrace_is_used())
        yield_on_own_stack(thread, ucontext);
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &bit, NULL, sizeof bit);
}

/* One of ours that has just been handled may have come before the program's in the queue, which lost that one. It is
 * sent again; where it waits already, that changes nothing. */
static void send_held(int signal, ucontext_t *ucontext) {
    const siginfo_t *info = pie_signals_held(signal);
    siginfo_t copy;

    if (!info)
        return;
    copy = *info;
    if (signal == SIGTRAP)
        close_trap(ucontext);
    if (pie_signals_virtual_mask() & pie_signals_bit(signal))
        sigaddset(&ucontext->uc_sigmask, signal);
    send_to_self(signal, &copy);
}

/* What the program wants done with a delivery that is not ours. */
static void forward(int signal, siginfo_t *info, void *context) {
    struct sigaction action = *pie_signals_virtual(signal);

    if (is_lost_hit(signal, info, context)) {
        pie_counter_add(PIE_COUNTER_WATCH_STRAY_TRAPS, 1);
        return;
    }
    if (signal == SIGTRAP)
        close_trap(context);
    if (hold_if_blocked(signal, info, context))
        return;
    pie_signals_let_go(signal);
    if (action.sa_flags & SA_RESETHAND)
        pie_signals_set_virtual(signal, &(struct sigaction){.sa_handler = SIG_DFL});
    if (action.sa_handler == SIG_IGN) {
        if (is_fault(signal) && info->si_code > 0) /* the kernel does not ignore a fault */
            reset_and_repeat(signal, info);
    } else if (action.sa_handler == SIG_DFL) {
        reset_and_repeat(signal, info);
    } else {
        take_mask(signal, &action, context);
        if (action.sa_flags & SA_SIGINFO)
            action.sa_sigaction(signal, info, context);
        else
            action.sa_handler(signal);
    }
}

/* The calls that wait and are restarted or not as the handler wants (signal(7)). Others are always restarted when a
 * signal interrupts them, such as fork() and mmap(): no program expects EINTR from these. */
static bool may_end_with_eintr(greg_t number) {
    switch (number) {
    case SYS_read:
    case SYS_readv:
    case SYS_write:
    case SYS_writev:
    case SYS_ioctl:
    case SYS_open:
    case SYS_openat:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_sendfile:
    case SYS_splice:
    case SYS_flock:
    case SYS_fcntl:
    case SYS_mq_timedsend:
    case SYS_mq_timedreceive:
    case SYS_futex:
    case SYS_getrandom:
        return true;
    default:
        return false;
    }
}

/* At a SYSCALL instruction that has been executed: it leaves its return address in RCX and the flags in R11. One that
 * has not been looks otherwise, but for chance. */
static bool is_at_restart(const greg_t *gregs) {
    uint8_t bytes[2];

    return pie_safe_copy(bytes, (const void *)(uintptr_t)gregs[REG_RIP], 2) && bytes[0] == 0x0f &&
           bytes[1] == 0x05 && gregs[REG_RCX] == gregs[REG_RIP] + 2 && gregs[REG_R11] == gregs[REG_EFL];
}

/* A system call that our signal interrupted is about to be restarted (SA_RESTART), although another signal is pending
 * whose handler would have ended it with EINTR. Let it end so. */
static void keep_eintr(ucontext_t *ucontext) {
    greg_t *gregs = ucontext->uc_mcontext.gregs;
    uint64_t pending = 0;

    if (!is_at_restart(gregs) || !may_end_with_eintr(gregs[REG_RAX]))
        return;
    if (syscall(SYS_rt_sigpending, &pending, sizeof pending) != 0 || !pending)
        return;
    for (int signal = 1; signal <= PIE_SIGNALS_MAX; signal++) {
        struct sigaction action;
        if (!(pending >> (signal - 1) & 1) || pie_signals_is_ours(signal) ||
            sigismember(&ucontext->uc_sigmask, signal) || pie_real_sigaction(signal, NULL, &action) != 0)
            continue;
        if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN && !(action.sa_flags & SA_RESTART)) {
            gregs[REG_RAX] = -EINTR;
            gregs[REG_RIP] += 2;
            return;
        }
    }
}

/* A handler of the program may have faults blocked, with which a load of ours that fails would end the process. The
 * return from our handler blocks them again. */
static void open_faults(const ucontext_t *ucontext) {
    uint64_t faults = pie_signals_bit(SIGSEGV) | pie_signals_bit(SIGBUS);

    if (sigismember(&ucontext->uc_sigmask, SIGSEGV) || sigismember(&ucontext->uc_sigmask, SIGBUS))
        syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &faults, NULL, sizeof faults);
}

struct delivery {
    struct pie_thread *thread;
    siginfo_t *info;
    ucontext_t *ucontext;
};

static void work(void *argument) {
    const struct delivery *delivery = argument;
    struct pie_thread *thread = delivery->thread;
    siginfo_t *info = delivery->info;
    ucontext_t *ucontext = delivery->ucontext;
    const struct pie_clock_ops *clock = pie_clock_current();
    const struct pie_access_sampler_ops *accesses = pie_access_sampler_current();

    open_faults(ucontext);
    pie_clock_perf_handler_begins(thread);
    if (pie_watch_is_ours(info))
        pie_watch_trap(thread, info, ucontext);
    else if (accesses && accesses->is_ours(info))
        pie_watch_sampled(accesses, thread, info, ucontext);
    else
        pie_sample_take(clock, pie_signals_stacks(), thread, info, ucontext);
    pie_watch_catch_up(thread);
    pie_clock_perf_handler_ends(thread);
}

/* Does what one of the profiler's own signals is for, unless the profiler is at work on this thread already. */
static void take(struct pie_thread *thread, siginfo_t *info, ucontext_t *ucontext) {
    struct delivery delivery = {thread, info, ucontext};

    if (!thread) {
        pie_clock_price_entered();
        return;
    }
    if (thread->inside) { /* in an exported function of ours: the program's time is the next sample's */
        pie_counter_add(thread->inside == PIE_INSIDE_HOOK ? PIE_COUNTER_IN_HOOK : PIE_COUNTER_REENTERED, 1);
        return;
    }
    pie_thread_enter(thread, PIE_INSIDE_HANDLER);
    pie_handler_stack_run(thread, work, &delivery);
    pie_thread_leave(thread);
}

bool pie_signals_sent_by_us(const siginfo_t *info) {
    const struct pie_clock_ops *clock = pie_clock_current();
    const struct pie_access_sampler_ops *accesses = pie_access_sampler_current();

    return (clock && clock->is_ours(info)) || pie_watch_is_ours(info) ||
           (accesses && accesses->is_ours(info));
}

/* Where registers are set by ptrace, SIGTRAP stays open, and a sample or a trap may fall into a handler of ours, first
 * instructions included. Nothing may be watched from there, least of all what the handler itself does: a breakpoint on
 * it would end in itself. The interrupted stack pointer shows it. */
static bool is_in_handler(const ucontext_t *ucontext) {
    uintptr_t low = (uintptr_t)ucontext->uc_stack.ss_sp, sp = (uintptr_t)ucontext->uc_mcontext.gregs[REG_RSP];

    return pie_debug_ptrace_is_used() && !(ucontext->uc_stack.ss_flags & SS_DISABLE) &&
           sp - low < ucontext->uc_stack.ss_size;
}

/* The collection thread leaves SIGPROF open for what its own time costs (profiler/collect/collection.c), so one of the
 * program's may come: closed here, it is sent again, to another thread. */
static void hand_on(int signal, siginfo_t *info, ucontext_t *ucontext) {
    sigaddset(&ucontext->uc_sigmask, signal);
    if (syscall(SYS_rt_sigqueueinfo, getpid(), signal, info) != 0)
        syscall(SYS_kill, getpid(), signal); /* its origin only the main thread may say */
}

void pie_signals_on_clock(int signal, siginfo_t *info, void *context) {
    if (is_in_handler(context) && pie_signals_sent_by_us(info)) {
        pie_counter_add(PIE_COUNTER_REENTERED, 1);
        return;
    }
    int error = errno;
    if (pie_signals_sent_by_us(info)) {
        take(pie_thread_self(), info, context);
        send_held(signal, context);
        keep_eintr(context);
    } else if (pie_collection_is_self()) {
        hand_on(signal, info, context);
    } else {
        pie_counter_add(PIE_COUNTER_FOREIGN_SIGNAL, 1);
        forward(signal, info, context);
    }
    errno = error;
}

/* Linux hands a faulting thread the first synchronous signal of its queue, even a blocked one (kernel/signal.c,
 * dequeue_synchronous_signal(): only that some one is not blocked is asked). So if a breakpoint's SIGTRAP was waiting,
 * it is delivered first, and the fault is reported as if the first instruction of that handler had made it. Where it
 * happened is said by the frame below, which the handler is about to get as its third argument. NULL: there is none. */
static ucontext_t *frame_below(const ucontext_t *ucontext) {
    const greg_t *gregs = ucontext->uc_mcontext.gregs;

    return (uintptr_t)gregs[REG_RIP] == (uintptr_t)pie_signals_on_clock
               ? (ucontext_t *)(uintptr_t)gregs[REG_RDX]
               : NULL;
}

/* Lets a load that may fault go on. False: it was another instruction. */
static bool fix_load(ucontext_t *ucontext) {
    greg_t *pc = &ucontext->uc_mcontext.gregs[REG_RIP];
    uintptr_t go_on = pie_safe_load_fix((uintptr_t)*pc);

    if (go_on)
        *pc = (greg_t)go_on;
    return go_on != 0;
}

void pie_signals_on_fault(int signal, siginfo_t *info, void *context) {
    ucontext_t *below = info->si_code > 0 ? frame_below(context) : NULL;

    if (below) {
        fix_load(below);
        return; /* what is not fixed faults again, with nothing else waiting */
    }
    if (info->si_code > 0 && fix_load(context))
        return;
    int error = errno;
    forward(signal, info, context);
    errno = error;
}
