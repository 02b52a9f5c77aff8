/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

struct pie_reader;
struct pie_schema_statement;

/* The views of a profile are the reader's own, as temporary ones, and only those that a question needs: to make one
 * takes SQLite 0.1 ms, all of them as long as the question. Names of temporary views come before those of the file, so
 * what the file has under such a name is never used. Context: cli. */

/* Makes the views that `sql` names and those that these name, where they are not there yet. Returns 0, or -errno and a
 * message (heap). No cursor needs to be closed for it. */
int pie_views_make(struct pie_reader *reader, const char *sql, char **ret_message);

/* Instead, the views are written out as a WITH clause to be put before `sql`, which then begins with SELECT, or with a
 * WITH clause whose first word is to become a comma. Of chosen views tables are made (kept.h). SQLite
 * prepares such a question in half the time: it parses no view twice, and resolves none only to learn its columns.
 * *ret_with: heap of SQLite's, a blank where no view is named. Returns as pie_views_make(). */
int pie_views_before(struct pie_reader *reader, const char *sql, char **ret_with, char **ret_message);

/* From now on the reader's view of this name is what `text` selects. It was not made before. Returns as
 * pie_views_make(). */
int pie_views_replace(struct pie_reader *reader, const char *name, const char *text, char **ret_message);

/* Unmakes all of them. No cursor may be open. Returns as pie_views_make(). */
int pie_views_drop(struct pie_reader *reader, char **ret_message);

/* The reader has it as a table, for speed. */
bool pie_views_is_table(const struct pie_schema_statement *view);
