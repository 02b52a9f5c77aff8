/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* The facts that runtime/ gives about the process and its interpreter. */

struct pie_retention_ops;

/* The facts about the process's memory. */
struct pie_memory_facts {
    bool is_counted;                           /* malloc() and similar functions pass through pieprof */
    const char *allocator;                     /* below them: "glibc", "jemalloc", the path of a library */
    const char *_Atomic note;                  /* what is not counted and why, one sentence, or NULL */
    bool (*is_finalizing)(void);               /* the interpreter is being finalized. Context: hook, drain */
    const struct pie_retention_ops *retention; /* NULL: retention paths cannot be found */
};

/* Facts about the process that the engine passes on to the sink. Strings live as long as the process. */
struct pie_process_facts {
    const char *const *argv; /* of the interpreter: script, options, arguments; NULL-terminated */
    const char *executable;  /* the value of sys.executable */
    const char *python_version;
    /* Makes the clock's handler that of a signal (runtime/libc/signals.h). Returns 0 or -errno. Context: drain. */
    int (*take_signal)(int signal);
    /* The source text compiled under a name that is not a file's; NULL: none. May be NULL. Context: drain. */
    const char *(*made_source)(const char *name, size_t *ret_size);
    const struct pie_memory_facts *memory; /* NULL: memory is not measured */
};
