/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "storage/file/guard.h"
#include "storage/file/packing.h"
#include "storage/read/reader.h"
#include "storage/file/schema_statements.h"

struct sqlite3_stmt;

struct pie_reader {
    struct sqlite3 *db;
    char *path;
    char *note;
    bool is_untouched; /* neither the file nor its log may change */
    bool is_still;     /* the same, and without a log it is read without locks */
    bool may_copy;     /* what is written to the file from now on need not be seen */
    bool is_image;     /* it was copied into memory (storage/file/image.h) */
    bool is_trusted;   /* this process has just written it */
    struct pie_guard guard;
    double time_limit_s;
    int64_t process;                   /* nothing but this one is read; 0: all */
    bool has_view[PIE_STATEMENTS_MAX]; /* it was made (views.c) */
    bool is_kept[PIE_STATEMENTS_MAX];  /* as a table of rows (kept.c) */
    int64_t kept_run;                  /* of this run; 0: none are */
    bool is_keeping;                   /* one is being made */
    bool has_whole[PIE_PACKING_KINDS]; /* all rows of a table, packed or not, are temp.<table> (views.c) */
    bool has_module;                   /* nothing else will have the name of PIE_NODE_SAMPLE_TABLE */
    bool has_period;                   /* nothing but a period of time is read (period_cut.c) */
};

/* Limits and settings of the connection. Returns an SQLite result code. */
int pie_reader_set_up(struct pie_reader *reader);

/* The file is of an older version: all of it is read in a copy that is as if it had been written today. Returns 0, or
 * -errno and a message. */
int pie_reader_read_copy(struct pie_reader *reader, char **ret_message);

/* Statements of ours that make temporary tables and views, which no authorizer needs to look at. bind: gives each its
 * parameters; may be NULL. sql: NULL is for want of memory. Returns 0, or -errno and a message. */
typedef void (*pie_reader_bind_fn)(struct sqlite3_stmt *statement, const void *data);
int pie_reader_run_own(struct pie_reader *reader, const char *sql, pie_reader_bind_fn bind, const void *data,
                       char **ret_message);

/* What views need and this SQLite may lack. Returns an SQLite result code. */
int pie_reader_add_functions(struct pie_reader *reader);

/* One line for an SQLite result code about this reader's file. Returns -errno. */
int pie_reader_fail(struct pie_reader *reader, int code, char **ret_message);
