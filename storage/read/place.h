/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

struct pie_reader;
struct sqlite3;

/* What "in X" means: X is a file (its path, or the end of it from a slash on), a function (its qualified name or the
 * end of it from a dot on), a library (a distribution, or an ELF file's base name), a thread (its name, number or tid)
 * or a folder. Where it is several, the first of them in this order, unless the question says "in thread X". Context:
 * cli. */
enum pie_place_kind {
    PIE_PLACE_ANY,
    PIE_PLACE_FILE,
    PIE_PLACE_FUNCTION,
    PIE_PLACE_LIBRARY,
    PIE_PLACE_THREAD,
    PIE_PLACE_FOLDER,
    PIE_PLACE_KINDS,
};

struct pie_place {
    enum pie_place_kind kind;
    unsigned kinds; /* bits of all that X is in this run */
};

/* "file", "function", … as questions and messages have it. */
const char *pie_place_kind_name(enum pie_place_kind kind);

/* Gives the connection the SQL function in_place(kind, X, name [, path | number…]): is this name X? Returns an SQLite
 * result code. */
int pie_place_set_up(struct sqlite3 *db);

/* Looks X up in a run. Returns 0, or -ENOENT with a line that names the nearest, or another -errno. */
int pie_place_find(struct pie_reader *reader, int64_t run, const char *text, enum pie_place_kind wanted,
                   struct pie_place *ret_place, char **ret_message);

/* From now on the connection's views have only what happened in X (line: in that line of it, 0: all): in contexts whose
 * innermost Python line or innermost line of own code is X's, or that are X's native code. The line of a row is the one
 * in X. Shares stay those of the whole run. Returns 0 or -errno. */
int pie_place_cut(struct pie_reader *reader, int64_t run, const char *text, enum pie_place_kind kind,
                  int64_t line, char **ret_message);
