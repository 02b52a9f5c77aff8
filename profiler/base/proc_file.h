/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Small files of /proc and /sys, read whole with one open and one close, and no allocation. */

/* Reads at most size - 1 bytes and terminates them. Returns the length or -errno. Context: any (not hook). */
int pie_proc_read(const char *path, char *ret_text, size_t size);

/* The same of a thread of this process: /proc/self/task/TID/name. Context: any (not hook). */
int pie_proc_read_task(int tid, const char *name, char *ret_text, size_t size);

/* The number that the file begins with. Returns 0 or -errno. Context: any (not hook). */
int pie_proc_read_long(const char *path, long *ret_value);

/* The value after "key:" at the beginning of a line of `text`, blanks skipped, up to the end of the line.
 * Returns its length, or -ENOENT. Context: any. */
int pie_proc_field(const char *text, const char *key, char *ret_value, size_t size);
