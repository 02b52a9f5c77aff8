/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "storage/calltree.h"
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

/* Waiting is of the node and all below it, like total_s; the CPU columns are the node's own. */
static int insert_node(sqlite3_stmt *insert, const struct pie_calltree *tree, uint32_t index, int64_t run) {
    const struct pie_calltree_node *node = &tree->nodes[index];
    const struct pie_calltree_frame *frame = &tree->frames[node->frame];
    const int64_t numbers[][2] = {
        {1, run},
        {2, node->depth},
        {6, frame->first_line},
        {9, pie_calltree_cpu_ns(&node->total)},
        {10, pie_calltree_cpu_ns(&tree->nodes[0].total)},
        {11, pie_calltree_cpu_ns(&node->self)},
        {12, node->self.python_ns},
        {13, node->self.native_ns},
        {14, node->self.system_ns},
        {15, node->total.wait_ns},
        {16, node->total.samples},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sqlite3_bind_int64(insert, (int)numbers[i][0], numbers[i][1]);
    bind_text(insert, 3, frame->kind == PIE_LOCATION_NATIVE ? "native" : "python");
    bind_text(insert, 4, frame->function);
    bind_text(insert, 5, frame->file);
    bind_text(insert, 7, frame->library);
    bind_text(insert, 8, frame->module);
    int code = sqlite3_step(insert);
    sqlite3_reset(insert);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static bool is_kept(const struct pie_calltree *tree, uint32_t index) {
    const struct pie_calltree_cost *whole = &tree->nodes[0].total, *part = &tree->nodes[index].total;
    double cpu = (double)pie_calltree_cpu_ns(whole) * PIE_CALLTREE_PRUNE;
    double wait = (double)whole->wait_ns * PIE_CALLTREE_PRUNE;
    return (cpu > 0 && (double)pie_calltree_cpu_ns(part) >= cpu) ||
           (wait > 0 && (double)part->wait_ns >= wait);
}

/* Each node before its children, those before its next sibling; what is below a pruned node is pruned. Rows are
 * numbered in that order. */
static int insert_tree(sqlite3_stmt *insert, struct pie_calltree *tree, int64_t run) {
    uint32_t at = tree->nodes[0].first_child;
    int code = SQLITE_OK;
    while (at != 0 && code == SQLITE_OK) {
        const struct pie_calltree_node *node = &tree->nodes[at];
        bool keep = is_kept(tree, at);
        if (keep)
            code = insert_node(insert, tree, at, run);
        if (keep && node->first_child) {
            at = node->first_child;
            continue;
        }
        while (at != 0 && tree->nodes[at].next_sibling == 0)
            at = tree->nodes[at].parent;
        at = at != 0 ? tree->nodes[at].next_sibling : 0;
    }
    return code;
}

static int fill_table(struct pie_reader *reader, struct pie_calltree *tree, int64_t run, char **ret_message) {
    sqlite3_stmt *insert = NULL;
    pie_guard_start_clock(&reader->guard, reader->time_limit_s);
    pie_reader_allow_all(reader, true);
    int code = sqlite3_exec(reader->db, "PRAGMA query_only = OFF", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(reader->db, create_sql, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(reader->db, insert_sql, -1, &insert, NULL);
    if (code == SQLITE_OK)
        code = insert_tree(insert, tree, run);
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
