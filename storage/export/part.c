/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/export/part.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "storage/base/message.h"
#include "storage/export/walk.h"
#include "storage/read/reader.h"

/* Sums of one part lie in arrays by node, and its nodes in a list, by which the arrays are emptied again. The list is
 * put into the tree's order by rank: a node's place in a walk over the whole tree. */
struct parts {
    const struct pie_calltree *tree;
    enum pie_part_by by;
    struct pie_part part;
    uint32_t *ranks, *by_rank; /* of a node; the node */
    uint32_t *nodes;           /* while a part is read: ranks */
    int64_t *self, *total;
    uint8_t *is_listed;
};

static int begin(struct parts *parts) {
    size_t count = parts->tree->node_count;
    uint32_t rank = 0;
    parts->ranks = calloc(count, sizeof *parts->ranks);
    parts->by_rank = calloc(count, sizeof *parts->by_rank);
    parts->nodes = calloc(count, sizeof *parts->nodes);
    parts->self = calloc(count, sizeof *parts->self);
    parts->total = calloc(count, sizeof *parts->total);
    parts->is_listed = calloc(count, sizeof *parts->is_listed);
    if (!parts->ranks || !parts->by_rank || !parts->nodes || !parts->self || !parts->total ||
        !parts->is_listed)
        return -ENOMEM;
    for (uint32_t node = 0; (node = pie_walk_next(parts->tree, node)) != 0;) {
        parts->ranks[node] = ++rank;
        parts->by_rank[rank] = node;
    }
    parts->part.nodes = parts->nodes;
    parts->part.self = parts->self;
    parts->part.total = parts->total;
    return 0;
}

static void finish(struct parts *parts) {
    free(parts->ranks);
    free(parts->by_rank);
    free(parts->nodes);
    free(parts->self);
    free(parts->total);
    free(parts->is_listed);
}

static void add(struct parts *parts, uint32_t node, int64_t value) {
    pie_calltree_add(&parts->self[node], value);
    for (uint32_t at = node; at != 0 && !parts->is_listed[at]; at = parts->tree->nodes[at].parent) {
        parts->is_listed[at] = 1;
        parts->nodes[parts->part.count++] = parts->ranks[at];
    }
}

static int compare_ranks(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void complete(struct parts *parts) {
    qsort(parts->nodes, parts->part.count, sizeof *parts->nodes, compare_ranks);
    for (uint32_t i = parts->part.count; i-- > 0;) {
        uint32_t node = parts->nodes[i] = parts->by_rank[parts->nodes[i]];
        pie_calltree_add(&parts->total[node], parts->self[node]);
        pie_calltree_add(&parts->total[parts->tree->nodes[node].parent], parts->total[node]);
    }
    pie_calltree_add(&parts->total[0], parts->self[0]);
}

static void empty(struct parts *parts) {
    for (uint32_t i = 0; i < parts->part.count; i++) {
        uint32_t node = parts->nodes[i];
        parts->self[node] = parts->total[node] = 0;
        parts->is_listed[node] = 0;
    }
    parts->self[0] = parts->total[0] = 0;
    parts->part.count = 0;
}

static int hand_out(struct parts *parts, void *data, pie_part_fn take, char **ret_message) {
    int r = 0;
    if (parts->part.count > 0) {
        complete(parts);
        r = take(data, &parts->part);
        if (r < 0)
            (void)pie_message(r, ret_message, "cannot make the export: %s", strerror(-r));
    }
    empty(parts);
    return r;
}

/* The part that a row belongs to. */
static struct pie_part part_of(const struct parts *parts, struct pie_cursor *row) {
    struct pie_part part = parts->part;
    part.process = parts->by >= PIE_PART_PROCESS ? pie_cursor_int(row, 0) : 0;
    part.thread = parts->by >= PIE_PART_THREAD ? pie_cursor_int(row, 1) : 0;
    part.slice_s = parts->by >= PIE_PART_SLICE ? pie_cursor_int(row, 2) : 0;
    return part;
}

static bool is_same(const struct pie_part *a, const struct pie_part *b) {
    return a->process == b->process && a->thread == b->thread && a->slice_s == b->slice_s;
}

static int read_all(struct parts *parts, struct pie_cursor *cursor, void *data, pie_part_fn take,
                    char **ret_message) {
    int r;
    while ((r = pie_cursor_next(cursor, ret_message)) > 0) {
        struct pie_part part = part_of(parts, cursor);
        if (!is_same(&part, &parts->part)) {
            if ((r = hand_out(parts, data, take, ret_message)) < 0)
                return r;
            part.count = 0;
            parts->part = part;
        }
        uint32_t node = pie_calltree_find(parts->tree, pie_cursor_int(cursor, 0), pie_cursor_int(cursor, 3));
        add(parts, node, pie_cursor_int(cursor, 4));
    }
    return r < 0 ? r : hand_out(parts, data, take, ret_message);
}

int pie_parts_each(struct pie_reader *reader, const struct pie_calltree *tree, int64_t run,
                   const struct pie_metric *metric, enum pie_part_by by, void *data, pie_part_fn take,
                   char **ret_message) {
    struct parts parts = {.tree = tree, .by = by};
    struct pie_cursor *cursor = NULL;
    char *sql = pie_metric_sql(metric, by != PIE_PART_ALL);
    int r = sql ? begin(&parts) : -ENOMEM;
    if (r < 0)
        (void)pie_message(r, ret_message, "out of memory");
    else
        r = pie_cursor_open(reader, sql, &cursor, ret_message);
    if (r == 0) {
        pie_cursor_bind_int(cursor, ":run", run);
        r = read_all(&parts, cursor, data, take, ret_message);
        pie_cursor_close(cursor);
    }
    free(sql);
    finish(&parts);
    return r;
}
