/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/libc/signals.h"

#include "profiler/thread/filtered.h"
#include "profiler/time/clock.h"
#include "profiler/time/clock_timer.h"
#include "profiler/watch/debug_registers.h"
#include "runtime/libc/death.h"
#include "runtime/libc/export.h"
#include "runtime/libc/signals_state.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

typedef int (*mask_fn)(int, const sigset_t *, sigset_t *);

/* Resolved by resolve(), the same ever after. */
static mask_fn real_pthread_sigmask, real_sigprocmask;

static bool installed;      /* our handlers are in place; kept in forked children */
static _Atomic int own_pid; /* a vfork child shares our memory but has signal state of its own */
static pthread_mutex_t write_lock =
    PTHREAD_MUTEX_INITIALIZER; /* of virtual actions; taken alone; reset in a forked child */

static void resolve(void) {
    if (real_sigprocmask)
        return;
    pie_signals_set_real((pie_sigaction_fn)dlsym(RTLD_NEXT, "sigaction"));
    real_pthread_sigmask = (mask_fn)dlsym(RTLD_NEXT, "pthread_sigmask");
    real_sigprocmask = (mask_fn)dlsym(RTLD_NEXT, "sigprocmask");
}

bool pie_signals_are_virtual(void) {
    if (!installed ||
        pie_filtered()) /* which may not allow the question; a vfork child changes none of ours */
        return installed;
    return (int)syscall(SYS_getpid) == atomic_load_explicit(&own_pid, memory_order_relaxed);
}

/* SA_NODEFER for faults: what the program's own fault handler may meet is decided by take_mask(). Our part of it is
 * interrupted by no sample, so there are never two frames of the kernel's on a small alternate stack. */
static int install_ours(int signal) {
    bool fault = signal == SIGSEGV || signal == SIGBUS;
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK | (fault ? SA_NODEFER : 0)};

    action.sa_sigaction = fault ? pie_signals_on_fault : pie_signals_on_clock;
    sigfillset(&action.sa_mask);
    sigdelset(&action.sa_mask, SIGSEGV);
    sigdelset(&action.sa_mask, SIGBUS);
    struct sigaction old;
    if (pie_real_sigaction(signal, NULL, &old) != 0)
        return -errno;
    pie_signals_set_virtual(signal, &old);
    pie_signals_add_ours(signal);
    return pie_real_sigaction(signal, &action, NULL) == 0 ? 0 : -errno;
}

int pie_signals_install(const struct pie_pystack_ops *stacks) {
    uint64_t candidates = pie_signals_bit(SIGTRAP) | pie_signals_bit(PIE_TIMER_SIGNAL) |
                          pie_signals_bit(SIGSEGV) | pie_signals_bit(SIGBUS);

    resolve();
    pie_signals_resolve_waits();
    pie_signals_resolve_suspends();
    pie_signals_set_stacks(stacks);
    atomic_store_explicit(&own_pid, (int)getpid(), memory_order_relaxed);
    int r = install_ours(SIGSEGV);
    if (r == 0)
        r = install_ours(SIGBUS);
    if (r < 0)
        return r;
    installed = true;
    pie_death_install();
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &candidates, NULL, sizeof candidates);
    return 0;
}

/* Signals whose handlers have SIGTRAP in their mask, as the program sees it. */
static _Atomic uint64_t trap_maskers;

/* The handlers that stand do not block SIGTRAP any more. */
static void open_traps(void) {
    struct sigaction action;

    for (int signal = 1; signal <= PIE_SIGNALS_MAX; signal++) {
        if (pie_real_sigaction(signal, NULL, &action) != 0 || action.sa_handler == SIG_DFL ||
            action.sa_handler == SIG_IGN || !sigismember(&action.sa_mask, SIGTRAP))
            continue;
        bool is_ours = pie_signals_is_ours(signal) || pie_death_is_shown(signal);
        if (!is_ours)
            atomic_fetch_or_explicit(&trap_maskers, pie_signals_bit(signal), memory_order_relaxed);
        sigdelset(&action.sa_mask, SIGTRAP);
        if (signal == SIGTRAP)
            action.sa_flags |= SA_NODEFER;
        pie_real_sigaction(signal, &action, NULL);
    }
}

int pie_signals_take(int signal) {
    int r = pie_signals_is_ours(signal) ? 0 : install_ours(signal);

    if (r == 0 && pie_debug_ptrace_is_used())
        open_traps();
    return r;
}

void pie_signals_thread_started(uint64_t mask) {
    uint64_t open = pie_signals_our_bits();

    pie_signals_set_virtual_mask(mask);
    if (installed && !pie_filtered()) /* there they are open: its creator was profiled before the filter */
        syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &open, NULL, sizeof open);
}

void pie_signals_fork_child(void) {
    if (!pie_filtered())
        atomic_store_explicit(&own_pid, (int)getpid(), memory_order_relaxed);
    pie_signals_let_go(SIGTRAP); /* as in the kernel: nothing waits for a new process */
    pie_signals_let_go(PIE_TIMER_SIGNAL);
    pthread_mutex_init(&write_lock, NULL);
    pie_death_fork_child();
}

static int change_action(int signal, const struct sigaction *action, struct sigaction *old) {
    if (pie_death_is_shown(signal))
        return pie_death_sigaction(signal, action, old);
    if (!pie_signals_is_ours(signal) || !pie_signals_are_virtual())
        return pie_real_sigaction(signal, action, old);
    pthread_mutex_lock(&write_lock);
    struct sigaction before = *pie_signals_virtual(signal);
    if (action)
        pie_signals_set_virtual(signal, action);
    pthread_mutex_unlock(&write_lock);
    if (old)
        *old = before;
    return 0;
}

/* The mask of a handler is the kernel's, but for SIGTRAP where that must stay open. */
PIE_EXPORT int sigaction(int signal, const struct sigaction *restrict action,
                         struct sigaction *restrict old) {
    struct sigaction open;
    sigset_t copy;
    uint64_t maskers = atomic_load_explicit(&trap_maskers, memory_order_relaxed);

    resolve();
    bool opens = action && pie_signals_are_virtual() &&
                 pie_signals_open_traps(&action->sa_mask, &copy) != &action->sa_mask;
    if (opens) {
        open = *action;
        open.sa_mask = copy;
    }
    int r = change_action(signal, opens ? &open : action, old);
    if (r != 0 || signal < 1 || signal > PIE_SIGNALS_MAX || (!opens && !maskers))
        return r;
    if (opens)
        atomic_fetch_or_explicit(&trap_maskers, pie_signals_bit(signal), memory_order_relaxed);
    else if (action)
        atomic_fetch_and_explicit(&trap_maskers, ~pie_signals_bit(signal), memory_order_relaxed);
    if (old && (maskers & pie_signals_bit(signal)))
        sigaddset(&old->sa_mask, SIGTRAP);
    return 0;
}

static __sighandler_t set_handler(int signal, __sighandler_t handler, int flags) {
    struct sigaction action = {.sa_flags = flags}, old;

    action.sa_handler = handler;
    if (signal < 1 || signal > PIE_SIGNALS_MAX || handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    if (!(flags & SA_RESETHAND))
        sigaddset(&action.sa_mask, signal);
    return sigaction(signal, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

/* glibc's signal() has BSD semantics: the handler stays, calls are restarted unless siginterrupt() said otherwise. The
 * originals reach sigaction inside the C library, so for signals that are ours they are done here. */
#define EXPORT_SIGNAL(name, flags)                                                                           \
    PIE_EXPORT __sighandler_t name(int signal_number, __sighandler_t handler);                               \
    PIE_EXPORT __sighandler_t name(int signal_number, __sighandler_t handler) {                              \
        static __sighandler_t (*real)(int, __sighandler_t);                                                  \
        if ((pie_signals_is_ours(signal_number) && pie_signals_are_virtual()) ||                             \
            (handler == SIG_DFL && pie_death_is_shown(signal_number)))                                       \
            return set_handler(signal_number, handler, flags);                                               \
        if (!real)                                                                                           \
            real = (__sighandler_t(*)(int, __sighandler_t))dlsym(RTLD_NEXT, #name);                          \
        return pie_death_handler_seen(real(signal_number, handler));                                         \
    }

EXPORT_SIGNAL(signal, SA_RESTART)
EXPORT_SIGNAL(bsd_signal, SA_RESTART)
EXPORT_SIGNAL(ssignal, SA_RESTART)
EXPORT_SIGNAL(sysv_signal, SA_RESETHAND | SA_NODEFER)
EXPORT_SIGNAL(__sysv_signal, SA_RESETHAND | SA_NODEFER)

/* System V's too; with SIG_HOLD it changes the mask, which is the C library's to do. */
PIE_EXPORT __sighandler_t sigset(int signal, __sighandler_t handler) {
    static __sighandler_t (*real)(int, __sighandler_t);

    if (!real)
        real = (__sighandler_t(*)(int, __sighandler_t))dlsym(RTLD_NEXT, "sigset");
    return pie_death_handler_seen(real(signal, handler));
}

/* What the mask call means for our signals: changes the virtual mask, returns the set to be really blocked. */
static const sigset_t *apply_virtual(int how, const sigset_t *set, sigset_t *copy) {
    uint64_t asked, bits, before = pie_signals_virtual_mask();

    if (!set)
        return NULL;
    memcpy(&bits, set, sizeof bits);
    asked = bits & pie_signals_our_bits();
    if (how == SIG_BLOCK)
        pie_signals_set_virtual_mask(before | asked);
    else if (how == SIG_UNBLOCK)
        pie_signals_set_virtual_mask(before & ~asked);
    else if (how == SIG_SETMASK)
        pie_signals_set_virtual_mask(asked);
    if (!asked || how == SIG_UNBLOCK)
        return set;
    bits &= ~asked;
    *copy = *set;
    memcpy(copy, &bits, sizeof bits);
    return copy;
}

static int change_mask(mask_fn real, int how, const sigset_t *set, sigset_t *old) {
    uint64_t before = pie_signals_virtual_mask(), mask;
    sigset_t copy;

    int r = real(how, apply_virtual(how, set, &copy), old);
    if (r != 0) {
        pie_signals_set_virtual_mask(before);
    } else if (old && before) {
        memcpy(&mask, old, sizeof mask);
        mask |= before;
        memcpy(old, &mask, sizeof mask);
    }
    return r;
}

PIE_EXPORT int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old) {
    resolve();
    return pie_signals_are_virtual() ? change_mask(real_pthread_sigmask, how, set, old)
                                     : real_pthread_sigmask(how, set, old);
}

PIE_EXPORT int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old) {
    resolve();
    return pie_signals_are_virtual() ? change_mask(real_sigprocmask, how, set, old)
                                     : real_sigprocmask(how, set, old);
}

PIE_EXPORT int setitimer(__itimer_which_t which, const struct itimerval *restrict value,
                         struct itimerval *restrict old) {
    if (which == ITIMER_PROF && value)
        pie_clock_give_up(&pie_clock_itimer);
    return (int)syscall(SYS_setitimer, which, value, old);
}
