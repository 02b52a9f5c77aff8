/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

struct pie_reader;

/* The time limit of a query. SQLite looks at it between its operations, and one function call may be an operation of
 * hours. So a second later a signal ends the program, with one line and, for programs, one object. Context: cli (the
 * process is a subcommand's own). */

void pie_hard_end_start(struct pie_reader *reader, double seconds, bool is_json);
/* While nothing is computed: the program waits for the reader of a pipe. */
void pie_hard_end_pause(void);
void pie_hard_end_resume(void);
/* The answer is there. */
void pie_hard_end_stop(void);
