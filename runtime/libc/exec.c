/* SPDX-License-Identifier: Apache-2.0 */

/* The exported exec family. libpython and every library find these before the C library's. What a call
 * becomes is decided in exec_sigsafe.c; here are the entry points, and the end of the profile before the
 * process replaces itself.
 *
 * A thread under a seccomp filter of the program's makes the call and nothing else: what it starts is filtered too, and
 * is not profiled.
 *
 * execve and execv are the system call itself. The others fall back on the C library's own where nothing is
 * redirected, so that its PATH search, its /bin/sh for a text file and its errors stay as they are. */

#include "runtime/libc/exec.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "profiler/base/clocks.h"
#include "profiler/collect/engine.h"
#include "profiler/process/table.h"
#include "profiler/thread/filtered.h"
#include "runtime/interpreter/target.h"
#include "runtime/libc/death.h"
#include "runtime/libc/exec_plan.h"
#include "runtime/libc/export.h"

/* A child started in the first moments waits this long for the collection thread to open the run. */
enum { RUN_ID_WAIT_MS = 1000 };

static int64_t
    started_ms; /* set once before Python starts; a forked child keeps it: its run is open by then */

static struct {
    int (*execvpe)(const char *, char *const *, char *const *);
    int (*fexecve)(int, char *const *, char *const *);
    int (*execveat)(int, const char *, char *const *, char *const *, int);
    int (*posix_spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                       char *const *, char *const *);
    int (*posix_spawnp)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                        char *const *, char *const *);
    int (*addchdir)(posix_spawn_file_actions_t *, const char *);
    int (*addfchdir)(posix_spawn_file_actions_t *, int);
} libc; /* resolved before main; nothing to reset in a forked child */

/* dlsym() takes locks, and a vfork child must not. Priority: the first that user code can follow. */
__attribute__((constructor(101))) static void resolve(void) {
    *(void **)&libc.execvpe = dlsym(RTLD_NEXT, "execvpe");
    *(void **)&libc.fexecve = dlsym(RTLD_NEXT, "fexecve");
    *(void **)&libc.execveat = dlsym(RTLD_NEXT, "execveat");
    *(void **)&libc.posix_spawn = dlsym(RTLD_NEXT, "posix_spawn");
    *(void **)&libc.posix_spawnp = dlsym(RTLD_NEXT, "posix_spawnp");
    *(void **)&libc.addchdir = dlsym(RTLD_NEXT, "posix_spawn_file_actions_addchdir_np");
    *(void **)&libc.addfchdir = dlsym(RTLD_NEXT, "posix_spawn_file_actions_addfchdir_np");
}

static int64_t now_ms(void) {
    return (int64_t)(pie_monotonic_ns() / 1000000);
}

static void own_memory(void) {
    if (pie_filtered())
        return;
    atomic_store_explicit(&pie_exec_settings.owner, getpid(), memory_order_relaxed);
    atomic_store_explicit(&pie_exec_settings.parent, getpid(), memory_order_relaxed);
}

void pie_exec_set_target(const char *target, const char *self) {
    static bool is_watching_forks;
    struct pie_exec_settings *settings = &pie_exec_settings;
    settings->has_target = target && pie_image_read(target, &settings->target) == 0;
    settings->has_self = pie_image_read(self, &settings->self) == 0;
    settings->self_path = self;
    started_ms = now_ms();
    own_memory();
    if (!is_watching_forks)
        is_watching_forks = pthread_atfork(NULL, NULL, own_memory) == 0;
}

void pie_exec_set_preload(const char *preload) {
    pie_exec_settings.preload = preload;
}

void pie_exec_set_child_variable(const char *child_variable) {
    atomic_store_explicit(&pie_exec_settings.child_variable, child_variable, memory_order_release);
}

/* The run that children are to join. It is known once the collection thread has opened the file, some
 * milliseconds after the start; a program that starts children at once waits for it. */
static long run_id(void) {
    int64_t id = pie_engine_run_id();
    bool is_ours = atomic_load_explicit(&pie_exec_settings.child_variable, memory_order_acquire) != NULL;
    while (id == 0 && is_ours && now_ms() - started_ms < RUN_ID_WAIT_MS) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        id = pie_engine_run_id();
    }
    return (long)id;
}

/* Will the kernel take this program? Ending the profile for a call that fails would lose the rest of the run,
 * and execve is tried on one folder of the PATH after the other. */
static bool may_succeed(const char *path) {
    struct stat st;
    int saved_errno = errno;
    bool may = path && stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
    errno = saved_errno;
    return may;
}

static void end_profile(void) {
    const struct pie_process_entry *entry = pie_process_own();
    if (pie_engine_is_running()) {
        pie_engine_finish("exec", -1);
        if (entry && !(atomic_load_explicit(&entry->flags, memory_order_relaxed) & PIE_PROCESS_HAS_ROW))
            atomic_store_explicit(&pie_exec_settings.parent, entry->parent_pid, memory_order_relaxed);
    }
    pie_death_await();
}

/* Whose memory this is: another process's in a vfork child. */
static pid_t owner(void) {
    return atomic_load_explicit(&pie_exec_settings.owner, memory_order_relaxed);
}

/* The system call, for what is redirected; fd: the open file, where there is one. The process table has an entry of
 * this process, or a vfork child gets one. */
static int execute(const struct pie_exec_plan *plan, int fd) {
    pid_t pid = (pid_t)syscall(SYS_getpid);
    bool is_own = pid == owner();
    struct pie_process_entry *entry = is_own ? pie_process_own() : pie_process_claim(owner());
    pie_process_executes(entry, pid, plan->argv);
    int r = (int)(plan->path ? syscall(SYS_execve, plan->path, plan->argv, plan->envp)
                             : syscall(SYS_execveat, fd, "", plan->argv, plan->envp, AT_EMPTY_PATH));
    if (is_own)
        pie_process_done();
    else
        pie_process_release(entry);
    return r;
}

/* Executes something else: whatever comes of it is none of ours. */
static void leave_table(void) {
    if ((pid_t)syscall(SYS_getpid) == owner())
        pie_process_done();
}

static int exec_path(const char *path, char *const *argv, char *const *envp) {
    struct pie_exec_plan plan;
    if (pie_filtered())
        return (int)syscall(SYS_execve, path, argv, envp);
    bool may = may_succeed(path);
    if (may)
        end_profile();
    if (pie_exec_plan_path(&plan, path, argv, envp, run_id()))
        return execute(&plan, -1);
    if (may)
        leave_table();
    return (int)syscall(SYS_execve, plan.path, plan.argv, plan.envp);
}

PIE_EXPORT int execve(const char *path, char *const argv[], char *const envp[]) {
    return exec_path(path, argv, envp);
}

PIE_EXPORT int execv(const char *path, char *const argv[]) {
    return exec_path(path, argv, environ);
}

/* The file that a name without a slash stands for, in buffer; the C library's default where PATH is unset. */
static const char *search(const char *file, char buffer[PATH_MAX]) {
    if (strchr(file, '/'))
        return file;
    const char *search_path = getenv("PATH");
    return pie_target_search(file, search_path ? search_path : "/bin:/usr/bin", buffer) == 0 ? buffer : NULL;
}

PIE_EXPORT int execvpe(const char *file, char *const argv[], char *const envp[]) {
    struct pie_exec_plan plan;
    char buffer[PATH_MAX];
    if (pie_filtered())
        return libc.execvpe(file, argv, envp);
    const char *path = search(file, buffer);
    bool may = may_succeed(path);
    if (may)
        end_profile();
    if (pie_exec_plan_path(&plan, path, argv, envp, run_id()))
        return execute(&plan, -1);
    if (may)
        leave_table();
    return libc.execvpe(file, argv, envp);
}

PIE_EXPORT int execvp(const char *file, char *const argv[]) {
    return execvpe(file, argv, environ);
}

PIE_EXPORT int fexecve(int fd, char *const argv[], char *const envp[]) {
    struct pie_exec_plan plan;
    if (pie_filtered())
        return libc.fexecve(fd, argv, envp);
    bool may = fcntl(fd, F_GETFD) >= 0;
    if (may)
        end_profile();
    if (pie_exec_plan_open(&plan, fd, argv, envp, run_id()))
        return execute(&plan, fd);
    if (may)
        leave_table();
    return libc.fexecve(fd, argv, envp);
}

PIE_EXPORT int execveat(int dirfd, const char *path, char *const argv[], char *const envp[], int flags) {
    struct pie_exec_plan plan;
    bool redirected = false;
    if (pie_filtered())
        return libc.execveat(dirfd, path, argv, envp, flags);
    bool may = faccessat(dirfd, path, *path ? X_OK : F_OK, flags & AT_EMPTY_PATH) == 0;
    if (may)
        end_profile();
    if (flags == 0 && (dirfd == AT_FDCWD || *path == '/'))
        redirected = pie_exec_plan_path(&plan, path, argv, envp, run_id());
    else if ((flags & AT_EMPTY_PATH) && *path == '\0')
        redirected = pie_exec_plan_open(&plan, dirfd, argv, envp, run_id());
    if (redirected)
        return execute(&plan, dirfd);
    if (may)
        leave_table();
    return libc.execveat(dirfd, path, argv, envp, flags);
}

/* The program has made file actions that change the folder: then a relative path says nothing here. */
static _Atomic bool spawns_elsewhere;

/* A relative path means something else after a chdir among the file actions. These cannot be looked into, but
 * one that changes the folder has been made by the functions below. */
static bool can_judge(const char *path, const posix_spawn_file_actions_t *actions) {
    return path &&
           (*path == '/' || !actions || !atomic_load_explicit(&spawns_elsewhere, memory_order_relaxed));
}

PIE_EXPORT int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path) {
    atomic_store_explicit(&spawns_elsewhere, true, memory_order_relaxed);
    return libc.addchdir(actions, path);
}

PIE_EXPORT int posix_spawn_file_actions_addfchdir_np(posix_spawn_file_actions_t *actions, int fd) {
    atomic_store_explicit(&spawns_elsewhere, true, memory_order_relaxed);
    return libc.addfchdir(actions, fd);
}

/* For what is redirected. */
static int spawn(pid_t *pid, const struct pie_exec_plan *plan, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes) {
    pid_t own;
    struct pie_process_entry *entry = pie_process_claim(owner());
    pid = pid ? pid : &own;
    int r = libc.posix_spawn(pid, plan->path, actions, attributes, plan->argv, plan->envp);
    if (r == 0)
        pie_process_executes(entry, *pid, plan->argv);
    else
        pie_process_release(entry);
    return r;
}

PIE_EXPORT int posix_spawn(pid_t *restrict pid, const char *restrict path,
                           const posix_spawn_file_actions_t *actions,
                           const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
                           char *const envp[restrict]) {
    struct pie_exec_plan plan;
    if (!pie_filtered() && can_judge(path, actions) && pie_exec_plan_path(&plan, path, argv, envp, run_id()))
        return spawn(pid, &plan, actions, attributes);
    return libc.posix_spawn(pid, path, actions, attributes, argv, envp);
}

PIE_EXPORT int posix_spawnp(pid_t *restrict pid, const char *restrict file,
                            const posix_spawn_file_actions_t *actions,
                            const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
                            char *const envp[restrict]) {
    struct pie_exec_plan plan;
    char buffer[PATH_MAX];
    const char *path = pie_filtered() ? NULL : search(file, buffer);
    if (can_judge(path, actions) && pie_exec_plan_path(&plan, path, argv, envp, run_id()))
        return spawn(pid, &plan, actions, attributes);
    return libc.posix_spawnp(pid, file, actions, attributes, argv, envp);
}
