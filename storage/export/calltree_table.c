/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "storage/base/message.h"
#include "storage/export/calltree.h"
#include "storage/export/calltree_frames.h"
#include "storage/export/calltree_outline.h"
#include "storage/export/calltree_own.h"
#include "storage/file/db.h"
#include "storage/read/reader_internal.h"
#include "storage/read/views.h"

/* The tree as rows in the order in which people read it, so that a phrase and an SQL statement can select from it like
 * from a view. */

static const char create_sql[] =
    "CREATE TEMP TABLE " PIE_CALLTREE_TABLE
    " (id INTEGER PRIMARY KEY, run, depth, kind, function, file, line,"
    " library, module, total_s, total_share, self_s, python_s, native_s, system_s, wait_s, runnable_s,"
    " throttled_s, samples)";
static const char insert_sql[] =
    "INSERT INTO temp." PIE_CALLTREE_TABLE
    " VALUES (NULL, ?1, ?2, ?3, ?4, ?5, nullif(?6, 0), ?7, ?8, ?9 / 1e9,"
    " ?9 * 1.0 / nullif(?10, 0), ?11 / 1e9, ?12 / 1e9, ?13 / 1e9, ?14 / 1e9, ?15 / 1e9,"
    " ?16 / 1e9, ?17 / 1e9, ?18)";

static void bind_text(sqlite3_stmt *insert, int index, const char *text) {
    sqlite3_bind_text(insert, index, text, -1, SQLITE_STATIC);
}

/* Waiting is of the node and all below it, like total_s; the CPU columns are the node's own. */
static int insert_row(sqlite3_stmt *insert, const struct pie_calltree_outline_row *row, const char *kind,
                      const struct pie_calltree_frame *frame, const struct pie_calltree_whole *whole) {
    const int64_t numbers[][2] = {
        {1, whole->run},
        {2, row->depth},
        {6, frame->first_line},
        {9, pie_calltree_cpu_ns(&row->total)},
        {10, whole->cpu_ns},
        {11, pie_calltree_cpu_ns(&row->self)},
        {12, row->self.python_ns},
        {13, row->self.native_ns},
        {14, row->self.system_ns},
        {15, row->total.wait_ns},
        {16, row->total.runnable_ns},
        {17, row->total.throttled_ns},
        {18, row->total.samples},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sqlite3_bind_int64(insert, (int)numbers[i][0], numbers[i][1]);
    bind_text(insert, 3, kind);
    bind_text(insert, 4, frame->function);
    bind_text(insert, 5, frame->file);
    bind_text(insert, 7, pie_calltree_library(frame));
    bind_text(insert, 8, frame->module);
    int code = sqlite3_step(insert);
    sqlite3_reset(insert);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int insert_node(sqlite3_stmt *insert, const struct pie_calltree *tree,
                       const struct pie_calltree_outline_row *row, const struct pie_calltree_whole *whole) {
    const struct pie_calltree_frame *frame = &tree->frames[tree->nodes[row->node].frame];
    return insert_row(insert, row, frame->kind == PIE_LOCATION_NATIVE ? "native" : "python", frame, whole);
}

/* One row for all that lies below a node at the greatest depth that is printed. */
static int insert_rest(sqlite3_stmt *insert, const struct pie_calltree_outline_row *row,
                       const struct pie_calltree_whole *whole) {
    char text[32];
    const struct pie_calltree_frame frame = {.function = text};
    snprintf(text, sizeof text, "\xe2\x80\xa6 %u more", row->count);
    return row->count > 0 ? insert_row(insert, row, "more", &frame, whole) : SQLITE_OK;
}

/* Rows are numbered in the order in which they are printed. */
static int insert_outline(sqlite3_stmt *insert, const struct pie_calltree_outline *outline,
                          const struct pie_calltree_whole *whole) {
    int code = SQLITE_OK;
    for (uint32_t i = 1; i < outline->count && code == SQLITE_OK; i++) {
        const struct pie_calltree_outline_row *row = &outline->rows[i];
        code =
            row->is_rest ? insert_rest(insert, row, whole) : insert_node(insert, outline->tree, row, whole);
    }
    return code;
}

static struct pie_calltree_whole measure_whole(struct pie_reader *reader, const struct pie_calltree *tree,
                                               int64_t run) {
    struct pie_calltree_whole whole = {.run = run, .cpu_ns = tree->cpu_ns[0]};
    char sql[96];
    char *message = NULL;
    sqlite3_snprintf(sizeof sql, sql, "SELECT coalesce(cpu_ns, 0) FROM x_total WHERE run = %lld",
                     (long long)run);
    if (pie_views_make(reader, sql, &message) == 0)
        (void)pie_db_get_int(reader->db, sql, &whole.cpu_ns);
    free(message);
    return whole;
}

/* Both tables come from one reading of the file. */
static int make_tables(struct pie_reader *reader, const struct pie_calltree_outline *outline,
                       const struct pie_calltree_whole *whole) {
    sqlite3_stmt *insert = NULL;
    int code = sqlite3_exec(reader->db, create_sql, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(reader->db, insert_sql, -1, &insert, NULL);
    if (code == SQLITE_OK)
        code = insert_outline(insert, outline, whole);
    sqlite3_finalize(insert);
    return code == SQLITE_OK ? pie_calltree_make_own_table(reader->db, outline, whole) : code;
}

static int fill_tables(struct pie_reader *reader, const struct pie_calltree_outline *outline, int64_t run,
                       char **ret_message) {
    const struct pie_calltree_whole whole = measure_whole(reader, outline->tree, run);
    pie_guard_start_clock(&reader->guard, reader->time_limit_s);
    pie_reader_allow_all(reader, true);
    int code = sqlite3_exec(reader->db, "PRAGMA query_only = OFF", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = make_tables(reader, outline, &whole);
    if (code == SQLITE_OK)
        code = sqlite3_exec(reader->db, "PRAGMA query_only = ON", NULL, NULL, NULL);
    pie_reader_allow_all(reader, false);
    return code == SQLITE_OK ? 0 : pie_reader_fail(reader, code, ret_message);
}

int pie_calltree_make_tables(struct pie_reader *reader, int64_t run, enum pie_calltree_detail detail,
                             char **ret_message) {
    struct pie_calltree *tree;
    struct pie_calltree_outline outline;
    uint32_t depth_max = detail & PIE_CALLTREE_FULL ? UINT32_MAX : PIE_CALLTREE_DEPTH;
    int exists = sqlite3_table_column_metadata(reader->db, "temp", PIE_CALLTREE_TABLE, NULL, NULL, NULL, NULL,
                                               NULL, NULL) == SQLITE_OK;
    int r = exists ? 0 : pie_calltree_load(reader, run, detail, &tree, ret_message);
    if (exists || r < 0)
        return r;
    r = pie_calltree_outline_make(reader, run, tree, depth_max, &outline, ret_message);
    if (r == 0) {
        r = fill_tables(reader, &outline, run, ret_message);
        pie_calltree_outline_finish(&outline);
    }
    pie_calltree_destroy(tree);
    return r;
}
