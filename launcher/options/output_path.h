/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Names of files that each process has for itself. Context: launcher, drain. */

/* Does the name say where the pid goes? */
bool pie_output_has_pid(const char *pattern);

/* The pattern with %p as the pid, %h as the machine's name and %% as %; other text stays. A pattern without %p gets
 * ".%h.%p" behind it: pids are of one machine, files may be of several. Returns 0 or -ENAMETOOLONG. */
int pie_output_expand(const char *pattern, char *path, size_t size);

/* The n-th name beside `path`: "pieprof-2.db" for "pieprof.db". Returns 0 or -ENAMETOOLONG. */
int pie_output_beside(const char *path, int n, char *beside, size_t size);
