/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct pie_reader;

/* Makes tables of the run that the reader keeps (pie_reader_keep_run()): of the views on the way to `sql` that are
 * chosen for it, where there are none yet. Returns 0, or -errno and a message (heap). Context: cli. */
int pie_kept_make(struct pie_reader *reader, const char *sql, char **ret_message);
