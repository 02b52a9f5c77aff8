/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The statements of fold.c. ?1 is the process; temp.folded has what folds (node, of threads: the thread) and into what
 * (target). temp.repacked is empty before and after. They need storage/file/packed_tables.h. */

/* A table's sum of something, and that by node: rows (node, slice, how much). */
struct pie_fold_weight {
    const char *whole, *parts;
};

enum { PIE_FOLD_WEIGHTS = 6 };
extern const struct pie_fold_weight pie_fold_weights[PIE_FOLD_WEIGHTS];

/* NULL-terminated. Uses pie_location_in_use(id). */
extern const char *const pie_fold_contexts_sql[];

/* Fills temp.folded with threads that have ended, by pie_kind_of_name(name); then folds them. */
extern const char *const pie_fold_threads_choose;
extern const char *const pie_fold_threads_sql[];
