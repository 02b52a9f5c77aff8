/* SPDX-License-Identifier: Apache-2.0 */

/* The exported fork() and wait family: here a process learns which children it has and how each of them ended, for the
 * process table (profiler/process/table.h). What the C library returns is handed on as it is, errno too. A child's
 * status is taken note of also where it is only looked at (WNOWAIT): it has ended. A stop or a continuation is no end.
 *
 * vfork() is left alone; a child of it that executes a program of ours enters itself (exec.c). */

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/collect/engine.h"
#include "profiler/process/table.h"
#include "profiler/thread/filtered.h"
#include "runtime/libc/export.h"
#include "runtime/libc/syscall.h"

static struct {
    pid_t (*fork)(void);
    pid_t (*bare_fork)(void); /* NULL before glibc 2.34 */
    pid_t (*wait)(int *);
    pid_t (*waitpid)(pid_t, int *, int);
    pid_t (*wait3)(int *, int, struct rusage *);
    pid_t (*wait4)(pid_t, int *, int, struct rusage *);
    int (*waitid)(idtype_t, id_t, siginfo_t *, int);
} libc; /* resolved before main; nothing to reset in a forked child */

/* Priority: the first that user code can follow. */
__attribute__((constructor(101))) static void resolve(void) {
    *(void **)&libc.fork = dlsym(RTLD_NEXT, "fork");
    *(void **)&libc.bare_fork = dlsym(RTLD_NEXT, "_Fork");
    *(void **)&libc.wait = dlsym(RTLD_NEXT, "wait");
    *(void **)&libc.waitpid = dlsym(RTLD_NEXT, "waitpid");
    *(void **)&libc.wait3 = dlsym(RTLD_NEXT, "wait3");
    *(void **)&libc.wait4 = dlsym(RTLD_NEXT, "wait4");
    *(void **)&libc.waitid = dlsym(RTLD_NEXT, "waitid");
}

/* A constructor of a library may come first. */
static void need(void) {
    if (!libc.waitid)
        resolve();
}

PIE_EXPORT pid_t fork(void) {
    need();
    pid_t pid = libc.fork();
    if (pid != 0 && !pie_filtered())
        pie_engine_forked(pid);
    return pid;
}

/* A fork that calls no fork handlers, so its child is not profiled; but it must not get what another thread has
 * borrowed or holds. */
static long fork_bare(long (*fork)(void)) {
    if (pie_filtered())
        return fork();
    int before = errno;
    pie_engine_bare_fork_prepare();
    errno = before;
    long pid = fork();
    int error = errno;
    pie_engine_bare_fork_done(pid == 0);
    errno = error;
    return pid;
}

static long fork_of_libc(void) {
    return libc.bare_fork();
}

static long fork_of_kernel(void) {
    return pie_syscall_raw(SYS_fork, 0, 0, 0, 0, 0);
}

static long fork_by_syscall(void) {
    return fork_bare(fork_of_kernel);
}

__attribute__((constructor(101))) static void see_forks(void) {
    pie_syscall_set_fork(fork_by_syscall);
}

PIE_EXPORT pid_t _Fork(void) {
    need();
    if (!libc.bare_fork) {
        errno = ENOSYS;
        return -1;
    }
    return (pid_t)fork_bare(fork_of_libc);
}

/* A program may not care for the status; we do. */
static pid_t note(pid_t pid, const int *status) {
    if (pid > 0 && !pie_filtered() && (WIFEXITED(*status) || WIFSIGNALED(*status)))
        pie_process_ended(pid, *status);
    return pid;
}

PIE_EXPORT pid_t wait(int *status) {
    int own;
    need();
    status = status ? status : &own;
    return note(libc.wait(status), status);
}

PIE_EXPORT pid_t waitpid(pid_t pid, int *status, int options) {
    int own;
    need();
    status = status ? status : &own;
    return note(libc.waitpid(pid, status, options), status);
}

PIE_EXPORT pid_t wait3(int *status, int options, struct rusage *usage) {
    int own;
    need();
    status = status ? status : &own;
    return note(libc.wait3(status, options, usage), status);
}

PIE_EXPORT pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage) {
    int own;
    need();
    status = status ? status : &own;
    return note(libc.wait4(pid, status, options, usage), status);
}

/* waitid(2): si_pid is 0 where there was none to report. */
PIE_EXPORT int waitid(idtype_t type, id_t id, siginfo_t *info, int options) {
    siginfo_t own = {0};
    need();
    info = info ? info : &own;
    int r = libc.waitid(type, id, info, options);
    if (r < 0 || info->si_pid <= 0 || pie_filtered())
        return r;
    if (info->si_code == CLD_EXITED)
        pie_process_ended(info->si_pid, W_EXITCODE(info->si_status, 0));
    else if (info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED)
        pie_process_ended(info->si_pid, info->si_status);
    return r;
}
