/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/answers/finding.h"

/* Traced loops (rows of v_learned_loop) and the calls in them, as they are printed for people. Context: cli, launcher
 * (at exit). */

struct pie_cursor;

struct pie_traced_loop {
    char *file, *function, *note; /* printable, or NULL */
    double line;                  /* NaN: unknown */
    int64_t process, pid, loop;
    int64_t iterations, observed_iterations, entries;
    int64_t decided_after; /* 0: it is not decided */
    double body_s, confidence;
    int64_t nth, count;       /* of those of the run */
    bool is_one_of_processes; /* others of the run traced loops too */
};

/* The columns of a loop, for :run. */
extern const char pie_traced_loops_sql[];
void pie_traced_loop_read(struct pie_cursor *row, struct pie_traced_loop *ret_loop);
void pie_traced_loop_finish(struct pie_traced_loop *loop);

/* "sure at 95 % after 41 of 10000 iterations"; heap, or NULL. */
char *pie_traced_verdict(const struct pie_traced_loop *loop);
/* "1 iteration", "2 iterations"; heap, or NULL. */
char *pie_traced_count(int64_t count, const char *noun);

enum pie_traced_files {
    PIE_TRACED_SHORT_PATHS,
    PIE_TRACED_BASE_NAMES, /* without their folders */
};

/* The first `most` calls of a loop as a table, with what does not fit on the screen left out; *ret_more: how many there
 * are beyond them. Returns 0, or -errno and a message (heap). */
int pie_traced_calls_print(const struct pie_finding_screen *screen, const struct pie_traced_loop *loop,
                           enum pie_traced_files files, size_t most, size_t *ret_more, char **ret_message);

/* "parse.py:7" as `files` says; heap, or NULL. */
char *pie_traced_place(const char *file, double line, enum pie_traced_files files);
