/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

struct pie_options;

/* The profile of this process, from before Python starts to its last moment. */
struct pie_session {
    const struct pie_options *options;
    const char *self;       /* path of our image: the program, or the core */
    const char *preload;    /* what children are to preload (runtime/libc/exec.h); NULL: they become us */
    const char *executable; /* what sys.executable will say */
    const char *children;   /* the interpreter whose starts are redirected to us */
    char *const *argv;      /* the interpreter's arguments, without its own name */
    const char *late_hint;  /* a line for the end, or NULL */
    pid_t
        summary_pid; /* the process that prints the summary at its end, unless the options say quiet; 0: none */
};

/* The file that this process writes: known once it has been started, before that the one it was asked for. Context:
 * launcher. */
const char *pie_session_output(const struct pie_options *options);

/* Can the profile be written? Returns 0, or -errno with *ret_why a line for people or NULL. Context: launcher. */
int pie_session_check(const struct pie_options *options, char **ret_why);

/* Starts profiling and ensures its end, however the process ends. The data that session points to is borrowed for
 * the life of the process. On failure the program can run unprofiled. Returns 0 or -errno. Context: launcher (before
 * Python starts). */
int pie_session_start(const struct pie_session *session);
