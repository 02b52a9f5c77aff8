/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

struct sqlite3;

/* A profile's rows in a database of their own, in the tables of today: what an older file does not have gets its
 * default, what is unknown stays behind. Context: cli. */

/* run, process: nothing but these, under their own numbers; 0: all. db: empty, may attach. Returns an SQLite result
 * code. */
int pie_copy_profile(struct sqlite3 *db, const char *path, int64_t run, int64_t process);
