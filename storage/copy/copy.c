/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/copy/copy.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "storage/copy/prepared.h"
#include "storage/copy/rows.h"
#include "storage/file/db.h"
#include "storage/file/image.h"
#include "storage/file/schema_statements.h"

/* It is a merge of one input that keeps its numbers. */

static int attach_in_place(sqlite3 *db, const char *path) {
    char log[PATH_MAX];
    int size = snprintf(log, sizeof log, "%s-wal", path);
    bool has_log = size < (int)sizeof log && access(log, F_OK) == 0;
    char *uri = pie_db_uri(path, has_log ? "mode=ro" : "immutable=1");
    char *sql = uri ? sqlite3_mprintf("ATTACH %Q AS input", uri) : NULL;
    int code = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    free(uri);
    return code;
}

static int attach(sqlite3 *db, const char *path) {
    int code = pie_image_attach(db, "input", path);
    return code == SQLITE_NOTFOUND ? attach_in_place(db, path) : code;
}

static int keep_numbers(sqlite3 *db, int64_t run, int64_t process) {
    char *sql = sqlite3_mprintf(
        "DELETE FROM temp.plan_run WHERE %lld NOT IN (0, old);"
        "UPDATE temp.plan_run SET new = old;"
        "UPDATE temp.plan_process SET new = old, is_taken = %lld IN (0, old) AND EXISTS (SELECT 1"
        " FROM input.process p JOIN temp.plan_run r ON r.old = p.run WHERE p.id = plan_process.old);"
        "INSERT INTO main.run (id, started_ns, pieprof_version, overhead_budget, identity)"
        " SELECT new, started_ns, version, budget, identity FROM temp.plan_run",
        (long long)run, (long long)process);
    int code = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return code;
}

int pie_copy_profile(sqlite3 *db, const char *path, int64_t run, int64_t process) {
    struct pie_prepared prepared = {.db = db};
    int code = pie_schema_make(db);
    if (code == SQLITE_OK)
        code = attach(db, path);
    if (code == SQLITE_OK)
        code = pie_merge_rows_begin(db);
    if (code == SQLITE_OK)
        code = pie_merge_rows_note(&prepared, 1, &prepared, "input");
    if (code == SQLITE_OK)
        code = keep_numbers(db, run, process);
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = pie_merge_rows_copy(&prepared, 1, false);
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    pie_prepared_finish(&prepared);
    if (code == SQLITE_OK)
        code = pie_merge_rows_end(db);
    return code == SQLITE_OK ? sqlite3_exec(db, "DETACH input", NULL, NULL, NULL) : code;
}
