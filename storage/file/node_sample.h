/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct sqlite3;

/* The reader's table for the view x_node_sample (time.sql): the rows of `sample` added up over slices, one for each
 * thread and node of a process. SQLite would sort the rows of all slices for that; here they are added up as they come.
 * The process has to be given ("WHERE process = …", or a join). Of very many nodes, one may come more than once, so who
 * asks adds up what comes. Context: cli. */

#define PIE_NODE_SAMPLE_TABLE "x_node_sample"

/* What it is made with, as "CREATE VIRTUAL TABLE … USING" this; but without being made it is had by this name too,
 * where nothing else has it. Returns an SQLite result code. */
int pie_node_sample_add(struct sqlite3 *db);
