/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/file/schema_statements.h"

#include <sqlite3.h>
#include <string.h>
#include <strings.h>

#include "storage/file/schema.h"

static bool is_space(char c) {
    return c == ' ' || c == '\n' || c == '\t';
}

static const char *skip_comments(const char *at) {
    while (is_space(*at) || (at[0] == '-' && at[1] == '-'))
        at += is_space(*at) ? 1 : strcspn(at, "\n");
    return at;
}

/* Behind a quoted text or a comment that begins here, or the next character. */
static const char *next(const char *at) {
    if (*at == '\'' || *at == '"') {
        const char *close = strchr(at + 1, *at);
        return close ? close + 1 : at + strlen(at);
    }
    return at[0] == '-' && at[1] == '-' ? at + strcspn(at, "\n") : at + 1;
}

const struct pie_schema_statement *pie_schema_tables(size_t *ret_count) {
    *ret_count = pie_tables_sql_statements.count;
    return pie_tables_sql_statements.list;
}

const struct pie_schema_statement *pie_schema_views(size_t *ret_count) {
    *ret_count = pie_views_sql_statements.count;
    return pie_views_sql_statements.list;
}

const struct pie_schema_statement *pie_schema_find_view(const char *name, size_t size) {
    size_t count;
    const struct pie_schema_statement *all = pie_schema_views(&count);

    for (size_t i = 0; i < count && size > 2; i++)
        if (all[i].name_size == size && (all[i].name[2] | 0x20) == (name[2] | 0x20) && /* most differ there */
            strncasecmp(all[i].name, name, size) == 0)
            return &all[i];
    return NULL;
}

/* What follows the list's last column is a constraint of the table, in capitals. */
static bool is_column(const char *word) {
    return *word >= 'a' && *word <= 'z';
}

/* Columns are separated by the commas outside of parentheses. */
void pie_schema_columns(const struct pie_schema_statement *table,
                        bool (*act)(const char *column, size_t size, void *data), void *data) {
    const char *end = table->sql + table->size, *at = table->name + table->name_size;
    int depth = 0;
    bool goes_on = true;

    for (; at < end && goes_on; at = next(at)) {
        if ((*at == '(' && depth == 0) || (*at == ',' && depth == 1)) {
            const char *word = skip_comments(at + 1);
            goes_on = is_column(word) && act(word, strcspn(word, " ,)\n"), data);
        }
        depth += (*at == '(') - (*at == ')');
    }
}

enum pie_schema_age pie_schema_age(int64_t user_version) {
    int64_t major = user_version / 100;

    if (major == PIE_SCHEMA_MAJOR)
        return user_version < PIE_SCHEMA_VERSION ? PIE_SCHEMA_OLD : PIE_SCHEMA_SAME;
    if (major > PIE_SCHEMA_MAJOR || (major < PIE_SCHEMA_FIRST_MAJOR && user_version > PIE_SCHEMA_LAST_PLAIN))
        return PIE_SCHEMA_NEW;
    if (user_version >= PIE_SCHEMA_FIRST)
        return PIE_SCHEMA_OLD;
    return user_version > 0 ? PIE_SCHEMA_DEAD : PIE_SCHEMA_NONE;
}

const char *pie_schema_print_version(int64_t user_version, char text[PIE_SCHEMA_VERSION_BYTES]) {
    if (user_version < 100)
        sqlite3_snprintf(PIE_SCHEMA_VERSION_BYTES, text, "%lld", (long long)user_version);
    else
        sqlite3_snprintf(PIE_SCHEMA_VERSION_BYTES, text, "%lld.%lld", (long long)user_version / 100,
                         (long long)user_version % 100);
    return text;
}

static int mark(sqlite3 *db) {
    char sql[96];
    sqlite3_snprintf(sizeof sql, sql, "PRAGMA application_id = %d; PRAGMA user_version = %d",
                     PIE_SCHEMA_APPLICATION_ID, PIE_SCHEMA_VERSION);
    return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

int pie_schema_make(sqlite3 *db) {
    int code = sqlite3_exec(db, pie_tables_sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? mark(db) : code;
}
