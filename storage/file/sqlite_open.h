/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sqlite3.h>

/* SQLite's settings, before anything else of it is called. Context: drain, cli. */
void pie_sqlite_start(void);

/* sqlite3_open_v2(), the only way in which a database is opened: where SQLite is our own copy its memory does not come
 * from malloc(). Context: drain, cli. */
int pie_sqlite_open(const char *path, sqlite3 **ret_db, int flags, const char *vfs);
