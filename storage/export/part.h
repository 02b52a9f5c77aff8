/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "storage/export/calltree.h"
#include "storage/export/metric.h"

/* The costs of a run by node of its call tree: of all, or of one process, thread or time slice after the other. Rows
 * are read once, and a part knows its nodes, so that a thousand threads do not cost a thousand walks over the tree.
 * Context: cli. */

enum pie_part_by {
    PIE_PART_ALL,
    PIE_PART_PROCESS,
    PIE_PART_THREAD, /* of a metric without threads: by process */
    PIE_PART_SLICE,  /* of a thread */
};

struct pie_part {
    int64_t process, thread, slice_s; /* 0: all; slices begin at 0, too */
    const uint32_t
        *nodes; /* those with costs at or below them: each before its children, siblings as in the tree */
    uint32_t count;
    const int64_t *self,
        *total; /* by node of the tree, 0 for those that are not listed; [0]: of the whole part, with
                                    what a damaged file lost */
};

/* Returns 0 or -errno; a message for people is made of it. */
typedef int (*pie_part_fn)(void *data, const struct pie_part *part);

/* Hands each part that is not empty to `take`. Returns 0, or -errno and a message. */
int pie_parts_each(struct pie_reader *reader, const struct pie_calltree *tree, int64_t run,
                   const struct pie_metric *metric, enum pie_part_by by, void *data, pie_part_fn take,
                   char **ret_message);
