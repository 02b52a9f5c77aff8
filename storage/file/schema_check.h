/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

struct sqlite3;

/* Is the schema of a file one that pieprof makes? Compares texts and names, so nothing of the file is run.
 * Context: drain, cli. */
struct pie_schema_facts {
    bool is_plain;   /* what has the name of a table of ours is a table, and no column of it is computed */
    bool is_whole;   /* all our tables are there with all their columns */
    bool is_exact;   /* and they are ours word for word, so nothing but rows is written by writing to them */
    bool has_guests; /* something is there that could take part in a write: an index or trigger of others */
    bool has_sums;   /* something has the name of PIE_NODE_SAMPLE_TABLE (node_sample.h) */
};

/* Under a guard: the file decides how many rows its schema has. Returns 0 or -errno. */
int pie_schema_check(struct sqlite3 *db, struct pie_schema_facts *ret_facts);

/* For a file that is whole: writes a run into it and takes it back, and looks where the rows of each table are about to
 * be appended, so that damage there is found before there is anything to lose. Returns 0 or -errno. */
int pie_schema_rehearse(struct sqlite3 *db);
