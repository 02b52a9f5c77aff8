/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/file/guard.h"

#include "profiler/base/clocks.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <strings.h>

/* https://www.sqlite.org/security.html#untrusted_sql_inputs and #untrusted_sqlite_database_files */

enum { PROGRESS_OPERATIONS = 10000 };

static const struct {
    int id, value;
} limits[] = {
    {SQLITE_LIMIT_LENGTH, 8 << 20}, /* a command line may be 6 MiB long */
    {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},  {SQLITE_LIMIT_COLUMN, 500},
    {SQLITE_LIMIT_EXPR_DEPTH, 400},      {SQLITE_LIMIT_COMPOUND_SELECT, 50},
    {SQLITE_LIMIT_VDBE_OP, 1000000},     {SQLITE_LIMIT_FUNCTION_ARG, 64},
    {SQLITE_LIMIT_ATTACHED, 0},          {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
    {SQLITE_LIMIT_VARIABLE_NUMBER, 100}, {SQLITE_LIMIT_TRIGGER_DEPTH, 10},
    {SQLITE_LIMIT_WORKER_THREADS, 0},
};

static const char *const forbidden_functions[] = {"load_extension", "fts3_tokenizer"};
/* Table-valued forms of these list the columns. */
static const char *const allowed_pragmas[] = {"table_info", "table_xinfo", "table_list"};

static bool is_listed(const char *name, const char *const *list, size_t count) {
    for (size_t i = 0; name && i < count; i++) {
        if (strcasecmp(name, list[i]) == 0)
            return true;
    }
    return false;
}

#define LISTED(name, list) is_listed(name, list, sizeof list / sizeof *list)

static int authorize(void *data, int action, const char *first, const char *second, const char *database,
                     const char *trigger) {
    const struct pie_guard *guard = data;
    if (guard->is_lifted)
        return SQLITE_OK;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return LISTED(second, forbidden_functions) ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA:
        return LISTED(first, allowed_pragmas) ? SQLITE_OK : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

static int on_progress(void *data) {
    const struct pie_guard *guard = data;
    return guard->deadline_ns != 0 && pie_monotonic_ns() > guard->deadline_ns;
}

void pie_guard_limit(sqlite3 *db, struct pie_guard *guard) {
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite3_limit(db, limits[i].id, limits[i].value);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    sqlite3_progress_handler(db, PROGRESS_OPERATIONS, on_progress, guard);
}

/* SQLite makes a table of such a function when it is first named, which the authorizer would take for writing. */
static void make_function(sqlite3 *db, struct pie_guard *guard, const char *name) {
    char sql[64];
    sqlite3_stmt *statement = NULL;
    sqlite3_snprintf(sizeof sql, sql, "SELECT 1 FROM %s", name);
    guard->is_lifted = true;
    (void)sqlite3_prepare_v2(db, sql, -1, &statement, NULL); /* some this SQLite may lack */
    guard->is_lifted = false;
    sqlite3_finalize(statement);
}

static void make_functions(sqlite3 *db, struct pie_guard *guard) {
    static const char *const functions[] = {"json_each", "json_tree", "pragma_table_info",
                                            "pragma_table_xinfo", "pragma_table_list"};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        make_function(db, guard, functions[i]);
    guard->has_functions = true;
}

/* Most statements name none, so they are made for the first that fails. */
int pie_guard_prepare(sqlite3 *db, struct pie_guard *guard, const char *sql, sqlite3_stmt **ret_statement,
                      const char **ret_rest) {
    int code = sqlite3_prepare_v2(db, sql, -1, ret_statement, ret_rest);
    if (code == SQLITE_OK || guard->has_functions)
        return code;
    make_functions(db, guard);
    return sqlite3_prepare_v2(db, sql, -1, ret_statement, ret_rest);
}

void pie_guard_read_only(sqlite3 *db, struct pie_guard *guard) {
    sqlite3_set_authorizer(db, authorize, guard);
}

void pie_guard_allow_all(sqlite3 *db) {
    sqlite3_set_authorizer(db, NULL, NULL);
}

void pie_guard_start_clock(struct pie_guard *guard, double seconds) {
    if (!guard->is_for_all)
        guard->deadline_ns = seconds > 0 ? pie_monotonic_ns() + (uint64_t)(seconds * 1e9) : 0;
}
