/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

struct pie_options;

/* The words of a profiled run that were meant for pieprof. Context: launcher. */

/* Is the script a bare word ("stats") that is neither a file nor a command? Says so, and what may have been meant.
 * Names with a dot or a slash are left to Python, which knows more kinds of them than files. */
bool pie_script_word_is_wrong(const struct pie_options *options);

/* Looks for options behind the script that can only be ours: such as the script does not name anywhere. It gets them
 * unchanged. */
void pie_script_word_find_late(const struct pie_options *options);
/* One line about the first of them, for the end, where it is read; NULL: there was none. */
const char *pie_script_word_late(void);
