/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/copy/rows.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/copy/prepared.h"
#include "storage/file/db.h"

/* Everything that a process measured is keyed by its number, so a table that has the column "process" is copied with
 * that number changed and nothing else. The tables are asked for, so that none can be forgotten. Where one process
 * came in several files, the one of the last flush is taken. Columns that an input does not have get their default. */

static const char plan[] =
    "CREATE TEMP TABLE plan_run (input INTEGER, old INTEGER, identity TEXT, started_ns INTEGER, version TEXT,"
    "  budget REAL, new INTEGER, PRIMARY KEY (input, old)) WITHOUT ROWID;"
    "CREATE TEMP TABLE plan_process (input INTEGER, old INTEGER, identity TEXT, pid INTEGER, host TEXT,"
    "  started_ns INTEGER, seen_ns INTEGER, new INTEGER, is_taken INTEGER, PRIMARY KEY (input, old)) WITHOUT "
    "ROWID;"
    "CREATE TEMP TABLE plan_copy (nth INTEGER PRIMARY KEY, sql TEXT NOT NULL, is_for_alike INTEGER NOT "
    "NULL);";

/* Of the schema "%s". */
static const struct {
    const char *select, *insert; /* ?1: the input, ?2 and on: the columns */
} notes[] = {
    {"SELECT id, identity, started_ns, pieprof_version, overhead_budget FROM \"%s\".run",
     "INSERT INTO temp.plan_run VALUES (?1, ?2, ?3, ?4, ?5, ?6, NULL)"},
    {"SELECT p.id, r.identity, p.pid, p.host, p.started_ns, p.seen_ns FROM \"%s\".process p"
     " JOIN \"%s\".run r ON r.id = p.run",
     "INSERT INTO temp.plan_process VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, NULL, 0)"},
};

/* The runs of the file that is added to keep their place (input 0), the others are ordered by their start. */
static const char number[] =
    "UPDATE temp.plan_run SET new = n.new FROM (SELECT identity, row_number() OVER (ORDER BY is_added,"
    "  iif(is_added, started_ns, 0), place) AS new FROM (SELECT identity, min(input) > 0 AS is_added,"
    "  min(started_ns) AS started_ns, min(input << 32 | old) AS place FROM temp.plan_run GROUP BY identity)) "
    "n"
    "  WHERE n.identity = plan_run.identity;"
    "INSERT INTO main.run (id, started_ns, pieprof_version, overhead_budget, identity)"
    "  SELECT new, min(started_ns), version, budget, identity FROM temp.plan_run GROUP BY new;"
    "UPDATE temp.plan_process SET new = n.new, is_taken = n.is_taken FROM (SELECT input, old,"
    "  dense_rank() OVER (ORDER BY run, first_ns, first_input, first_old) AS new, nth = 1 AS is_taken FROM ("
    "    SELECT p.input, p.old, r.new AS run, p.started_ns AS first_ns, min(p.input) OVER g AS first_input,"
    "      first_value(p.old) OVER (PARTITION BY p.identity, p.pid, p.host, p.started_ns, p.twin ORDER BY "
    "p.input)"
    "      AS first_old, row_number() OVER (PARTITION BY p.identity, p.pid, p.host, p.started_ns, p.twin"
    "      ORDER BY p.seen_ns DESC, p.input) AS nth"
    "    FROM (SELECT *, row_number() OVER (PARTITION BY input, identity, pid, host, started_ns ORDER BY "
    "old) AS twin"
    "      FROM temp.plan_process) p"
    "    JOIN (SELECT identity, min(new) AS new FROM temp.plan_run GROUP BY identity) r ON r.identity = "
    "p.identity"
    "    WINDOW g AS (PARTITION BY p.identity, p.pid, p.host, p.started_ns, p.twin))) n"
    "  WHERE n.input = plan_process.input AND n.old = plan_process.old;";

/* ?1: the process's number in the input, ?2: in the result, ?3: the input. Of one process at a time, so that SQLite has
 * nothing to plan: the statements are made anew for each input that is attached. */
static const char copy_sql[] =
    "INSERT INTO main.\"%w\" (%s) SELECT %s FROM input.\"%w\" x WHERE x.\"%w\" = ?1";

static const char processes[] =
    "SELECT old, new FROM temp.plan_process WHERE input = ?1 AND is_taken ORDER BY new";

/* The result's tables of measured things, processes first. */
static const char measured[] =
    "SELECT m.name FROM main.sqlite_schema m JOIN pragma_table_info(m.name, 'main') c WHERE m.type = 'table'"
    " AND c.name = iif(m.name = 'process', 'id', 'process') ORDER BY m.name <> 'process', m.name";

/* 1: the input has every table of the result, column by column. */
static const char is_alike[] = "SELECT NOT EXISTS (SELECT sql FROM main.sqlite_schema WHERE type = 'table'"
                               " EXCEPT SELECT sql FROM input.sqlite_schema)";
static const char is_plan_for_alike[] = "SELECT coalesce(min(is_for_alike), 0) FROM temp.plan_copy";

/* What belongs to a run is written by all its processes; the last has its way, as in one file. */
static const char *const copy_shared[] = {
    "INSERT OR REPLACE INTO main.environment SELECT r.new, e.key, e.value FROM temp.plan_run r"
    " JOIN input.environment e ON e.run = r.old WHERE r.input = ?1",
    "INSERT OR IGNORE INTO main.source (run, path) SELECT r.new, s.path FROM temp.plan_run r"
    " JOIN input.source s ON s.run = r.old WHERE r.input = ?1 ORDER BY s.id",
    "INSERT OR IGNORE INTO main.source_line SELECT t.id, l.line, l.text FROM temp.plan_run r"
    " JOIN input.source s ON s.run = r.old JOIN input.source_line l ON l.source = s.id"
    " JOIN main.source t ON t.run = r.new AND t.path = s.path WHERE r.input = ?1",
};

/* A pid names the process that had it last before the child began, on the same machine. */
static const char link_parents[] =
    "CREATE INDEX temp.plan_of_new ON plan_process (new);"
    "CREATE TEMP TABLE pids AS SELECT run, pid, host, started_ns, id FROM main.process;"
    "CREATE INDEX temp.by_pid ON pids (run, pid, started_ns);"
    "UPDATE main.process SET parent = (SELECT q.id FROM temp.pids q WHERE q.run = process.run"
    "  AND q.pid = process.parent_pid AND q.host IS process.host AND q.id <> process.id"
    "  AND q.started_ns <= process.started_ns ORDER BY q.started_ns DESC, q.id DESC LIMIT 1)"
    "  WHERE parent IS NULL AND parent_pid IS NOT NULL";

static int run(struct pie_prepared *prepared, const char *sql, int64_t input) {
    sqlite3_stmt *statement;
    int code = pie_prepared_get(prepared, sql, &statement);
    if (code == SQLITE_OK)
        code = sqlite3_bind_int64(statement, 1, input);
    if (code == SQLITE_OK) {
        (void)sqlite3_step(statement);
        code = sqlite3_reset(statement);
    }
    return code;
}

int pie_merge_rows_begin(sqlite3 *db) {
    return sqlite3_exec(db, plan, NULL, NULL, NULL);
}

/* The rows of one connection's statement become those of the other's. */
static int insert_rows(sqlite3_stmt *rows, sqlite3_stmt *insert, int64_t input) {
    int code;
    while ((code = sqlite3_step(rows)) == SQLITE_ROW) {
        code = sqlite3_bind_int64(insert, 1, input);
        for (int i = 0; i < sqlite3_column_count(rows) && code == SQLITE_OK; i++)
            code = sqlite3_bind_value(insert, i + 2, sqlite3_column_value(rows, i));
        if (code == SQLITE_OK)
            sqlite3_step(insert);
        if (code != SQLITE_OK || (code = sqlite3_reset(insert)) != SQLITE_OK)
            return code;
    }
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int note(struct pie_prepared *prepared, int64_t input, struct pie_prepared *from, const char *select,
                const char *insert_sql) {
    sqlite3_stmt *rows = NULL, *insert = NULL;
    int code = pie_prepared_get(from, select, &rows);
    if (code == SQLITE_OK)
        code = pie_prepared_get(prepared, insert_sql, &insert);
    if (code == SQLITE_OK)
        code = insert_rows(rows, insert, input);
    sqlite3_reset(insert);
    sqlite3_reset(rows);
    return code;
}

int pie_merge_rows_note(struct pie_prepared *prepared, int64_t input, struct pie_prepared *from,
                        const char *schema) {
    int code = SQLITE_OK;
    for (size_t i = 0; i < sizeof notes / sizeof *notes && code == SQLITE_OK; i++) {
        char *select = sqlite3_mprintf(notes[i].select, schema, schema);
        code = select ? note(prepared, input, from, select, notes[i].insert) : SQLITE_NOMEM;
        sqlite3_free(select);
    }
    return code;
}

int pie_merge_rows_forget(struct pie_prepared *prepared, int64_t input) {
    int code = run(prepared, "DELETE FROM temp.plan_run WHERE input = ?1", input);
    return code == SQLITE_OK ? run(prepared, "DELETE FROM temp.plan_process WHERE input = ?1", input) : code;
}

int pie_merge_rows_number(sqlite3 *db) {
    return sqlite3_exec(db, number, NULL, NULL, NULL);
}

/* Names of a table's columns that the input has too, and the same as values: ?2 for the process. NULL: the input has no
 * such table. */
static int list_columns(sqlite3 *db, const char *table, char **ret_names, char **ret_values) {
    static const char sql[] =
        "SELECT group_concat('\"' || name || '\"'), group_concat(CASE"
        " WHEN ?1 = 'process' AND name = 'id' OR ?1 <> 'process' AND name = 'process' THEN '?2'"
        " WHEN ?1 = 'process' AND name = 'run' THEN"
        "   '(SELECT r.new FROM temp.plan_run r WHERE r.input = ?3 AND r.old = x.run)'"
        " WHEN ?1 = 'process' AND name = 'parent' THEN"
        "   '(SELECT m.new FROM temp.plan_process m WHERE m.input = ?3 AND m.old = x.parent)'"
        " ELSE 'x.\"' || name || '\"' END) FROM pragma_table_info(?1, 'main')"
        " WHERE name IN (SELECT name FROM pragma_table_info(?1, 'input'))";
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL) {
        *ret_names = sqlite3_mprintf("%s", sqlite3_column_text(statement, 0));
        *ret_values = sqlite3_mprintf("%s", sqlite3_column_text(statement, 1));
        code = *ret_names && *ret_values ? SQLITE_ROW : SQLITE_NOMEM;
    }
    sqlite3_finalize(statement);
    return code == SQLITE_ROW ? SQLITE_OK : code;
}

/* Notes how one table of the input is copied. */
static int plan_table(sqlite3 *db, const char *table, int64_t alike) {
    char *names = NULL, *values = NULL;
    int code = list_columns(db, table, &names, &values);
    if (code == SQLITE_OK && names) {
        const char *key = strcmp(table, "process") == 0 ? "id" : "process";
        char *sql = sqlite3_mprintf(copy_sql, table, names, values, table, key);
        char *note =
            sql ? sqlite3_mprintf("INSERT INTO temp.plan_copy VALUES (NULL, %Q, %d)", sql, (int)alike) : NULL;
        code = note ? sqlite3_exec(db, note, NULL, NULL, NULL) : SQLITE_NOMEM;
        sqlite3_free(note);
        sqlite3_free(sql);
    }
    sqlite3_free(names);
    sqlite3_free(values);
    return code;
}

/* Makes temp.plan_copy for the attached input. That of another one will do if both are of the result's version. */
static int plan_tables(sqlite3 *db) {
    sqlite3_stmt *tables = NULL;
    int64_t alike = 0, for_alike = 0;
    if (pie_db_get_int(db, is_alike, &alike) < 0 || pie_db_get_int(db, is_plan_for_alike, &for_alike) < 0)
        return sqlite3_extended_errcode(db);
    if (alike && for_alike)
        return SQLITE_OK;
    int code = sqlite3_exec(db, "DELETE FROM temp.plan_copy", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(db, measured, -1, &tables, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(tables)) == SQLITE_ROW)
        code = plan_table(db, (const char *)sqlite3_column_text(tables, 0), alike);
    sqlite3_finalize(tables);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* One table's rows of all processes, which `processes_of_input` lists. */
static int copy_table(struct pie_prepared *prepared, const char *sql, sqlite3_stmt *processes_of_input,
                      int64_t input) {
    sqlite3_stmt *copy = NULL;
    int code = pie_prepared_get(prepared, sql, &copy);
    while (code == SQLITE_OK && (code = sqlite3_step(processes_of_input)) == SQLITE_ROW) {
        sqlite3_bind_int64(copy, 1, sqlite3_column_int64(processes_of_input, 0));
        sqlite3_bind_int64(copy, 2, sqlite3_column_int64(processes_of_input, 1));
        if (sqlite3_bind_parameter_count(copy) == 3)
            sqlite3_bind_int64(copy, 3, input);
        sqlite3_step(copy);
        code = sqlite3_reset(copy);
    }
    sqlite3_reset(processes_of_input);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int copy_tables(struct pie_prepared *prepared, int64_t input) {
    sqlite3_stmt *tables = NULL, *processes_of_input = NULL;
    int code = pie_prepared_get(prepared, "SELECT sql FROM temp.plan_copy ORDER BY nth", &tables);
    if (code == SQLITE_OK)
        code = pie_prepared_get(prepared, processes, &processes_of_input);
    if (code == SQLITE_OK)
        code = sqlite3_bind_int64(processes_of_input, 1, input);
    while (code == SQLITE_OK && (code = sqlite3_step(tables)) == SQLITE_ROW)
        code = copy_table(prepared, (const char *)sqlite3_column_text(tables, 0), processes_of_input, input);
    sqlite3_reset(tables);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

int pie_merge_rows_copy(struct pie_prepared *prepared, int64_t input, bool is_planned) {
    int code = is_planned ? SQLITE_OK : plan_tables(prepared->db);
    if (code == SQLITE_OK)
        code = copy_tables(prepared, input);
    for (size_t i = 0; i < sizeof copy_shared / sizeof *copy_shared && code == SQLITE_OK; i++)
        code = run(prepared, copy_shared[i], input);
    return code;
}

int pie_merge_rows_link(sqlite3 *db) {
    return sqlite3_exec(db, link_parents, NULL, NULL, NULL);
}

int pie_merge_rows_end(sqlite3 *db) {
    return sqlite3_exec(db,
                        "DROP TABLE temp.plan_copy; DROP TABLE temp.plan_process; DROP TABLE temp.plan_run",
                        NULL, NULL, NULL);
}
