/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sqlite3.h>

/* A database in memory with all that a file holds at this time. It can be had of a file of up to 4 MB in WAL mode that
 * has no log, so that nobody else has it open. To read such a file where it is, SQLite makes a log and an index beside
 * it, reads page by page under locks, and removes both again: a quarter of the time of a question to a small file.
 *
 * This process must have no connection to the file, whose locks would be lost. Context: cli. */

/* Returns SQLITE_OK, SQLITE_NOTFOUND (no such file: it is to be read where it is), or another result code. */
int pie_image_open(const char *path, sqlite3 **ret_db);
/* The same, attached to another database as `name`. */
int pie_image_attach(sqlite3 *db, const char *name, const char *path);
