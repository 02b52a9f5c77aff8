/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/schema_check.h"

#include <sqlite3.h>
#include <stddef.h>
#include <string.h>

#include "storage/db.h"
#include "storage/schema_statements.h"

/* SQLite keeps the text of each CREATE statement as it was given, up to the last token, and makes its objects from these
 * texts alone. A file whose texts are ours has our objects, whatever its other columns say. A table or view that somebody
 * added does nothing unless it is asked; an index or trigger runs expressions of its author's when a row is written. */

/* Its place among our statements, or `count`. */
static size_t find_own(const struct pie_schema_statement *own, size_t count, const char *sql, size_t size) {
    size_t i = 0;

    while (i < count && (own[i].size != size || memcmp(own[i].sql, sql, size) != 0))
        i++;
    return i;
}

static bool begins(const char *sql, size_t size, const char *words) {
    return size >= strlen(words) && memcmp(sql, words, strlen(words)) == 0;
}

int pie_schema_check(sqlite3 *db, struct pie_schema_facts *ret_facts) {
    size_t own_count;
    const struct pie_schema_statement *own = pie_schema_statements(&own_count);
    bool is_found[PIE_SCHEMA_STATEMENTS_MAX] = {false};
    struct pie_schema_facts facts = {.is_whole = true};
    sqlite3_stmt *rows = NULL;

    int code = sqlite3_prepare_v2(db, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL", -1, &rows, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        const char *sql = (const char *)sqlite3_column_text(rows, 0);
        size_t size = (size_t)sqlite3_column_bytes(rows, 0),
               i = sql ? find_own(own, own_count, sql, size) : own_count;
        if (i < own_count)
            is_found[i] = true;
        else if (!sql || (!begins(sql, size, "CREATE TABLE ") && !begins(sql, size, "CREATE VIEW ")))
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
static int look_at_edge(sqlite3 *db, const struct pie_schema_statement *table) {
    char sql[256];
    size_t size;
    const char *name = pie_schema_name(table, &size), *column = name + strcspn(name, "(") + 1;

    column += strspn(column, " \n");
    sqlite3_snprintf(sizeof sql, sql, "SELECT max(%.*s) FROM %.*s", (int)strcspn(column, " ,"), column,
                     (int)size, name);
    return pie_db_exec(db, sql);
}

static int look_at_edges(sqlite3 *db) {
    size_t count;
    const struct pie_schema_statement *own = pie_schema_statements(&count);
    int r = 0;

    for (size_t i = 0; i < count && r == 0; i++)
        if (own[i].is_table)
            r = look_at_edge(db, &own[i]);
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
