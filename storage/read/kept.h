/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

struct pie_reader;
struct pie_schema_statement;

/* Views of which a reader that reads one run (pie_reader_keep_run()) makes tables, when they are first named. Context:
 * cli. */

/* Is it one of these? */
bool pie_kept_is(const struct pie_schema_statement *view);

/* Makes the temporary table of the run's rows. Returns 0, or -errno and a message (heap). */
int pie_kept_make(struct pie_reader *reader, const struct pie_schema_statement *view, char **ret_message);
