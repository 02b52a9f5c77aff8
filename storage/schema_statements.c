/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/schema_statements.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "storage/schema.h"

static const char TABLE[] = "CREATE TABLE ", VIEW[] = "CREATE VIEW ";

static struct pie_schema_statement own[PIE_SCHEMA_STATEMENTS_MAX];
static size_t own_count;

/* The semicolon that ends the statement, or the end of the text. */
static const char *statement_end(const char *at) {
    for (; *at && *at != ';'; at++) {
        if (*at == '\'' || *at == '"') {
            const char *close = strchr(at + 1, *at);
            at = close ? close : at + strlen(at) - 1;
        } else if (at[0] == '-' && at[1] == '-') {
            at += strcspn(at, "\n") - 1;
        }
    }
    return at;
}

static bool is_space(char c) {
    return c == ' ' || c == '\n' || c == '\t';
}

static const char *skip_comments(const char *at) {
    while (is_space(*at) || (at[0] == '-' && at[1] == '-'))
        at += is_space(*at) ? 1 : strcspn(at, "\n");
    return at;
}

static bool begins(const char *sql, const char *words) {
    return strncmp(sql, words, strlen(words)) == 0;
}

static void split_schema(void) {
    const char *at = skip_comments(pie_schema_sql);

    while (*at) {
        const char *end = statement_end(at), *last = end;
        while (last > at && is_space(last[-1]))
            last--;
        if (begins(at, "CREATE ") && own_count < PIE_SCHEMA_STATEMENTS_MAX)
            own[own_count++] = (struct pie_schema_statement){
                .sql = at,
                .size = (size_t)(last - at),
                .is_table = begins(at, TABLE),
                .is_view = begins(at, VIEW),
            };
        at = skip_comments(*end ? end + 1 : end);
    }
}

const struct pie_schema_statement *pie_schema_statements(size_t *ret_count) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, split_schema);
    *ret_count = own_count;
    return own;
}

const char *pie_schema_name(const struct pie_schema_statement *statement, size_t *ret_size) {
    const char *name = statement->sql + strlen(statement->is_view ? VIEW : TABLE);

    *ret_size = strcspn(name, " \n(");
    return name;
}

const struct pie_schema_statement *pie_schema_find_view(const char *name) {
    size_t count, size;
    const struct pie_schema_statement *all = pie_schema_statements(&count);

    for (size_t i = 0; i < count; i++)
        if (all[i].is_view && strncmp(pie_schema_name(&all[i], &size), name, strlen(name)) == 0 &&
            size == strlen(name))
            return &all[i];
    return NULL;
}

static int exec(sqlite3 *db, const struct pie_schema_statement *statement) {
    sqlite3_stmt *made = NULL;
    int code = sqlite3_prepare_v2(db, statement->sql, (int)statement->size, &made, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(made);
    sqlite3_finalize(made);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int insert_view(sqlite3_stmt *insert, const struct pie_schema_statement *view) {
    size_t size;
    const char *name = pie_schema_name(view, &size);
    sqlite3_bind_text(insert, 1, name, (int)size, SQLITE_STATIC);
    sqlite3_bind_text(insert, 2, view->sql, (int)view->size, SQLITE_STATIC);
    int code = sqlite3_step(insert);
    sqlite3_reset(insert);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* A view is nothing but its row here. To say CREATE VIEW takes SQLite 0.2 ms for each of seventy: it parses, parses again what
 * it has written, and looks through all rows for it. (https://www.sqlite.org/pragma.html#pragma_writable_schema) */
static int insert_views(sqlite3 *db) {
    size_t count;
    const struct pie_schema_statement *all = pie_schema_statements(&count);
    sqlite3_stmt *insert = NULL;
    int code =
        sqlite3_prepare_v2(db, "INSERT INTO sqlite_schema VALUES ('view', ?1, ?1, 0, ?2)", -1, &insert, NULL);
    for (size_t i = 0; i < count && code == SQLITE_OK; i++)
        if (all[i].is_view)
            code = insert_view(insert, &all[i]);
    sqlite3_finalize(insert);
    return code;
}

static int make_views(sqlite3 *db) {
    int was_defensive = 0;
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, -1, &was_defensive);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
    int code = insert_views(db);
    sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, was_defensive, NULL);
    return code;
}

static int mark(sqlite3 *db) {
    char sql[96];
    sqlite3_snprintf(sizeof sql, sql, "PRAGMA application_id = %d; PRAGMA user_version = %d",
                     PIE_SCHEMA_APPLICATION_ID, PIE_SCHEMA_VERSION);
    return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

int pie_schema_make(sqlite3 *db) {
    size_t count;
    const struct pie_schema_statement *all = pie_schema_statements(&count);
    int code = SQLITE_OK;
    for (size_t i = 0; i < count && code == SQLITE_OK; i++)
        if (!all[i].is_view)
            code = exec(db, &all[i]);
    if (code == SQLITE_OK)
        code = make_views(db);
    return code == SQLITE_OK ? mark(db) : code;
}
