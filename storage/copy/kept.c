/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/copy/kept.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

struct pie_kept_statement {
    sqlite3_stmt *statement;
    const char *sql; /* SQLite's copy */
};

int pie_kept_prepare(struct pie_kept *kept, const char *sql, sqlite3_stmt **ret_statement) {
    for (size_t i = 0; i < kept->count; i++) {
        if (strcmp(kept->list[i].sql, sql) == 0) {
            *ret_statement = kept->list[i].statement;
            return SQLITE_OK;
        }
    }
    struct pie_kept_statement *list = reallocarray(kept->list, kept->count + 1, sizeof *list);
    if (!list)
        return SQLITE_NOMEM;
    kept->list = list;
    int code = sqlite3_prepare_v3(kept->db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret_statement, NULL);
    if (code == SQLITE_OK)
        list[kept->count++] = (struct pie_kept_statement){*ret_statement, sqlite3_sql(*ret_statement)};
    return code;
}

void pie_kept_finish(struct pie_kept *kept) {
    for (size_t i = 0; i < kept->count; i++)
        sqlite3_finalize(kept->list[i].statement);
    free(kept->list);
    *kept = (struct pie_kept){.db = kept->db};
}
