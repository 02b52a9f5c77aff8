/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* The facts that runtime/ gives about the process and its interpreter. */

struct pie_holder_ops;

/* What runtime/ knows of the process's memory. */
struct pie_memory_facts {
    bool is_counted;                      /* malloc() and its like come through us */
    const char *allocator;                /* who serves them: "glibc", "jemalloc", the path of a library */
    const char *_Atomic note;             /* what is not counted and why, one sentence, or NULL */
    bool (*is_finalizing)(void);          /* Python gives everything back. Context: hook, drain */
    const struct pie_holder_ops *holders; /* NULL: nobody can be asked */
};

/* Facts about the process that the engine passes on to the sink. Strings live as long as the process. */
struct pie_process_facts {
    const char *const *argv; /* what the interpreter is given: script, options, arguments; NULL-terminated */
    const char *executable;  /* what sys.executable will say */
    const char *python_version;
    /* Makes the clock's handler that of a signal (runtime/libc/signals.h). Returns 0 or -errno. Context: drain. */
    int (*take_signal)(int signal);
    /* Text that was compiled under a name which is no file's; NULL: none. May be NULL. Context: drain. */
    const char *(*made_source)(const char *name, size_t *ret_size);
    const struct pie_memory_facts *memory; /* NULL: nothing can be said about memory */
};
