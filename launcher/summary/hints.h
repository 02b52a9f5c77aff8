/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

struct pie_reader;

/* What a run's figures say of the run as a whole, where the evidence is plain: it waited most of its time, its threads
 * had no processor, imports took much of it. Context: cli, launcher (at exit). */
struct pie_hint {
    const char *kind; /* "input bound", "waiting", "processors", "throttled" or "imports" */
    double share;     /* of the main thread's, of the threads' or of the CPU time */
    const char *text; /* one line with the figures, printable */
    const char *file; /* the line that it is about; NULL: none */
    int64_t line;     /* 0: none */
};

/* Hands each hint to take(), the one about most time first. Returns 0, or -errno and a message. */
int pie_hints_each(struct pie_reader *reader, int64_t run, void *data,
                   void (*take)(void *data, const struct pie_hint *hint), char **ret_message);
