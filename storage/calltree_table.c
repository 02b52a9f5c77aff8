/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "storage/calltree.h"
#include "storage/calltree_rows.h"
#include "storage/db.h"
#include "storage/message.h"
#include "storage/reader_internal.h"

/* The tree as rows in the order in which people read it, so that a phrase and an SQL statement can select from it like
 * from a view. */

static const char create_sql[] =
    "CREATE TEMP TABLE " PIE_CALLTREE_TABLE
    " (id INTEGER PRIMARY KEY, run, depth, kind, function, file, line,"
    " library, module, total_s, total_share, self_s, python_s, native_s, system_s, wait_s, samples)";
static const char insert_sql[] =
    "INSERT INTO temp." PIE_CALLTREE_TABLE
    " VALUES (NULL, ?1, ?2, ?3, ?4, ?5, nullif(?6, 0), ?7, ?8, ?9 / 1e9,"
    " ?9 * 1.0 / nullif(?10, 0), ?11 / 1e9, ?12 / 1e9, ?13 / 1e9, ?14 / 1e9, ?15 / 1e9, ?16)";

static void bind_text(sqlite3_stmt *insert, int index, const char *text) {
    sqlite3_bind_text(insert, index, text, -1, SQLITE_STATIC);
}

/* The run, whose total the tree has less than where a question narrowed it. */
struct whole {
    int64_t run, cpu_ns;
};

struct row {
    const char *kind;
    const struct pie_calltree_frame *frame;
    uint32_t depth;
    struct pie_calltree_cost self, total;
};

/* Waiting is of the node and all below it, like total_s; the CPU columns are the node's own. */
static int insert_row(sqlite3_stmt *insert, const struct row *row, const struct whole *whole) {
    const int64_t numbers[][2] = {
        {1, whole->run},
        {2, row->depth},
        {6, row->frame->first_line},
        {9, pie_calltree_cpu_ns(&row->total)},
        {10, whole->cpu_ns},
        {11, pie_calltree_cpu_ns(&row->self)},
        {12, row->self.python_ns},
        {13, row->self.native_ns},
        {14, row->self.system_ns},
        {15, row->total.wait_ns},
        {16, row->total.samples},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sqlite3_bind_int64(insert, (int)numbers[i][0], numbers[i][1]);
    bind_text(insert, 3, row->kind);
    bind_text(insert, 4, row->frame->function);
    bind_text(insert, 5, row->frame->file);
    bind_text(insert, 7, row->frame->library);
    bind_text(insert, 8, row->frame->module);
    int code = sqlite3_step(insert);
    sqlite3_reset(insert);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int insert_node(sqlite3_stmt *insert, const struct pie_calltree *tree, uint32_t index,
                       const struct whole *whole) {
    const struct pie_calltree_node *node = &tree->nodes[index];
    const struct pie_calltree_frame *frame = &tree->frames[node->frame];
    const struct row row = {
        .kind = frame->kind == PIE_LOCATION_NATIVE ? "native" : "python",
        .frame = frame,
        .depth = node->depth,
        .self = node->self,
        .total = node->total,
    };
    return insert_row(insert, &row, whole);
}

static bool is_kept(const struct pie_calltree *tree, uint32_t index) {
    const struct pie_calltree_cost *whole = &tree->nodes[0].total, *part = &tree->nodes[index].total;
    double cpu = (double)pie_calltree_cpu_ns(whole) * PIE_CALLTREE_PRUNE;
    double wait = (double)whole->wait_ns * PIE_CALLTREE_PRUNE;
    return (cpu > 0 && (double)pie_calltree_cpu_ns(part) >= cpu) ||
           (wait > 0 && (double)part->wait_ns >= wait);
}

/* The next node that is not below `at`, 0: none is left below `top`. */
static uint32_t next_beside(const struct pie_calltree *tree, uint32_t at, uint32_t top) {
    while (at != top && tree->nodes[at].next_sibling == 0)
        at = tree->nodes[at].parent;
    return at != top ? tree->nodes[at].next_sibling : 0;
}

/* Of the nodes below `top` those that would be told. */
static uint32_t count_below(const struct pie_calltree *tree, uint32_t top) {
    uint32_t count = 0, at = tree->nodes[top].first_child;
    while (at != 0) {
        bool keep = is_kept(tree, at);
        count += keep;
        at = keep && tree->nodes[at].first_child ? tree->nodes[at].first_child : next_beside(tree, at, top);
    }
    return count;
}

/* One row for all that lies below a node at the greatest depth that is told. */
static int insert_rest(sqlite3_stmt *insert, const struct pie_calltree *tree, uint32_t index,
                       const struct whole *whole) {
    const struct pie_calltree_node *node = &tree->nodes[index];
    uint32_t count = count_below(tree, index);
    char text[32];
    const struct pie_calltree_frame frame = {.function = text};
    struct row row = {.kind = "more", .frame = &frame, .depth = node->depth + 1};
    row.total = (struct pie_calltree_cost){
        .python_ns = node->total.python_ns - node->self.python_ns,
        .native_ns = node->total.native_ns - node->self.native_ns,
        .system_ns = node->total.system_ns - node->self.system_ns,
        .wait_ns = node->total.wait_ns - node->self.wait_ns,
        .samples = node->total.samples - node->self.samples,
    };
    row.self = row.total;
    snprintf(text, sizeof text, "\xe2\x80\xa6 %u more", count);
    return count > 0 ? insert_row(insert, &row, whole) : SQLITE_OK;
}

/* Each node before its children, those before its next sibling; what is below a pruned node is pruned. Rows are
 * numbered in that order. */
static int insert_tree(sqlite3_stmt *insert, struct pie_calltree *tree, const struct whole *whole) {
    uint32_t at = tree->nodes[0].first_child;
    uint32_t depth_max = tree->source->detail == PIE_CALLTREE_FULL ? UINT32_MAX : PIE_CALLTREE_DEPTH;
    int code = SQLITE_OK;
    while (at != 0 && code == SQLITE_OK) {
        const struct pie_calltree_node *node = &tree->nodes[at];
        bool keep = is_kept(tree, at), is_last = node->depth >= depth_max;
        if (keep)
            code = insert_node(insert, tree, at, whole);
        if (keep && is_last && code == SQLITE_OK)
            code = insert_rest(insert, tree, at, whole);
        at = keep && !is_last && node->first_child ? node->first_child : next_beside(tree, at, 0);
    }
    return code;
}

static struct whole measure_whole(struct pie_reader *reader, const struct pie_calltree *tree, int64_t run) {
    struct whole whole = {.run = run, .cpu_ns = pie_calltree_cpu_ns(&tree->nodes[0].total)};
    char sql[96];
    sqlite3_snprintf(sizeof sql, sql, "SELECT coalesce(cpu_ns, 0) FROM main.x_total WHERE run = %lld",
                     (long long)run);
    (void)pie_db_get_int(reader->db, sql, &whole.cpu_ns);
    return whole;
}

static int fill_table(struct pie_reader *reader, struct pie_calltree *tree, int64_t run, char **ret_message) {
    sqlite3_stmt *insert = NULL;
    const struct whole whole = measure_whole(reader, tree, run);
    pie_guard_start_clock(&reader->guard, reader->time_limit_s);
    pie_reader_allow_all(reader, true);
    int code = sqlite3_exec(reader->db, "PRAGMA query_only = OFF", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(reader->db, create_sql, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(reader->db, insert_sql, -1, &insert, NULL);
    if (code == SQLITE_OK)
        code = insert_tree(insert, tree, &whole);
    sqlite3_finalize(insert);
    if (code == SQLITE_OK)
        code = sqlite3_exec(reader->db, "PRAGMA query_only = ON", NULL, NULL, NULL);
    pie_reader_allow_all(reader, false);
    return code == SQLITE_OK ? 0 : pie_reader_fail(reader, code, ret_message);
}

int pie_calltree_make_table(struct pie_reader *reader, int64_t run, enum pie_calltree_detail detail,
                            char **ret_message) {
    struct pie_calltree *tree;
    int exists = sqlite3_table_column_metadata(reader->db, "temp", PIE_CALLTREE_TABLE, NULL, NULL, NULL, NULL,
                                               NULL, NULL) == SQLITE_OK;
    int r = exists ? 0 : pie_calltree_load(reader, run, detail, &tree, ret_message);
    if (exists || r < 0)
        return r;
    r = fill_table(reader, tree, run, ret_message);
    pie_calltree_destroy(tree);
    return r;
}
