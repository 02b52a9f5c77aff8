/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/guest/enter.h"
#include "runtime/confirm/board.h"

/* pieprof confirm: the findings of a profile (plan.c), the program again in a process of its own (start.c), what it
 * counted into the profile and to people (tell.c). The counts come through memory that both processes map
 * (launcher/session/board.h). */

struct pie_reader;

/* --- plan.c --- */

/* What is to be run, and why. Strings are on the heap. */
struct pie_confirm_plan {
    int64_t run, process; /* the run's first process, which the counts are about */
    char *executable;
    bool is_guest;        /* it is executed itself, with the core; else this program stands for it */
    bool slows_functions; /* that have such a line, or only the line */
    struct pie_guest guest;
    char **words;                    /* Python's command line, words[0] is the interpreter; NULL-terminated */
    double run_s;                    /* CPU time of the profiled run */
    struct pie_confirm_board *board; /* with its lines; borrowed */
};

/* Reads the findings of a run: one by its rank, or all (0). script: the words after "--", or NULL: those of the
 * profiled run. Returns 0, or an exit status after an error message. Context: cli. */
int pie_confirm_plan_make(struct pie_reader *reader, int64_t finding, char **script,
                          struct pie_confirm_plan *plan);
void pie_confirm_plan_finish(struct pie_confirm_plan *plan);

/* --- interpreter.c --- */

/* Whether calls can be counted in the plan's interpreter, and in which form it runs. Returns 0, or an exit status after
 * an error message. Context: cli. */
int pie_confirm_interpreter_check(struct pie_confirm_plan *plan);

/* --- start.c --- */

/* How the program ended. */
struct pie_confirm_end {
    int wait_status;
    double cpu_s; /* with the children that it waited for */
};

/* Runs the program and waits for it. Returns 0 or -errno. Context: cli. */
int pie_confirm_start(const struct pie_confirm_plan *plan, int fd, struct pie_confirm_end *ret_end);

/* --- tell.c --- */

/* Says what a second run costs. Context: cli. */
void pie_confirm_tell_cost(const struct pie_confirm_plan *plan);
/* Says what was found out about each line, after it has been written. Context: cli. */
int pie_confirm_tell(const char *path, const struct pie_confirm_plan *plan);
/* … of which files nothing was run, so that nothing is known of their lines; status: the program's exit status, */
void pie_confirm_tell_absent(const struct pie_confirm_board *board, int status);
/* … and what else was not counted. */
void pie_confirm_tell_gaps(const struct pie_confirm_board *board, int status);
