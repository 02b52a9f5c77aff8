/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct pie_prepared;
struct sqlite3;

/* The rows of a merge: a plan of all inputs' runs and processes with the numbers that they get, then the rows input by
 * input. An input may be of an older version (schema.h). The input is attached as "input", the result is "main".
 * Statements that are run for each input are prepared once. Each returns an SQLite result code. Context: cli. */

int pie_merge_rows_begin(struct sqlite3 *db);
/* Notes the runs and processes of an input; number 0 keeps its place before all others. They are read from the schema
 * of that name of `from`, which may be another connection's. */
int pie_merge_rows_note(struct pie_prepared *prepared, int64_t input, struct pie_prepared *from,
                        const char *schema);
/* Forgets an input that turned out bad. */
int pie_merge_rows_forget(struct pie_prepared *prepared, int64_t input);
/* Gives out the numbers, and makes the runs. */
int pie_merge_rows_number(struct sqlite3 *db);
/* Copies all that belongs to an input's processes, in a transaction of the caller's. is_planned: its tables have the
 * columns of those that were copied last. */
int pie_merge_rows_copy(struct pie_prepared *prepared, int64_t input, bool is_planned);
/* Links parents that are known by their pid. */
int pie_merge_rows_link(struct sqlite3 *db);
/* Unmakes the plan; the statements must have been finished. */
int pie_merge_rows_end(struct sqlite3 *db);
