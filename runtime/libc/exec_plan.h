/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "runtime/interpreter/image.h"

/* The plan for a call of the exec family. A plan lives on the stack of the caller, which may be the vfork child of
 * _posixsubprocess on a small thread stack: 16 KiB with all it points to. */
enum {
    PIE_EXEC_VECTOR_MAX = 768,  /* entries of argv and environment together; larger ones are not redirected */
    PIE_EXEC_SHEBANG_MAX = 256, /* as the kernel: BINPRM_BUF_SIZE */
    PIE_EXEC_PRELOAD_MAX =
        1024, /* LD_PRELOAD of both, ours and the program's; longer ones are not redirected */
};

struct pie_exec_settings {
    bool has_target, has_self;
    struct pie_image target, self;
    const char *self_path;
    const char *preload;                  /* an entry of the environment; NULL: children become our image */
    _Atomic(const char *) child_variable; /* release in exec.c, acquire in exec_sigsafe.c */
    _Atomic(pid_t) owner;  /* whose memory this is: differs from getpid() in a vfork child only */
    _Atomic(pid_t) parent; /* of the executed program: the owner, or its parent where the owner has no row */
};
extern struct pie_exec_settings pie_exec_settings;

struct pie_exec_plan {
    const char *
        path; /* the program to execute, NULL: the open file; and its vectors: the caller's own unless redirected */
    char *const *argv;
    char *const *envp;
    char *vector[PIE_EXEC_VECTOR_MAX];
    char run_variable[96];
    char shebang[PIE_EXEC_SHEBANG_MAX];
    char preload[PIE_EXEC_PRELOAD_MAX];
    char found[PATH_MAX]; /* the interpreter that env would find */
};

/* Fills plan from a call's arguments; returns whether it is redirected. run_id goes into
 * PIE_EXEC_RUN_VARIABLE, with the prices of counting that are known. Context: hook, vfork child. */
bool pie_exec_plan_path(struct pie_exec_plan *plan, const char *path, char *const *argv, char *const *envp,
                        long run_id);
/* The same for a program given as open file (fexecve). Scripts are not looked at: their path is the
 * descriptor. */
bool pie_exec_plan_open(struct pie_exec_plan *plan, int fd, char *const *argv, char *const *envp,
                        long run_id);
