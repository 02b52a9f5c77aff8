/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "storage/export/calltree_outline.h"

/* A call tree as short as people read it: the user's own functions, and below them the library functions that they
 * called, without what those called. A library that only leads to own code (an event loop, the start of a thread) is
 * left out. A function that calls itself is one row, and so are equal ones below one row. Context: cli. */

struct pie_calltree_own_row {
    uint32_t frame;                       /* of the tree */
    uint32_t depth;                       /* 0: the whole, which is rows[0] and not printed */
    uint32_t above;                       /* row */
    uint32_t nth;                         /* by cost: the first n of them are a tree without gaps */
    struct pie_calltree_cost total, self; /* self: with what is not a row of its own */
};

struct pie_calltree_own {
    struct pie_calltree_own_row *rows; /* in the order of reading, the costliest first */
    uint32_t count;
};

/* Returns 0 or -ENOMEM. */
int pie_calltree_own_make(const struct pie_calltree_outline *outline, struct pie_calltree_own *ret_own);
void pie_calltree_own_finish(struct pie_calltree_own *own);

struct sqlite3;

/* The run, whose total the tree has less than where a question narrowed it. */
struct pie_calltree_whole {
    int64_t run, cpu_ns;
};

/* Makes the temporary table own_tree. Returns an SQLite result code. */
int pie_calltree_make_own_table(struct sqlite3 *db, const struct pie_calltree_outline *outline,
                                const struct pie_calltree_whole *whole);
