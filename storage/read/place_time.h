/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct sqlite3;

/* The reader's table for the view x_place_time (time.sql): the rows of place_sums.h. SQLite would look up the context
 * of each sample and sort them for each question; here they are added up in one pass for all. The process has to be
 * given ("WHERE process = …", or a join). Context: cli. */

#define PIE_PLACE_TIME_TABLE "x_place_time"

/* What it is made with, as "CREATE VIRTUAL TABLE … USING" this. Returns an SQLite result code. */
int pie_place_time_add(struct sqlite3 *db);
