/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sqlite3.h>

#include "storage/export/calltree.h"
#include "storage/export/calltree_frames.h"
#include "storage/export/calltree_own.h"

/* Shares are of the run's CPU time, and of that of the row above (of the run for the first rows). */

static const char create_sql[] =
    "CREATE TEMP TABLE " PIE_CALLTREE_OWN_TABLE
    " (id INTEGER PRIMARY KEY, run, depth, nth, kind, function, file, first_line,"
    " library, total_s, total_share, parent_share, self_s, python_s, native_s, system_s, wait_s,"
    " runnable_s, throttled_s, samples)";
static const char insert_sql[] =
    "INSERT INTO temp." PIE_CALLTREE_OWN_TABLE
    " VALUES (NULL, ?1, ?2, ?3, ?4, ?5, ?6, nullif(?7, 0), ?8, ?9 / 1e9,"
    " ?9 * 1.0 / nullif(?10, 0), ?9 * 1.0 / nullif(?11, 0), ?12 / 1e9, ?13 / 1e9, ?14 / 1e9, ?15 / 1e9,"
    " ?16 / 1e9, ?17 / 1e9, ?18 / 1e9, ?19)";

enum { KIND = 4, FUNCTION, FILE_NAME, LIBRARY = 8 };

static void bind_text(sqlite3_stmt *insert, int index, const char *text) {
    sqlite3_bind_text(insert, index, text, -1, SQLITE_STATIC);
}

static int insert_row(sqlite3_stmt *insert, const struct pie_calltree_own *own, uint32_t i,
                      const struct pie_calltree *tree, const struct pie_calltree_whole *whole) {
    const struct pie_calltree_own_row *row = &own->rows[i];
    const struct pie_calltree_frame *frame = &tree->frames[row->frame];
    int64_t above = row->above ? pie_calltree_cpu_ns(&own->rows[row->above].total) : whole->cpu_ns;
    const int64_t numbers[][2] = {
        {1, whole->run},
        {2, row->depth},
        {3, row->nth},
        {7, frame->first_line},
        {9, pie_calltree_cpu_ns(&row->total)},
        {10, whole->cpu_ns},
        {11, above},
        {12, pie_calltree_cpu_ns(&row->self)},
        {13, row->total.python_ns},
        {14, row->total.native_ns},
        {15, row->total.system_ns},
        {16, row->total.wait_ns},
        {17, row->total.runnable_ns},
        {18, row->total.throttled_ns},
        {19, row->total.samples},
    };
    for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++)
        sqlite3_bind_int64(insert, (int)numbers[j][0], numbers[j][1]);
    bind_text(insert, KIND, frame->kind == PIE_LOCATION_NATIVE ? "native" : "python");
    bind_text(insert, FUNCTION, frame->function);
    bind_text(insert, FILE_NAME, frame->file);
    bind_text(insert, LIBRARY, pie_calltree_library(frame));
    int code = sqlite3_step(insert);
    sqlite3_reset(insert);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

int pie_calltree_make_own_table(sqlite3 *db, const struct pie_calltree_outline *outline,
                                const struct pie_calltree_whole *whole) {
    struct pie_calltree_own own;
    sqlite3_stmt *insert = NULL;
    if (pie_calltree_own_make(outline, &own) < 0)
        return SQLITE_NOMEM;
    int code = sqlite3_exec(db, create_sql, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(db, insert_sql, -1, &insert, NULL);
    for (uint32_t i = 1; i < own.count && code == SQLITE_OK; i++)
        code = insert_row(insert, &own, i, outline->tree, whole);
    sqlite3_finalize(insert);
    pie_calltree_own_finish(&own);
    return code;
}
