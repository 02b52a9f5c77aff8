/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

struct sqlite3;

/* A profile's rows in a database of their own, in the tables of today: columns missing in an older file get their
 * defaults, and unknown columns are not copied. Context: cli. */

/* run, process: nothing but these, under their own numbers; 0: all. db: empty, may attach. Returns an SQLite result
 * code. */
int pie_copy_profile(struct sqlite3 *db, const char *path, int64_t run, int64_t process);
