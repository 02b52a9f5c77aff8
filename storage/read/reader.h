/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Reading a profile, which may come from anywhere: nothing of it is used but rows of tables that are plain ones and
 * have our columns; views are the reader's own (views.h). Every statement runs under an authorizer that lets it only
 * read, within limits of time and size. Works on a read-only medium and while a program still writes. Context: cli. */

struct pie_reader;
struct pie_cursor;
struct sqlite3;

enum { PIE_READER_TIME_LIMIT_S = 30 };

/* Returns 0, or -errno with one line for people in *ret_message (heap). This process must have no connection to the
 * file (storage/file/image.h). */
int pie_reader_open(const char *path, struct pie_reader **ret_reader, char **ret_message);
/* The same, and what a program writes from now on is seen too. */
int pie_reader_open_living(const char *path, struct pie_reader **ret_reader, char **ret_message);
/* The same, and neither the file nor its log is changed by it, not even by putting the log into the file. is_still:
 * nobody writes to it as long as it has no log, so it needs no locks, and no files beside it are made. */
int pie_reader_open_untouched(const char *path, bool is_still, struct pie_reader **ret_reader,
                              char **ret_message);
/* The same of a file that this process has just written: it is not read as a whole to find damage, which takes 5 ms a
 * megabyte. */
int pie_reader_open_written(const char *path, struct pie_reader **ret_reader, char **ret_message);
void pie_reader_close(struct pie_reader *reader);

/* All cursors from now on see the file as it is at this moment, whatever is written meanwhile. A writer's log grows as
 * long as the reader is open. After pie_reader_cut(). Returns 0, or -errno and a message. */
int pie_reader_freeze(struct pie_reader *reader, char **ret_message);

/* Something people should know about this file, or NULL: one line. */
const char *pie_reader_note(const struct pie_reader *reader);
/* For each cursor, from its opening on. */
void pie_reader_set_time_limit(struct pie_reader *reader, double seconds);

/* For all that is asked from now on together, instead. */
void pie_reader_end_in(struct pie_reader *reader, double seconds);

/* The run `wanted`, or the last one if wanted is 0. Returns 0, or -ENOENT and a message if it is not there. */
int pie_reader_get_run(struct pie_reader *reader, int64_t wanted, int64_t *ret_run, char **ret_message);

/* Only this run will be asked for: what several questions need is worked out once, by the first of those that
 * pie_cursor_open_once() opens. What is written from then on may not be seen. */
void pie_reader_keep_run(struct pie_reader *reader, int64_t run);

/* From now on the file holds nothing but one process of one run (0: the last), which is named by its number or its pid.
 * Returns 0, or -ENOENT or another -errno and a message. No cursor may be open. */
int pie_reader_cut(struct pie_reader *reader, int64_t run, int64_t process, char **ret_message);

/* For the parts of storage/ that build tables of their own in memory (calltree.c). */
struct sqlite3 *pie_reader_database(struct pie_reader *reader);
void pie_reader_allow_all(struct pie_reader *reader, bool allow);

enum pie_value_type {
    PIE_VALUE_NULL,
    PIE_VALUE_INTEGER,
    PIE_VALUE_REAL,
    PIE_VALUE_TEXT,
    PIE_VALUE_BLOB,
};

/* Opens one statement that reads. Returns 0, or -errno and a message: -EINVAL bad SQL, -EACCES SQL that would do more
 * than read, -E2BIG more than one statement. */
int pie_cursor_open(struct pie_reader *reader, const char *sql, struct pie_cursor **ret_cursor,
                    char **ret_message);
/* The same for a SELECT of ours that is asked only once, which may have a WITH clause: SQLite prepares it faster, but
 * keeps nothing for the next one. */
int pie_cursor_open_once(struct pie_reader *reader, const char *select, struct pie_cursor **ret_cursor,
                         char **ret_message);
void pie_cursor_close(struct pie_cursor *cursor);

/* Parameters are named ":run"; those that the statement does not have are ignored. text is copied. */
void pie_cursor_bind_int(struct pie_cursor *cursor, const char *name, int64_t value);
void pie_cursor_bind_text(struct pie_cursor *cursor, const char *name, const char *text);
/* The statement with its parameters written out (heap), or NULL. */
char *pie_cursor_expanded_sql(struct pie_cursor *cursor);

/* 1: there is a row, 0: there are no more, or -errno and a message. */
int pie_cursor_next(struct pie_cursor *cursor, char **ret_message);

int pie_cursor_column_count(struct pie_cursor *cursor);
const char *pie_cursor_column_name(struct pie_cursor *cursor, int column);
/* Of the current row. Text is valid until the next call for this cursor; it is NULL for NULL only. */
enum pie_value_type pie_cursor_type(struct pie_cursor *cursor, int column);
int64_t pie_cursor_int(struct pie_cursor *cursor, int column);
double pie_cursor_real(struct pie_cursor *cursor, int column);
const char *pie_cursor_text(struct pie_cursor *cursor, int column);
const void *pie_cursor_blob(struct pie_cursor *cursor, int column, int *ret_size);
