/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/copy/prepared.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

struct pie_prepared_statement {
    sqlite3_stmt *statement;
    const char *sql; /* SQLite's copy */
};

int pie_prepared_get(struct pie_prepared *prepared, const char *sql, sqlite3_stmt **ret_statement) {
    for (size_t i = 0; i < prepared->count; i++) {
        if (strcmp(prepared->list[i].sql, sql) == 0) {
            *ret_statement = prepared->list[i].statement;
            return SQLITE_OK;
        }
    }
    struct pie_prepared_statement *list = reallocarray(prepared->list, prepared->count + 1, sizeof *list);
    if (!list)
        return SQLITE_NOMEM;
    prepared->list = list;
    int code = sqlite3_prepare_v3(prepared->db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret_statement, NULL);
    if (code == SQLITE_OK)
        list[prepared->count++] =
            (struct pie_prepared_statement){*ret_statement, sqlite3_sql(*ret_statement)};
    return code;
}

void pie_prepared_finish(struct pie_prepared *prepared) {
    for (size_t i = 0; i < prepared->count; i++)
        sqlite3_finalize(prepared->list[i].statement);
    free(prepared->list);
    *prepared = (struct pie_prepared){.db = prepared->db};
}
