/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct sqlite3;

/* The reader's table for the view x_call_time (calls.sql): the rows of call_sums.h. SQLite would walk from each node to
 * its root for them; here all is added up in one walk through the tree. The process has to be given ("WHERE process =
 * …", or a join). Context: cli. */

#define PIE_CALL_TIME_TABLE "x_call_time"

/* What it is made with, as "CREATE VIRTUAL TABLE … USING" this. Returns an SQLite result code. */
int pie_call_time_add(struct sqlite3 *db);
