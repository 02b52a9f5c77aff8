/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/schema_check.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stddef.h>
#include <string.h>

#include "storage/db.h"
#include "storage/schema.h"

/* SQLite keeps the text of each CREATE statement as it was given, up to the last token, and makes its objects from these
 * texts alone. A file whose texts are ours has our objects, whatever its other columns say. A table or view that somebody
 * added does nothing unless it is asked; an index or trigger runs expressions of its author's when a row is written. */

enum { STATEMENTS_MAX = 256 };
static const char TABLE[] = "CREATE TABLE ";

static struct {
    const char *sql;
    size_t size;
} own[STATEMENTS_MAX];
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

static void split_schema(void) {
    const char *at = skip_comments(pie_schema_sql);

    while (*at) {
        const char *end = statement_end(at), *last = end;
        while (last > at && is_space(last[-1]))
            last--;
        if (strncmp(at, "CREATE ", 7) == 0 && own_count < STATEMENTS_MAX) {
            own[own_count].sql = at;
            own[own_count++].size = (size_t)(last - at);
        }
        at = skip_comments(*end ? end + 1 : end);
    }
}

/* Its place among our statements, or own_count. */
static size_t find_own(const char *sql, size_t size) {
    size_t i = 0;

    while (i < own_count && (own[i].size != size || memcmp(own[i].sql, sql, size) != 0))
        i++;
    return i;
}

static bool begins(const char *sql, size_t size, const char *words) {
    return size >= strlen(words) && memcmp(sql, words, strlen(words)) == 0;
}

int pie_schema_check(sqlite3 *db, struct pie_schema_facts *ret_facts) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    bool is_found[STATEMENTS_MAX] = {false};
    struct pie_schema_facts facts = {.is_whole = true};
    sqlite3_stmt *rows = NULL;

    pthread_once(&once, split_schema);
    int code = sqlite3_prepare_v2(db, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL", -1, &rows, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        const char *sql = (const char *)sqlite3_column_text(rows, 0);
        size_t size = (size_t)sqlite3_column_bytes(rows, 0), i = sql ? find_own(sql, size) : own_count;
        if (i < own_count)
            is_found[i] = true;
        else if (!sql || (!begins(sql, size, TABLE) && !begins(sql, size, "CREATE VIEW ")))
            facts.has_guests = true;
        code = SQLITE_OK;
    }
    sqlite3_finalize(rows);
    if (code != SQLITE_DONE)
        return pie_db_errno(db, code);
    for (size_t i = 0; i < own_count; i++)
        facts.is_whole = facts.is_whole && is_found[i];
    *ret_facts = facts;
    return 0;
}

static const char rehearsal[] =
    "BEGIN IMMEDIATE;"
    "INSERT INTO run (started_ns, pieprof_version, identity) VALUES (0, '', hex(randomblob(16)));"
    "INSERT INTO process (run, pid, started_ns, seen_ns, clock, sampler)"
    " VALUES (last_insert_rowid(), 0, 0, 0, 'none', 'none')";

/* Each table begins with the column that its rows are ordered by, a process, run or source; the greatest is the newest. */
static int look_at_edge(sqlite3 *db, const char *table) {
    char sql[256];
    size_t size = strcspn(table, " (");
    const char *column = skip_comments(table + strcspn(table, "(") + 1);

    sqlite3_snprintf(sizeof sql, sql, "SELECT max(%.*s) FROM %.*s", (int)strcspn(column, " ,"), column,
                     (int)size, table);
    return pie_db_exec(db, sql);
}

static int look_at_edges(sqlite3 *db) {
    int r = 0;

    for (size_t i = 0; i < own_count && r == 0; i++)
        if (begins(own[i].sql, own[i].size, TABLE))
            r = look_at_edge(db, own[i].sql + strlen(TABLE));
    return r;
}

int pie_schema_rehearse(sqlite3 *db) {
    int r = pie_db_exec(db, rehearsal);

    if (r == 0)
        r = look_at_edges(db);
    if (!sqlite3_get_autocommit(db))
        (void)pie_db_exec(db, "ROLLBACK");
    return r;
}
