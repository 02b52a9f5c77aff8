/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "storage/guard.h"
#include "storage/reader.h"

struct pie_reader {
    struct sqlite3 *db;
    char *path;
    char *note;
    bool is_untouched; /* neither the file nor its log may change */
    bool is_trusted;   /* this process has just written it */
    struct pie_guard guard;
    double time_limit_s;
};

/* Limits and settings of the connection. Returns an SQLite result code. */
int pie_reader_set_up(struct pie_reader *reader);

/* What views need and this SQLite may lack. Returns an SQLite result code. */
int pie_reader_add_functions(struct sqlite3 *db);

/* One line for an SQLite result code about this reader's file. Returns -errno. */
int pie_reader_fail(struct pie_reader *reader, int code, char **ret_message);
