/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <sqlite3.h>
#include <stddef.h>

#include "storage/file/node_sample.h"
#include "storage/file/packed_tables.h"
#include "storage/read/call_time.h"
#include "storage/read/cost_time.h"
#include "storage/read/place_time.h"
#include "storage/read/process_time.h"
#include "storage/read/reader_internal.h"

enum { SAFE = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, JSON_SAFE_SINCE = 3041000 };

/* SQLite has it when it was built with its math functions. */
static void square_root(sqlite3_context *context, int count, sqlite3_value **values) {
    if (sqlite3_value_type(values[0]) != SQLITE_NULL && sqlite3_value_double(values[0]) >= 0)
        sqlite3_result_double(context, sqrt(sqlite3_value_double(values[0])));
}

/* SQLite 3.38 to 3.40 takes its own for unsafe in the views of a file that one does not trust, though not
 * json_each(). */
static void json_valid(sqlite3_context *context, int count, sqlite3_value **values) {
    sqlite3_stmt *statement = NULL;
    sqlite3 *db = sqlite3_context_db_handle(context);
    if (sqlite3_value_type(values[0]) == SQLITE_NULL)
        return;
    int code =
        pie_guard_prepare(db, sqlite3_user_data(context), "SELECT 1 FROM json_each(?)", &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_bind_value(statement, 1, values[0]);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    sqlite3_finalize(statement);
    sqlite3_result_int(context, code == SQLITE_ROW || code == SQLITE_DONE);
}

int pie_reader_add_functions(struct pie_reader *reader) {
    sqlite3 *db = reader->db;
    int code = SQLITE_OK;
    if (sqlite3_exec(db, "SELECT sqrt(4)", NULL, NULL, NULL) != SQLITE_OK)
        code = sqlite3_create_function(db, "sqrt", 1, SAFE, NULL, square_root, NULL, NULL);
    if (code == SQLITE_OK && sqlite3_libversion_number() < JSON_SAFE_SINCE)
        code = sqlite3_create_function(db, "json_valid", 1, SAFE, &reader->guard, json_valid, NULL, NULL);
    if (code == SQLITE_OK)
        code = pie_every_row_add(db);
    if (code == SQLITE_OK)
        code = pie_call_time_add(db);
    if (code == SQLITE_OK)
        code = pie_place_time_add(db);
    if (code == SQLITE_OK)
        code = pie_process_time_add(db);
    if (code == SQLITE_OK)
        code = pie_cost_time_add(db);
    return code == SQLITE_OK ? pie_node_sample_add(db) : code;
}
