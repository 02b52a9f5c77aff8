/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profiler/ports/sink.h"

struct pie_reader;

/* The calling contexts of a run as one tree of functions: nodes of all its processes and threads that have the same
 * path are one, and functions inlined by the compiler are frames of their own. Context: cli. */

struct pie_calltree_frame {
    enum pie_location_kind kind;
    const char *function; /* NULL: no name known */
    const char *file;     /* NULL: not known */
    const char *library;  /* NULL: own code, or not known */
    const char *module;   /* NULL: Python, or not known */
    int64_t first_line;   /* 0: not known */
    int64_t line;         /* 0: not known, or the frame is a whole function */
    uint32_t whole;       /* the frame of the whole function; its own number: it is that */
};

struct pie_calltree_node {
    uint32_t frame;
    uint32_t parent;                    /* less than the node's own index */
    uint32_t first_child, next_sibling; /* costliest first; 0: none */
};

struct pie_calltree {
    struct pie_calltree_frame *frames;
    uint32_t frame_count;
    struct pie_calltree_node *nodes; /* nodes[0] is above all roots and has no frame */
    uint32_t node_count;
    int64_t *self_cpu_ns;               /* by node */
    int64_t *cpu_ns, *wait_ns;          /* with all that is below it */
    struct pie_calltree_source *source; /* what the rows of the file became */
};

/* Readable: frames of the interpreter's own code count as part of what they run for, and what starts a thread or the
 * program (start_thread, main) is left out above Python code. Flags of a sum. */
enum pie_calltree_detail {
    PIE_CALLTREE_READABLE = 0,
    PIE_CALLTREE_FULL = 1,
    PIE_CALLTREE_LINES = 2, /* a frame for each line of a function */
};

/* Returns 0, or -errno and a line for people (heap). */
int pie_calltree_load(struct pie_reader *reader, int64_t run, enum pie_calltree_detail detail,
                      struct pie_calltree **ret_tree, char **ret_message);
void pie_calltree_destroy(struct pie_calltree *tree);

/* The node of the tree that the costs of a row of table node belong to; 0: there is no such row. */
uint32_t pie_calltree_find(const struct pie_calltree *tree, int64_t process, int64_t node);

/* Adds what is no less than 0 and stays at the greatest number: a hostile file's sums may not overflow. */
void pie_calltree_add(int64_t *sum, int64_t value);

/* Makes the temporary table call_tree of a run (pruned: nodes below 1 % of the run's CPU time and of its waiting time
 * are left out, and depth is limited), unless it is there already. Returns as pie_calltree_load(). */
#define PIE_CALLTREE_TABLE "call_tree"
#define PIE_CALLTREE_PRUNE 0.01
enum { PIE_CALLTREE_DEPTH = 64 }; /* what is deeper is one row, "… 6000 more", unless the tree is full */
int pie_calltree_make_table(struct pie_reader *reader, int64_t run, enum pie_calltree_detail detail,
                            char **ret_message);
