/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profiler/ports/sink.h"

/* What the writer must remember of the locations and nodes it has written: where the innermost Python line at or
 * above each node is, and whose native code runs below that line. Ids are the engine's. Context: drain. */

/* A function of the file. The writer chooses it. */
struct pie_function_id {
    uint32_t value;
};

struct pie_context_node {
    struct pie_location_id line_location; /* innermost Python location, 0: none */
    struct pie_location_id own_location;  /* innermost Python location in the user's own code, 0: none */
    uint32_t
        library_module; /* innermost native code of a distribution below line_location: its module, 0: none */
    struct pie_function_id
        entry_function; /* what the interpreter called: of the outermost native code below line_location that
                              * is not of the interpreter's home; 0: none */
    uint32_t own_depth; /* Python frames below that of own_location */
};

enum pie_context_flags {
    PIE_CONTEXT_PYTHON = 1,
    PIE_CONTEXT_OWN = 2,  /* with PIE_CONTEXT_PYTHON: the user's own code */
    PIE_CONTEXT_TEXT = 4, /* with PIE_CONTEXT_OWN: code made from a string, own only where own code runs it */
    PIE_CONTEXT_FOREIGN = 8, /* native code that is not of the interpreter's home */
};

struct pie_context_location {
    unsigned flags;                  /* pie_context_flags */
    uint32_t library_module;         /* native code of a distribution: its module, else 0 */
    struct pie_function_id function; /* native code: its function */
    struct pie_location_id
        line; /* Python: the first location noted of the same line, itself if it is the first */
    struct pie_location_id caller; /* of the function that this one was inlined into, noted before; 0: none */
};

struct pie_contexts;

/* Returns 0 or -ENOMEM. */
int pie_contexts_create(struct pie_contexts **ret_contexts);
void pie_contexts_destroy(struct pie_contexts *contexts);

/* Returns 0 or -ENOMEM. */
int pie_contexts_set_location(struct pie_contexts *contexts, struct pie_location_id id,
                              const struct pie_context_location *location);

/* Derives the node's places from its location and its parent (0: a root) and remembers them. A parent or location
 * never seen counts as one that says nothing. Returns 0 or -ENOMEM. */
int pie_contexts_add_node(struct pie_contexts *contexts, struct pie_node_id node, struct pie_node_id parent,
                          struct pie_location_id location, struct pie_context_node *ret_node);

/* The first location of the line that a Python location is on; 0 for others and those never noted. */
struct pie_location_id pie_contexts_get_line(const struct pie_contexts *contexts,
                                             struct pie_location_id location);

/* All but those counts as never seen. */
void pie_contexts_forget(struct pie_contexts *contexts, const struct pie_in_use *in_use);

/* The places that add_node gave a node; nothing (0 in every field) of one never seen. */
struct pie_context_node pie_contexts_get_node(const struct pie_contexts *contexts, struct pie_node_id node);
