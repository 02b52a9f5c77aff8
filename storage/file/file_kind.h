/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* May SQLite open this file, and what it keeps beside it? A FIFO in place of a journal would hold it up for ever, and
 * all of the log is read before the first statement. A file that is not there is fine. Returns 0, -EISDIR, -EINVAL (it,
 * or one beside it, is not a regular file), -EFBIG (the log) or another -errno. Context: drain, cli. */
int pie_file_kind_check(const char *path);

/* Does the file say of itself that it is a profile, of whatever version? Context: cli. */
bool pie_file_kind_is_profile(const char *path);
