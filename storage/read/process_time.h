/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct sqlite3;

/* The reader's table for the view x_process_time (time.sql): the sums of a process, which shares and intervals are
 * taken of. Each question of a page or a summary needs them, so they are added up once. The process has to be given
 * ("WHERE process = …", or a join). Context: cli. */

#define PIE_PROCESS_TIME_TABLE "x_process_time"

/* What it is made with, as "CREATE VIRTUAL TABLE … USING" this. Returns an SQLite result code. */
int pie_process_time_add(struct sqlite3 *db);
