/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "storage/export/calltree.h"
#include "storage/export/calltree_frames.h"
#include "storage/export/calltree_ids.h"
#include "storage/base/lookup.h"

/* The rows that a call tree is made of: calltree_rows.c reads them, calltree.c makes the tree. The file is not trusted:
 * a row may refer to rows that are not there, a parent may be its own descendant, a chain of inlined functions may have
 * no end. Each such reference counts as the end of its chain.
 *
 * A file may have millions of them, so they are arrays of 32 bits for each column, which go when they have been used.
 * Rows refer to each other by their numbers in these arrays from 1 on; 0: to none. */

enum { PIE_CALLTREE_INLINE_MAX = 64 };

struct pie_raw_locations {
    struct pie_calltree_ids ids;
    uint32_t *frames;  /* number + 1 of their function's; 0: it is not known */
    uint32_t *callers; /* location */
};

enum pie_raw_node_flags {
    PIE_RAW_NODE_RESOLVED = 1,
    PIE_RAW_NODE_ON_CHAIN = 2,
    PIE_RAW_NODE_IN_PYTHON = 4,       /* it or something above it is Python code */
    PIE_RAW_NODE_LEADS_TO_PYTHON = 8, /* something below it is Python code */
    PIE_RAW_NODE_OUTSIDE = 16,        /* of the interpreter, and what is below it hangs on the root */
};

struct pie_raw_nodes {
    struct pie_calltree_ids ids;
    uint32_t *parents, *locations;
    uint32_t *nodes; /* of the tree: their costs go there */
    uint8_t *flags;
};

struct pie_calltree_source {
    struct pie_calltree_ids functions;
    uint32_t *function_frames;
    struct pie_raw_locations locations;
    struct pie_raw_nodes nodes;
    struct pie_calltree_texts texts;
    struct pie_lookup frames;   /* by their fields, number + 1 */
    struct pie_lookup children; /* nodes of the tree by parent and frame */
    enum pie_calltree_detail detail;
    uint32_t interpreter; /* node for costs of the interpreter outside any Python code, 0: none yet */
};

struct pie_cursor;

/* Room for one more element: arrays double at powers of two. Returns the array, which may have moved, or NULL. */
void *pie_calltree_grow(void *array, size_t count, size_t size);

/* Reads functions (and their frames), locations and nodes of a run. Returns 0, or -errno and a message. */
int pie_calltree_read_rows(struct pie_reader *reader, int64_t run, struct pie_calltree *tree,
                           char **ret_message);
/* Hands each row of a statement about a run to `take`, which returns 0 or -errno. */
int pie_calltree_each_row(struct pie_reader *reader, const char *sql, int64_t run, void *data,
                          int (*take)(void *data, struct pie_cursor *), char **ret_message);

/* What is needed only to make the tree goes; of a row's id its node can still be found. */
void pie_calltree_end_rows(struct pie_calltree *tree);
void pie_calltree_finish_rows(struct pie_calltree *tree);

/* The frames at a location, innermost first: the function, then those it was inlined into; at most
 * PIE_CALLTREE_INLINE_MAX. Returns their number. */
uint32_t pie_calltree_frames_at(const struct pie_calltree *tree, uint32_t location, uint32_t *ret_frames);
