/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <stdio.h>

struct pie_reader;

/* Prints the results of a run to stderr: one screen of at most 25 lines with the most expensive lines of the user's
 * own code first, the losses, the cost, and the next command to type. run_id: 0 for the last run. unwritten_ns: CPU
 * time of the profiler's that is not in the file; NULL: none. Returns 0, or -errno after a message. Context: cli,
 * launcher (at exit). */
int pie_summary_print(const char *db_path, int64_t run_id, uint64_t (*unwritten_ns)(void));

/* The same screen as the answer to a question, to `out`. Returns 0, or -errno and a message. Context: cli. */
int pie_summary_answer(FILE *out, struct pie_reader *reader, const char *path, int64_t run,
                       char **ret_message);
