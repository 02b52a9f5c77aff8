/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

struct pie_schema_statement;

/* Views as a WITH clause. Context: cli. */

/* `WITH name AS (SELECT ...), name_1 AS (...) ` with the views that `sql` names, and those that these name (heap of
 * SQLite's), a blank where no view is named; NULL without memory. Each place in a view that names another one has a
 * copy of its own of that. is_left_out: a view that is a table or a view of the connection already. */
char *pie_view_text(const char *sql,
                    bool (*is_left_out)(const void *data, const struct pie_schema_statement *view),
                    const void *data);

/* The next view that is named as a table between *at and `end`, NULL: there is none; *at is then behind it. */
const struct pie_schema_statement *pie_view_text_next(const char **at, const char *end);
