/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

struct pie_sink;
struct pie_config;

/* Can a profile be written to `path`? Creates nothing that was not there before it returns.
 * Returns 0, or -errno with *ret_message set to one static or heap line for people (what, on what, what to do).
 * Also refuses a file that is no database, not ours, or of another version: what is in it stays readable by that one.
 * Context: cli, launcher (before Python starts). */
int pie_writer_check(const char *path, char **ret_message);

/* Is this the file's own fault, so that another file would do? `error` is of pie_writer_check() or
 * pie_writer_open(). */
bool pie_writer_is_refusal(int error);

/* Opens (or creates) the database for appending. No thread is started, no descriptor of the program is
 * touched: it must be called on the thread that will use it, whose descriptor table is private (see
 * profiler/collect/collection.c). Waits for other writers of the same file; never holds the write lock between
 * begin and commit for longer than the rows take.
 * Returns 0 and a sink to be ended with ops->close, or -errno.
 * Context: drain. */
int pie_writer_open(const char *path, const struct pie_config *config, struct pie_sink **ret_sink);
