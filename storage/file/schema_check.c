/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/file/schema_check.h"

#include <sqlite3.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "storage/file/db.h"
#include "storage/file/node_sample.h"
#include "storage/file/schema_statements.h"

/* SQLite keeps the text of each CREATE statement as it was given, up to the last token, and makes its objects from
 * these texts alone. A table whose text is ours is ours, whatever its other columns say; of another with its name the
 * columns are looked at, since an older or newer minor version may have written it. A table or view that somebody added
 * does nothing unless it is asked; an index or trigger runs expressions of its author's when a row is written, and so
 * does a column that is computed when it is read. */

struct look {
    sqlite3 *db;
    const struct pie_schema_statement *table;
    struct pie_schema_facts *facts;
    int r;
};

/* -1: there is none, 0: it is a plain one, else how it is computed. */
static int kind_of_column(struct look *look, const char *column, size_t size) {
    static const char sql[] = "SELECT hidden FROM pragma_table_xinfo(?1, 'main') WHERE name = ?2";
    sqlite3_stmt *statement = NULL;
    int kind = -1, code = sqlite3_prepare_v2(look->db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) {
        sqlite3_bind_text(statement, 1, look->table->name, (int)look->table->name_size, SQLITE_STATIC);
        sqlite3_bind_text(statement, 2, column, (int)size, SQLITE_STATIC);
        code = sqlite3_step(statement);
    }
    if (code == SQLITE_ROW)
        kind = sqlite3_column_int(statement, 0);
    else if (code != SQLITE_DONE)
        look->r = pie_db_errno(look->db, code);
    sqlite3_finalize(statement);
    return kind;
}

static bool look_at_column(const char *column, size_t size, void *data) {
    struct look *look = data;
    int kind = kind_of_column(look, column, size);

    look->facts->is_whole = look->facts->is_whole && kind >= 0;
    look->facts->is_plain = look->facts->is_plain && kind <= 0;
    return look->r == 0;
}

static bool begins(const char *sql, size_t size, const char *words) {
    return size >= strlen(words) && memcmp(sql, words, strlen(words)) == 0;
}

static bool is_named(const struct pie_schema_statement *own, const char *name) {
    return strlen(name) == own->name_size && strncasecmp(own->name, name, own->name_size) == 0;
}

/* One row of the file's schema. Returns the number of the table of ours that it is, or `count`. */
static size_t look_at_object(struct look *look, const char *name, const char *sql, size_t size) {
    size_t count, i = 0;
    const struct pie_schema_statement *own = pie_schema_tables(&count);
    bool is_table = begins(sql, size, "CREATE TABLE "), is_view = begins(sql, size, "CREATE VIEW ");

    while (i < count && (own[i].size != size || memcmp(own[i].sql, sql, size) != 0))
        i++;
    if (i < count)
        return i;
    look->facts->has_guests = look->facts->has_guests || (!is_table && !is_view);
    for (i = 0; i < count && !(own[i].is_table && is_named(&own[i], name));)
        i++;
    if (i == count)
        return count;
    look->facts->is_exact = false;
    look->facts->is_plain = look->facts->is_plain && is_table;
    look->table = &own[i];
    if (is_table)
        pie_schema_columns(look->table, look_at_column, look);
    return i;
}

int pie_schema_check(sqlite3 *db, struct pie_schema_facts *ret_facts) {
    size_t own_count;
    const struct pie_schema_statement *own = pie_schema_tables(&own_count);
    bool is_found[PIE_STATEMENTS_MAX + 1] = {false};
    struct pie_schema_facts facts = {.is_plain = true, .is_whole = true, .is_exact = true};
    struct look look = {.db = db, .facts = &facts};
    sqlite3_stmt *rows = NULL;

    int code =
        sqlite3_prepare_v2(db, "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL", -1, &rows, NULL);
    while (code == SQLITE_OK && look.r == 0 && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(rows, 0),
                   *sql = (const char *)sqlite3_column_text(rows, 1);
        facts.has_sums |= name && strcasecmp(name, PIE_NODE_SAMPLE_TABLE) == 0;
        if (name && sql)
            is_found[look_at_object(&look, name, sql, (size_t)sqlite3_column_bytes(rows, 1))] = true;
        else
            facts.has_guests = true;
        code = SQLITE_OK;
    }
    sqlite3_finalize(rows);
    if (look.r < 0 || code != SQLITE_DONE)
        return look.r < 0 ? look.r : pie_db_errno(db, code);
    for (size_t i = 0; i < own_count; i++)
        facts.is_whole = facts.is_whole && (is_found[i] || !own[i].is_table);
    facts.is_exact = facts.is_exact && facts.is_whole;
    *ret_facts = facts;
    return 0;
}

static const char rehearsal[] =
    "BEGIN IMMEDIATE;"
    "INSERT INTO run (started_ns, pieprof_version, identity) VALUES (0, '', hex(randomblob(16)));"
    "INSERT INTO process (run, pid, started_ns, seen_ns, clock, sampler)"
    " VALUES (last_insert_rowid(), 0, 0, 0, 'none', 'none')";

/* Each table begins with the column that its rows are ordered by, a process, run or source; the greatest is the
 * newest. */
static int look_at_edge(sqlite3 *db, const struct pie_schema_statement *table) {
    char sql[256];
    const char *column = table->name + strcspn(table->name, "(") + 1;

    column += strspn(column, " \n");
    sqlite3_snprintf(sizeof sql, sql, "SELECT max(%.*s) FROM %.*s", (int)strcspn(column, " ,"), column,
                     (int)table->name_size, table->name);
    return pie_db_exec(db, sql);
}

static int look_at_edges(sqlite3 *db) {
    size_t count;
    const struct pie_schema_statement *own = pie_schema_tables(&count);
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
