/* SPDX-License-Identifier: Apache-2.0 */

/* Only the call itself shows what a filter does with it: a filter can be read by a tracer with CAP_SYS_ADMIN and no
 * other way. So a child makes the calls, and notes in a shared page how far it has come. The order is that of what
 * python3 is sure to do as well:
 *
 *   /proc/self/status     open(), read(): without a filter nothing else happens
 *   a shared page         mmap()
 *   the child             clone(). If the filter kills for that, the process ends here. Under python3 it would end at
 *                         its first child or thread, and at the profiler's thread a moment later. Every trial of a call
 *                         needs a process, and no call that python3 is sure to make creates one.
 *
 * Only numbers are tried, and the flags of clone() for a thread: the kernel asks the filter before it looks at
 * arguments, which are wrong here or ask for nothing. A filter that kills for other arguments of a call is not seen.
 *
 * CLONE_VFORK: the parent goes on when the child is gone, without a call to wait. Memory is not shared, since kernels
 * before 5.16 that write a core end all that share it. No exit signal: no SIGCHLD, wait() does not see the child, and
 * whether wait4() may be used to bury it has been tried by then. Where it may not, the program cannot see what stays
 * either. */

#include "runtime/libc/filter_trial.h"

#include "profiler/base/proc_file.h"
#include "runtime/libc/syscall.h"

#include <errno.h>
#include <limits.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MODE_FILTER = 2, NOWHERE = -1, NOBODY = INT_MAX, NOTHING = 99 };

/* The way that pthread_create() goes where there is no clone3(). The address of thread-local storage is none, so none
 * is made. */
enum {
    THREAD_FLAGS = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                   CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID
};

#define CALL(name, ...)                                                                                      \
    {                                                                                                        \
        #name, SYS_##name, {                                                                                 \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }

static const struct trial {
    const char *name;
    long number;
    long arguments[5];
} trials[] = {
    /* Before all others: a child that is ended leaves no core. */
    CALL(prctl, PR_SET_DUMPABLE, 0),
    /* The child's burial. */
    CALL(wait4, NOBODY, 0, WNOHANG),
    /* Clocks. */
    CALL(perf_event_open, 0, 0, NOWHERE, NOWHERE),
    CALL(ioctl, NOWHERE),
    CALL(timer_create, NOTHING),
    CALL(timer_settime, NOTHING),
    CALL(timer_delete, NOBODY),
    CALL(setitimer, NOTHING),
    CALL(getitimer, NOTHING),
    CALL(clock_gettime, NOTHING),
    CALL(clock_nanosleep, NOTHING),
    CALL(getrusage, NOTHING),
    /* Signals. */
    CALL(rt_tgsigqueueinfo, NOWHERE, NOWHERE),
    CALL(rt_sigqueueinfo, NOWHERE),
    CALL(rt_sigpending, 0, sizeof(long)),
    CALL(rt_sigtimedwait, 0),
    CALL(rt_sigprocmask, SIG_BLOCK, 0, 0, sizeof(long)),
    CALL(sigaltstack, 0),
    CALL(tgkill, NOWHERE, NOWHERE),
    CALL(kill, NOBODY),
    /* Threads and other processes. */
    CALL(clone3, 0),
    CALL(clone, THREAD_FLAGS, 0, 0, 0, -1),
    CALL(futex, 0, NOTHING),
    CALL(gettid, 0),
    CALL(getpid, 0),
    CALL(getppid, 0),
    CALL(waitid, NOTHING),
    CALL(pidfd_open, NOWHERE),
    CALL(pidfd_getfd, NOWHERE, NOWHERE),
    CALL(ptrace, NOTHING, NOBODY),
    /* Memory. */
    CALL(madvise, 0),
    CALL(mincore, 0),
    CALL(mprotect, 0),
    CALL(mremap, 1),
    /* Files. */
    CALL(close_range, 1, 0, CLOSE_RANGE_UNSHARE),
    CALL(fcntl, NOWHERE),
    CALL(pread64, NOWHERE),
    CALL(pwrite64, NOWHERE),
    CALL(write, NOWHERE),
    CALL(ftruncate, NOWHERE),
    CALL(fdatasync, NOWHERE),
    CALL(fsync, NOWHERE),
    CALL(fchown, NOWHERE, NOWHERE, NOWHERE),
    CALL(unlink, 0),
    CALL(access, 0),
    CALL(faccessat2, NOWHERE),
    CALL(readlink, 0),
    CALL(getcwd, 0),
    CALL(geteuid, 0),
    CALL(uname, 0),
};

enum { TRIALS = sizeof trials / sizeof *trials, AT_HANDLER = TRIALS, AT_EXIT };

/* A page that the child shares. It stores, the parent loads when the child is gone. */
static _Atomic int *reached;

static void note(int step) {
    atomic_store_explicit(reached, step, memory_order_relaxed);
}

static const char *name_of(int step) {
    if (step == AT_HANDLER)
        return "rt_sigreturn";
    return step == AT_EXIT ? "exit" : trials[step].name;
}

static void on_signal(int signal_number) {
    (void)signal_number;
}

/* A handler's return is a call as well, rt_sigreturn(), which can be made in no other way. */
static void handle_signal(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal}, NULL);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    pie_syscall_raw(SYS_kill, pie_syscall_raw(SYS_getpid, 0, 0, 0, 0, 0), SIGUSR1, 0, 0, 0);
}

/* The child ends as a thread does: the profiler's own do, too. */
__attribute__((noreturn)) static void try_all(void) {
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    for (int i = 0; i < TRIALS; i++) {
        const long *arguments = trials[i].arguments;
        note(i);
        pie_syscall_raw(trials[i].number, arguments[0], arguments[1], arguments[2], arguments[3],
                        arguments[4]);
    }
    note(AT_HANDLER);
    handle_signal();
    note(AT_EXIT);
    pie_syscall_raw(SYS_exit, 0, 0, 0, 0, 0);
    for (;;) { /* it is refused */
        pie_syscall_raw(SYS_exit_group, 0, 0, 0, 0, 0);
        pie_syscall_raw(SYS_kill, pie_syscall_raw(SYS_getpid, 0, 0, 0, 0, 0), SIGKILL, 0, 0, 0);
    }
}

static const char *outcome(long child) {
    int step = atomic_load_explicit(reached, memory_order_relaxed), status = 0;
    long r;
    if (step < TRIALS && trials[step].number == SYS_wait4)
        return name_of(step);
    do
        r = pie_syscall_raw(SYS_wait4, child, (long)&status, __WALL, 0, 0);
    while (r == -EINTR);
    return r == child && WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL ? name_of(step) : NULL;
}

static bool is_filtered(void) {
    char status[4096], mode[16];
    return pie_proc_read("/proc/self/status", status, sizeof status) > 0 &&
           pie_proc_field(status, "Seccomp", mode, sizeof mode) > 0 && atoi(mode) == MODE_FILTER;
}

const char *pie_filter_trial(void) {
    const char *name = NULL;
    if (!is_filtered())
        return NULL;
    void *page = mmap(NULL, sizeof *reached, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return NULL; /* nor is there memory for a profile */
    reached = page;
    long child = pie_syscall_raw(SYS_clone, CLONE_VFORK, 0, 0, 0, 0);
    if (child == 0)
        try_all();
    if (child > 0) /* else the filter refuses it, as it does the profiler's thread */
        name = outcome(child);
    munmap(page, sizeof *reached);
    return name;
}
