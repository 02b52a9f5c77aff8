/* SPDX-License-Identifier: Apache-2.0 */

/* The views of the findings stand on each other, thirty high. To prepare a question to the top SQLite resolves,
 * flattens and types all of them at once, which takes it longer the more there are below. Where some on the way are
 * tables, each part is a small statement. And a view that several questions use is worked out once.
 *
 * Columns have no types, so values stay what they were. */

#include "storage/read/kept.h"

#include <errno.h>
#include <sqlite3.h>
#include <stddef.h>
#include <string.h>

#include "storage/base/message.h"
#include "storage/file/schema_statements.h"
#include "storage/read/reader_internal.h"
#include "storage/read/view_text.h"
#include "storage/read/views.h"

enum { PARAMETERS_MAX = 500 };

/* The rows of a view. */
struct kept {
    const char *name;
    const char *may_be;  /* a view of the runs of which there may be rows (may_be.sql); NULL: any */
    const char *columns; /* those that other views name, of a table that is empty for that reason */
    const char *from; /* a view that is kept, of which all of its rows come; NULL: several, or another one */
    bool has_no_runs; /* its rows are the same for all */
};

#define OF_FINDING                                                                                           \
    "run, file, line, function, function_line, native_function, native_library, evidence, advice, "
#define LIMITS ", line_ns, run_ns, z2, high_traps, high_low, high_part, high_share, calls_high"

/* All that they have. */
#define OF_WINDOWED                                                                                          \
    "run, kind, file, line, function, function_line, first_file, first_line, native_function, "              \
    "native_library, category, evidence, advice, fraction, fraction_low, fraction_high, wasted_ns, "         \
    "low_ns, high_ns, again_ns, again_low_ns, again_high_ns, line_ns, run_ns, short_share, bytes, "          \
    "traps, watches, sampler, library, user_file, user_line, redundant_ns, trap_ns, trap_sq, "               \
    "is_reuse, is_decided, basis, severity, becomes_known, rank"
#define OF_JUDGED                                                                                            \
    OF_WINDOWED                                                                                              \
    ", confirmed_share, refuted_share, compared_share, singles_min, whole_ns, kept_max, again_min, "         \
    "rest_faster, verdict_file, verdict_line, file_end, facts, is_whole, calls, compared, "                  \
    "compared_of, again, alike, singles, counted_ns, counted_again_ns, alike_ns, single_ns, within, "        \
    "within_ns, is_about_singles, is_about_calls, kept_args, bulk_ns, has_grown, is_about_again, "           \
    "found_verdict, gain_ns, gain_share"
#define OF_LINE                                                                                              \
    OF_JUDGED                                                                                                \
    ", found_gain_ns, found_most_ns, proven_severity, found_proof, is_told, kind_text, place_text, "         \
    "nth, is_line_high, is_counted_again, has_below, below_file, below_line, first_text, other_text, "       \
    "library_text, line_severity, verdict, proof, fix_gain_ns, most_ns, is_evidence, line_category, "        \
    "line_advice, line_evidence, line_first_file, line_first_line"

static const struct kept kept[] = {
    {.name = "x_threshold", .has_no_runs = true},
    {.name = "x_total"},
    {.name = "x_thread"},
    {.name = "x_line_fact"},
    {.name = "x_lent_line"},
    {.name = "x_line_arguments"},
    {.name = "x_finding"},
    {.name = "x_weighed_finding"},
    {.name = "x_explained_finding",
     .may_be = "x_may_watch",
     .columns =
         OF_FINDING "kind, first_file, first_line, category, fraction, fraction_low, fraction_high, "
                    "wasted_ns, low_ns, high_ns,"
                    " again_ns, again_low_ns, again_high_ns, short_share, bytes, traps, watches, sampler, "
                    "library, user_file,"
                    " user_line, redundant_ns, trap_ns, trap_sq, is_reuse, is_decided, severity, is_repeat,"
                    " is_same_arguments, by_return, is_return_decisive" LIMITS},
    {.name = "x_copying_finding",
     .may_be = "x_may_copy",
     .columns = OF_FINDING "about, saved_ns, copies_ns, bytes, calls_low" LIMITS},
    {.name = "x_reading_line"},
    {.name = "x_reading_finding",
     .may_be = "x_may_read",
     .columns = OF_FINDING "saved_ns, low_ns, high_ns, reads_ns" LIMITS},
    {.name = "x_work_finding",
     .may_be = "x_may_work",
     .columns = OF_FINDING "basis, category, saved_ns, low_ns, high_ns, again_ns" LIMITS},
    {.name = "x_passing_finding", .may_be = "x_may_pass", .columns = OF_FINDING "pass_ns" LIMITS},
    {.name = "x_known_function", .has_no_runs = true},
    {.name = "x_known_line"},
    {.name = "x_hot_line",
     .may_be = "x_may_hot",
     .columns = "run, file, line, function, function_line, line_ns, runs_once, file_end, run_ns, severity"},
    {.name = "x_again_line",
     .may_be = "x_may_return",
     .columns =
         "run, is_call, file, line, function_name, first_line, other_file, other_line, called, call_ns, "
         "again_ns, same, compared, is_in_loop"},
    {.name = "x_called_again",
     .may_be = "x_may_call",
     .columns = "run, process, file, line, function, function_line, category, is_inner, calls, callee, "
                "again, kinds, "
                "saved_ns, line_ns, run_ns, below_part"},
    {.name = "x_passed_line",
     .may_be = "x_may_go_through",
     .columns =
         "run, process, file, line, kind, calls, carried, items, line_ns, part, about, basis, low, high, "
         "category, evidence"},
    {.name = "x_element_line",
     .may_be = "x_may_element",
     .columns = "run, file, line, function, function_line, library, category, element_function, element_ns, "
                "line_ns, samples"},
    {.name = "x_told_finding"},
    {.name = "x_windowed_finding", .from = "x_told_finding", .columns = OF_WINDOWED},
    {.name = "x_judged_finding", .from = "x_windowed_finding", .columns = OF_JUDGED},
    {.name = "x_line_finding", .from = "x_judged_finding", .columns = OF_LINE},
    {.name = "x_high_finding"},
};

static const struct kept *kept_of(const struct pie_schema_statement *view) {
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (strlen(kept[i].name) == view->name_size && memcmp(kept[i].name, view->name, view->name_size) == 0)
            return &kept[i];
    return NULL;
}

/* Rows in memory: a table cannot be made while a statement is at a row, which SQLite stops when the schema changes. */
struct rows {
    sqlite3_value **values; /* of one row after the other */
    size_t count;
    int columns;
};

static int take_row(struct rows *rows, sqlite3_stmt *statement) {
    size_t wanted = rows->count + (size_t)rows->columns;
    sqlite3_value **values = sqlite3_realloc64(rows->values, wanted * sizeof(sqlite3_value *));

    if (!values)
        return SQLITE_NOMEM;
    rows->values = values;
    for (int i = 0; i < rows->columns; i++) {
        sqlite3_value *value = sqlite3_value_dup(sqlite3_column_value(statement, i));
        if (!value)
            return SQLITE_NOMEM;
        values[rows->count++] = value;
    }
    return SQLITE_OK;
}

static int take_rows(struct rows *rows, sqlite3_stmt *statement) {
    int code;

    rows->columns = sqlite3_column_count(statement);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        if (take_row(rows, statement) != SQLITE_OK)
            return SQLITE_NOMEM;
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static void release_rows(struct rows *rows) {
    for (size_t i = 0; i < rows->count; i++)
        sqlite3_value_free(rows->values[i]);
    sqlite3_free(rows->values);
}

/* "CREATE TEMP TABLE name (a, b)" */
static char *creation_of(const struct pie_schema_statement *view, sqlite3_stmt *rows) {
    sqlite3_str *text = sqlite3_str_new(NULL);

    sqlite3_str_appendf(text, "CREATE TEMP TABLE %.*s", (int)view->name_size, view->name);
    for (int i = 0; i < sqlite3_column_count(rows); i++)
        sqlite3_str_appendf(text, "%s\"%w\"", i == 0 ? " (" : ", ", sqlite3_column_name(rows, i));
    sqlite3_str_appendall(text, ")");
    return sqlite3_str_finish(text);
}

static char *insertion_of(const struct pie_schema_statement *view, int columns) {
    sqlite3_str *text = sqlite3_str_new(NULL);

    sqlite3_str_appendf(text, "INSERT INTO temp.%.*s VALUES", (int)view->name_size, view->name);
    for (int i = 0; i < columns; i++)
        sqlite3_str_appendf(text, "%s?", i == 0 ? " (" : ",");
    sqlite3_str_appendall(text, ")");
    return sqlite3_str_finish(text);
}

static int insert_rows(sqlite3_stmt *insert, const struct rows *rows) {
    int code = SQLITE_OK;

    for (size_t at = 0; at < rows->count && code == SQLITE_OK; at += (size_t)rows->columns) {
        for (int i = 0; i < rows->columns && code == SQLITE_OK; i++)
            code = sqlite3_bind_value(insert, i + 1, rows->values[at + (size_t)i]);
        if (code == SQLITE_OK)
            (void)sqlite3_step(insert);
        code = code == SQLITE_OK ? sqlite3_reset(insert) : code;
    }
    return code;
}

static int put_rows(sqlite3 *db, const struct pie_schema_statement *view, const char *creation,
                    const struct rows *rows) {
    int code = creation ? sqlite3_exec(db, creation, NULL, NULL, NULL) : SQLITE_NOMEM;

    if (code != SQLITE_OK || rows->count == 0)
        return code;
    char *insertion = insertion_of(view, rows->columns);
    sqlite3_stmt *insert = NULL;
    code = insertion ? sqlite3_prepare_v2(db, insertion, -1, &insert, NULL) : SQLITE_NOMEM;
    if (code == SQLITE_OK)
        code = insert_rows(insert, rows);
    sqlite3_finalize(insert);
    sqlite3_free(insertion);
    return code;
}

/* Statements that write are refused but in between. */
static void begin_writing(struct pie_reader *reader) {
    pie_reader_allow_all(reader, true);
    (void)sqlite3_exec(reader->db, "PRAGMA query_only = OFF", NULL, NULL, NULL);
}

/* Returns 0, or -errno and a message. */
static int end_writing(struct pie_reader *reader, int code, char **ret_message) {
    int r = code == SQLITE_OK ? 0 : pie_reader_fail(reader, code, ret_message);

    (void)sqlite3_exec(reader->db, "PRAGMA query_only = ON", NULL, NULL, NULL);
    pie_reader_allow_all(reader, false);
    return r;
}

static int keep(struct pie_reader *reader, const struct pie_schema_statement *view, sqlite3_stmt *statement,
                char **ret_message) {
    struct rows rows = {.values = NULL};
    int code = take_rows(&rows, statement);
    int r = code == SQLITE_OK ? 0 : pie_reader_fail(reader, code, ret_message);
    char *creation = r == 0 ? creation_of(view, statement) : NULL;

    sqlite3_reset(statement);
    if (r == 0) {
        begin_writing(reader);
        r = end_writing(reader, put_rows(reader->db, view, creation, &rows), ret_message);
    }
    sqlite3_free(creation);
    release_rows(&rows);
    return r;
}

static int keep_nothing(struct pie_reader *reader, const struct kept *of, char **ret_message) {
    char *sql = sqlite3_mprintf("CREATE TEMP TABLE %s (%s)", of->name, of->columns);

    begin_writing(reader);
    int r = end_writing(reader, sql ? sqlite3_exec(reader->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM,
                        ret_message);
    sqlite3_free(sql);
    return r;
}

/* What is made on the way to a statement. */
struct keeping {
    struct pie_reader *reader;
    bool seen[PIE_STATEMENTS_MAX];
    char **ret_message;
};

/* `SELECT ... FROM name ...` of a view of ours, with the run as its parameter. Returns 0, or -errno and a message. */
static int prepare_own(const struct keeping *keeping, char *sql, sqlite3_stmt **ret_statement) {
    struct pie_reader *reader = keeping->reader;
    char *with = NULL;
    int r = sql ? pie_views_before(reader, sql, &with, keeping->ret_message)
                : pie_message(-ENOMEM, keeping->ret_message, "out of memory");

    char *text = r == 0 ? sqlite3_mprintf("%s%s", with, sql) : NULL;
    if (r == 0) {
        int code =
            text ? pie_guard_prepare(reader->db, &reader->guard, text, ret_statement, NULL) : SQLITE_NOMEM;
        if (code == SQLITE_OK && sqlite3_bind_parameter_count(*ret_statement) > 0)
            code = sqlite3_bind_int64(*ret_statement, 1, reader->kept_run);
        r = code == SQLITE_OK ? 0 : pie_reader_fail(reader, code, keeping->ret_message);
    }
    sqlite3_free(text);
    sqlite3_free(with);
    sqlite3_free(sql);
    return r;
}

/* 1, 0 or -errno. */
static int may_be(const struct keeping *keeping, const struct kept *of) {
    sqlite3_stmt *statement = NULL;
    if (!of->may_be)
        return 1;
    int r = prepare_own(keeping, sqlite3_mprintf("SELECT 1 FROM %s WHERE run = ? LIMIT 1", of->may_be),
                        &statement);
    int code = r == 0 ? sqlite3_step(statement) : SQLITE_DONE;
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        r = pie_reader_fail(keeping->reader, code, keeping->ret_message);
    sqlite3_finalize(statement);
    return r < 0 ? r : code == SQLITE_ROW;
}

/* The one that its rows come from is kept by now, and has none: that is known without preparing it. */
static bool comes_from_nothing(const struct keeping *keeping, const struct kept *of) {
    sqlite3_stmt *statement = NULL;
    char *sql = of->from ? sqlite3_mprintf("SELECT 1 FROM temp.%s LIMIT 1", of->from) : NULL;
    bool is_empty = sql && sqlite3_prepare_v2(keeping->reader->db, sql, -1, &statement, NULL) == SQLITE_OK &&
                    sqlite3_step(statement) == SQLITE_DONE;

    sqlite3_finalize(statement);
    sqlite3_free(sql);
    return is_empty;
}

/* -errno, or 0. */
static int keep_rows(const struct keeping *keeping, const struct kept *of,
                     const struct pie_schema_statement *view) {
    sqlite3_stmt *statement = NULL;
    int r = prepare_own(
        keeping, sqlite3_mprintf("SELECT * FROM %s%s", of->name, of->has_no_runs ? "" : " WHERE run = ?"),
        &statement);

    if (r == 0)
        r = keep(keeping->reader, view, statement, keeping->ret_message);
    sqlite3_finalize(statement);
    return r;
}

static int keep_named(struct keeping *keeping, const char *at, const char *end);

static int keep_view(struct keeping *keeping, const struct pie_schema_statement *view, size_t i) {
    struct pie_reader *reader = keeping->reader;
    const struct kept *of = kept_of(view);
    int r = of ? may_be(keeping, of) : 1;

    if (r == 0) {
        r = keep_nothing(reader, of, keeping->ret_message);
    } else if (r > 0) {
        r = keep_named(keeping, view->name + view->name_size, view->sql + view->size);
        if (r == 0 && of && comes_from_nothing(keeping, of))
            r = keep_nothing(reader, of, keeping->ret_message);
        else if (r == 0 && of)
            r = keep_rows(keeping, of, view);
    }
    reader->has_view[i] = reader->is_kept[i] = r == 0 && of;
    return r;
}

/* Those that a text names, and before each the ones below it. */
static int keep_named(struct keeping *keeping, const char *at, const char *end) {
    const struct pie_schema_statement *view;
    size_t count;
    int r = 0;

    while (r == 0 && (view = pie_view_text_next(&at, end))) {
        size_t i = (size_t)(view - pie_schema_views(&count));
        if (keeping->seen[i] || keeping->reader->has_view[i] || pie_views_is_table(view))
            continue;
        keeping->seen[i] = true;
        r = keep_view(keeping, view, i);
    }
    return r;
}

int pie_kept_make(struct pie_reader *reader, const char *sql, char **ret_message) {
    struct keeping keeping = {.reader = reader, .ret_message = ret_message};
    int limit = sqlite3_limit(reader->db, SQLITE_LIMIT_VARIABLE_NUMBER, PARAMETERS_MAX);

    reader->is_keeping = true;
    int r = keep_named(&keeping, sql, sql + strlen(sql));
    reader->is_keeping = false;
    sqlite3_limit(reader->db, SQLITE_LIMIT_VARIABLE_NUMBER, limit);
    return r;
}
