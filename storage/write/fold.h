/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct sqlite3;
struct pie_in_use;

/* Makes a process's part of the file smaller: contexts of little weight, those that were not seen for longest first,
 * fold into "(other)" below their nearest caller that stays. No sum over contexts changes, of no slice, thread, kind or
 * size. Threads that have ended fold into the first of their name. Context: drain. */

/* Ids that folding gives out; those of a process count up from 1, these count down. Of a node: of the one that it stays
 * below, 0: none. */
#define PIE_FOLD_OTHER_ID INT64_C(0xffffffff) /* of a location and a function, too */

/* Does nothing but that: inside a write transaction. in_use: nodes and locations that the process may still write rows
 * of; NULL: it has ended. share: of the nodes that are not in use, how many fold. Returns how many did, or -errno. */
int64_t pie_fold_contexts(struct sqlite3 *db, int64_t process, const struct pie_in_use *in_use, double share);

/* Returns how many threads folded, or -errno. */
int64_t pie_fold_threads(struct sqlite3 *db, int64_t process);
