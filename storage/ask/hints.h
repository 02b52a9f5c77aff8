/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct pie_reader;

/* What a run's figures say of the run as a whole, where the evidence is plain: it waited most of its time, its threads
 * had no processor, imports or collections of garbage took much of it. Summary, report and page have the same text.
 * Context: cli, launcher (at exit). */
struct pie_hint {
    const char *kind; /* "input bound", "waiting", "processors", "throttled", "imports" or
                       * "garbage collection" */
    double share;     /* of the main thread's, of the threads' or of the CPU time */
    const char *text; /* one line with the figures, as the profile has it: not yet fit for a terminal */
    const char *file; /* the line that it is about; NULL: none */
    int64_t line;     /* 0: none */
};

/* Hands each hint to take(), the one about most time first. Returns 0, or -errno and a message. */
int pie_hints_each(struct pie_reader *reader, int64_t run, void *data,
                   void (*take)(void *data, const struct pie_hint *hint), char **ret_message);

/* Is there a part of the run's time that threads waited for a reason that is known, which is worth a look: 0.2 s or
 * more, and a tenth of CPU time and waiting? Returns 0, or -errno and a message. */
int pie_hints_waiting_matters(struct pie_reader *reader, int64_t run, bool *ret_matters, char **ret_message);
