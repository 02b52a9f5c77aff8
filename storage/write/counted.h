/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a second run counted (pieprof confirm): the rows of the table counted. Context: cli. */

/* A callee at a line; an empty callee is the line itself. Strings are borrowed. tables.sql explains the figures. */
struct pie_counted {
    const char *file, *callee;
    int64_t line;
    bool is_item, is_whole, has_more;
    uint64_t calls, raised, compared, distinct_args, distinct_results, again, alike, singles;
    uint64_t call_ns, again_ns, alike_ns, single_ns, run_ns, bulk_ns, grew, arg_bytes;
};

/* Can rows be added to this file? Returns 0, or -errno with one line for people in *ret_message (heap). */
int pie_counted_check(const char *path, char **ret_message);

/* Writes rows of a process, all or none. They take the place of what was counted at their lines before; callees of one
 * name at a line are added up. Returns as above. */
int pie_counted_write(const char *path, int64_t process, const struct pie_counted *rows, size_t count,
                      char **ret_message);
