/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/export/calltree_outline.h"

#include <errno.h>
#include <stdlib.h>

#include "storage/export/calltree_rows.h"
#include "storage/base/message.h"
#include "storage/read/reader.h"

/* Most contexts are not printed, so the tree itself knows of each node only what decides that, and the samples are read
 * once more for the rest: each goes to the row of its node, or of the nearest node above that has one. */

static bool is_kept(const struct pie_calltree *tree, uint32_t node) {
    double cpu = (double)tree->cpu_ns[0] * PIE_CALLTREE_PRUNE;
    double wait = (double)tree->wait_ns[0] * PIE_CALLTREE_PRUNE;
    return (cpu > 0 && (double)tree->cpu_ns[node] >= cpu) ||
           (wait > 0 && (double)tree->wait_ns[node] >= wait);
}

/* The next node that is not below `at`, 0: none is left below `top`. */
static uint32_t next_beside(const struct pie_calltree *tree, uint32_t at, uint32_t top) {
    while (at != top && tree->nodes[at].next_sibling == 0)
        at = tree->nodes[at].parent;
    return at != top ? tree->nodes[at].next_sibling : 0;
}

/* Of the nodes below `top` those that would be printed. */
static uint32_t count_below(const struct pie_calltree *tree, uint32_t top) {
    uint32_t count = 0, at = tree->nodes[top].first_child;
    while (at != 0) {
        bool keep = is_kept(tree, at);
        count += keep;
        at = keep && tree->nodes[at].first_child ? tree->nodes[at].first_child : next_beside(tree, at, top);
    }
    return count;
}

static int add_row(struct pie_calltree_outline *outline, const struct pie_calltree_outline_row *row) {
    struct pie_calltree_outline_row *rows = pie_calltree_grow(outline->rows, outline->count, sizeof *rows);
    if (!rows)
        return -ENOMEM;
    outline->rows = rows;
    rows[outline->count++] = *row;
    return 0;
}

static int add_rest(struct pie_calltree_outline *outline, uint32_t row) {
    const struct pie_calltree_outline_row *last = &outline->rows[row];
    const struct pie_calltree_outline_row rest = {.node = last->node,
                                                  .depth = last->depth + 1,
                                                  .above = row,
                                                  .count = count_below(outline->tree, last->node),
                                                  .is_rest = true};
    int r = add_row(outline, &rest);
    if (r == 0)
        outline->rows[row].rest = outline->count - 1;
    return r;
}

/* Parents come before their children, so the row of a node's parent is known when the node is reached. */
static int choose_rows(struct pie_calltree_outline *outline, uint32_t depth_max) {
    const struct pie_calltree *tree = outline->tree;
    const struct pie_calltree_outline_row whole = {0};
    uint32_t at = tree->nodes[0].first_child;
    int r = add_row(outline, &whole);
    while (at != 0 && r == 0) {
        const struct pie_calltree_node *node = &tree->nodes[at];
        uint32_t above = outline->rows_of[node->parent];
        const struct pie_calltree_outline_row row = {
            .node = at, .above = above, .depth = outline->rows[above].depth + 1};
        bool keep = is_kept(tree, at), is_last = row.depth >= depth_max;
        if (keep) {
            outline->rows_of[at] = outline->count;
            r = add_row(outline, &row);
        }
        if (keep && is_last && r == 0)
            r = add_rest(outline, outline->rows_of[at]);
        at = keep && !is_last && node->first_child ? node->first_child : next_beside(tree, at, 0);
    }
    return r;
}

/* A node without a row belongs to its parent's, or to the rest below that. */
static void choose_rows_of_others(struct pie_calltree_outline *outline) {
    const struct pie_calltree *tree = outline->tree;
    for (uint32_t node = 1; node < tree->node_count; node++) {
        uint32_t above = outline->rows_of[tree->nodes[node].parent];
        if (outline->rows_of[node] == 0)
            outline->rows_of[node] = outline->rows[above].rest ? outline->rows[above].rest : above;
    }
}

void pie_calltree_add_cost(struct pie_calltree_cost *sum, const struct pie_calltree_cost *cost) {
    pie_calltree_add(&sum->python_ns, cost->python_ns);
    pie_calltree_add(&sum->native_ns, cost->native_ns);
    pie_calltree_add(&sum->system_ns, cost->system_ns);
    pie_calltree_add(&sum->wait_ns, cost->wait_ns);
    pie_calltree_add(&sum->runnable_ns, cost->runnable_ns);
    pie_calltree_add(&sum->throttled_ns, cost->throttled_ns);
    pie_calltree_add(&sum->samples, cost->samples);
}

int64_t pie_calltree_cpu_ns(const struct pie_calltree_cost *cost) {
    int64_t sum = 0;
    pie_calltree_add(&sum, cost->python_ns);
    pie_calltree_add(&sum, cost->native_ns);
    pie_calltree_add(&sum, cost->system_ns);
    return sum;
}

static const char samples_sql[] =
    "SELECT s.process, s.node, s.python_ns, s.native_ns, s.system_ns, s.wait_ns, s.runnable_ns,"
    " s.throttled_ns, s.samples"
    " FROM process p JOIN sample s ON s.process = p.id WHERE p.run = :run";

static int take_sample(void *data, struct pie_cursor *cursor) {
    struct pie_calltree_outline *outline = data;
    uint32_t node = pie_calltree_find(outline->tree, pie_cursor_int(cursor, 0), pie_cursor_int(cursor, 1));
    struct pie_calltree_outline_row *row = &outline->rows[outline->rows_of[node]];
    const struct pie_calltree_cost cost = {
        .python_ns = pie_cursor_int(cursor, 2),
        .native_ns = pie_cursor_int(cursor, 3),
        .system_ns = pie_cursor_int(cursor, 4),
        .wait_ns = pie_cursor_int(cursor, 5),
        .runnable_ns = pie_cursor_int(cursor, 6),
        .throttled_ns = pie_cursor_int(cursor, 7),
        .samples = pie_cursor_int(cursor, 8),
    };
    bool is_own = row->node == node && !row->is_rest;
    pie_calltree_add_cost(is_own ? &row->self : &row->total, &cost);
    return 0;
}

/* `total` of a row has the costs of its children without rows. A rest has nothing else. */
static void sum_up(struct pie_calltree_outline *outline) {
    for (uint32_t i = outline->count; i-- > 0;) {
        struct pie_calltree_outline_row *row = &outline->rows[i];
        if (row->is_rest)
            row->self = row->total;
        else
            pie_calltree_add_cost(&row->total, &row->self);
        if (i > 0)
            pie_calltree_add_cost(&outline->rows[row->above].total, &row->total);
    }
}

int pie_calltree_outline_make(struct pie_reader *reader, int64_t run, const struct pie_calltree *tree,
                              uint32_t depth_max, struct pie_calltree_outline *ret_outline,
                              char **ret_message) {
    struct pie_calltree_outline outline = {.tree = tree};
    outline.rows_of = calloc(tree->node_count, sizeof *outline.rows_of);
    int r = outline.rows_of ? choose_rows(&outline, depth_max) : -ENOMEM;
    if (r < 0)
        (void)pie_message(r, ret_message, "out of memory");
    else
        choose_rows_of_others(&outline);
    if (r == 0)
        r = pie_calltree_each_row(reader, samples_sql, run, &outline, take_sample, ret_message);
    if (r < 0) {
        pie_calltree_outline_finish(&outline);
        return r;
    }
    sum_up(&outline);
    *ret_outline = outline;
    return 0;
}

void pie_calltree_outline_finish(struct pie_calltree_outline *outline) {
    free(outline->rows);
    free(outline->rows_of);
    *outline = (struct pie_calltree_outline){0};
}
