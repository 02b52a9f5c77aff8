/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct sqlite3;

/* The reader's tables for the views x_line_sum and x_function_sum (time.sql): the rows of cost_sums.h. SQLite would
 * join and sort all parts, with their texts, for each question. The run has to be given ("WHERE run = …", or a join).
 * Context: cli. */

#define PIE_LINE_SUM_TABLE "x_line_sum"
#define PIE_FUNCTION_SUM_TABLE "x_function_sum"

/* What they are made with, as "CREATE VIRTUAL TABLE … USING" this. Both read x_place_time, which is made before.
 * Returns an SQLite result code. */
int pie_cost_time_add(struct sqlite3 *db);
