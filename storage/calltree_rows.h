/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "storage/calltree.h"
#include "storage/idmap.h"

/* The rows that a call tree is made of: calltree_rows.c reads them, calltree.c makes the tree. The file is not trusted: a
 * row may refer to rows that are not there, a parent may be its own descendant, a chain of inlined functions may have no
 * end. Each such reference counts as the end of its chain. */

enum { PIE_CALLTREE_INLINE_MAX = 64 };

struct pie_raw_key {
    int64_t process, id;
};

struct pie_raw_function {
    struct pie_raw_key key;
    uint32_t frame;
};

struct pie_raw_location {
    struct pie_raw_key key;
    int64_t function, caller;
};

struct pie_raw_node {
    struct pie_raw_key key;
    int64_t parent, location;
    uint32_t node;   /* of the tree: its costs go there */
    uint32_t attach; /* of the tree: what is below it hangs there */
    bool is_resolved, is_on_chain;
    bool is_in_python;    /* it or something above it is Python code */
    bool leads_to_python; /* something below it is Python code */
};

struct pie_calltree_source {
    struct pie_raw_function *functions;
    struct pie_raw_location *locations;
    struct pie_raw_node *nodes;
    size_t function_count, location_count, node_count;
    struct pie_idmap frames;   /* its fields as text, to index + 1 */
    struct pie_idmap children; /* (parent, frame) to node */
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
int pie_calltree_each_row(struct pie_reader *reader, const char *sql, int64_t run, struct pie_calltree *tree,
                          int (*take)(struct pie_calltree *, struct pie_cursor *), char **ret_message);

/* Takes the frame's strings, also on failure. Returns 0 or -ENOMEM. */
int pie_calltree_add_frame(struct pie_calltree *tree, struct pie_calltree_frame frame);
void pie_calltree_finish_rows(struct pie_calltree *tree);

/* The row of table node, or NULL. */
struct pie_raw_node *pie_calltree_raw_node(const struct pie_calltree *tree, int64_t process, int64_t id);
/* The frames at a location, innermost first: the function, then those it was inlined into; at most
 * PIE_CALLTREE_INLINE_MAX. Returns their number. */
uint32_t pie_calltree_frames_at(const struct pie_calltree *tree, int64_t process, int64_t location,
                                uint32_t *ret_frames);
