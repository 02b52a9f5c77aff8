/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/read/views.h"

#include <ctype.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "storage/base/message.h"
#include "storage/file/node_sample.h"
#include "storage/read/call_time.h"
#include "storage/read/cost_time.h"
#include "storage/read/kept.h"
#include "storage/read/place_time.h"
#include "storage/read/process_time.h"
#include "storage/read/reader_internal.h"
#include "storage/read/view_text.h"
#include "storage/file/schema_statements.h"

/* Views that are to be made, each behind those that it names. */
struct wanted {
    struct pie_reader *reader;
    size_t order[PIE_STATEMENTS_MAX], count;
    bool whole[PIE_PACKING_KINDS]; /* tables of all rows, packed or not */
    bool has_module;               /* the table is had by the name of its module, without being made */
    bool had[PIE_STATEMENTS_MAX];  /* views that had been made before */
};

static bool is_of_name(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static size_t index_of(const struct pie_schema_statement *view) {
    size_t count;

    return (size_t)(view - pie_schema_views(&count));
}

static bool is_named(const struct pie_schema_statement *view, const char *name) {
    return view->name_size == strlen(name) && memcmp(view->name, name, view->name_size) == 0;
}

static bool is_of_costs(const struct pie_schema_statement *view) {
    return is_named(view, PIE_LINE_SUM_TABLE) || is_named(view, PIE_FUNCTION_SUM_TABLE);
}

static bool is_of_samples(const struct pie_schema_statement *view) {
    return is_named(view, PIE_PLACE_TIME_TABLE) || is_named(view, PIE_PROCESS_TIME_TABLE);
}

/* Those that the reader has as tables, for speed. */
static bool is_a_table(const struct pie_schema_statement *view) {
    return is_named(view, PIE_NODE_SAMPLE_TABLE) || is_named(view, PIE_CALL_TIME_TABLE) ||
           is_of_samples(view) || is_of_costs(view);
}

bool pie_views_is_table(const struct pie_schema_statement *view) {
    return is_a_table(view);
}

/* A cut has made one of its own. */
static bool is_covered(const struct pie_reader *reader, const char *table) {
    char sql[48];
    sqlite3_stmt *statement = NULL;

    sqlite3_snprintf(sizeof sql, sql, "SELECT 1 FROM temp.%s", table);
    int code = sqlite3_prepare_v2(reader->db, sql, -1, &statement, NULL);
    sqlite3_finalize(statement);
    return code == SQLITE_OK;
}

/* A table of which a part is packed is a temporary one that has all of it. */
static void want_whole(struct wanted *wanted, const char *word, size_t size) {
    if (size < 4 || !strchr("aAcCsS", *word)) /* most words */
        return;
    for (int i = 0; i < PIE_PACKING_KINDS; i++) {
        const char *table = pie_packing_of(i + 1)->table;
        if (strlen(table) == size && strncasecmp(table, word, size) == 0 && !wanted->reader->has_whole[i] &&
            !is_covered(wanted->reader, table))
            wanted->whole[i] = wanted->reader->has_whole[i] = true;
    }
}

static void want_named(struct wanted *wanted, const char *sql, size_t size);

static void want(struct wanted *wanted, const struct pie_schema_statement *view) {
    size_t i = index_of(view);

    if (wanted->reader->has_view[i])
        return;
    wanted->reader->has_view[i] = true; /* also against views that name each other */
    const char *rest = view->name + view->name_size;
    if (is_of_costs(view)) /* a table that reads another one */
        want_named(wanted, PIE_PLACE_TIME_TABLE, strlen(PIE_PLACE_TIME_TABLE));
    if (is_of_samples(view))
        want_named(wanted, PIE_NODE_SAMPLE_TABLE, strlen(PIE_NODE_SAMPLE_TABLE));
    if (!is_a_table(view))
        want_named(wanted, rest, (size_t)(view->sql + view->size - rest));
    wanted->order[wanted->count++] = i;
}

/* All names of views begin with v_ or x_. A name in a text or a comment makes one for nothing. */
static void want_named(struct wanted *wanted, const char *sql, size_t size) {
    const char *end = sql + size;

    for (const char *at = sql, *word; at < end; at++) {
        for (word = at; at < end && is_of_name(*at);)
            at++;
        bool may_be = at - word > 2 && strchr("vVxX", *word) && word[1] == '_';
        const struct pie_schema_statement *view =
            may_be ? pie_schema_find_view(word, (size_t)(at - word)) : NULL;
        if (view)
            want(wanted, view);
        want_whole(wanted, word, (size_t)(at - word));
    }
}

/* What is made by statements. */
enum made { MADE_ALL, MADE_TABLES };

/* https://www.sqlite.org/vtab.html, section 2.1.1. The authorizer would take the first use for writing. */
static bool has_module(struct pie_reader *reader) {
    static const char sql[] = "SELECT 1 FROM " PIE_NODE_SAMPLE_TABLE " WHERE process = 0";
    sqlite3_stmt *statement = NULL;

    if (!reader->has_module)
        return false;
    pie_reader_allow_all(reader, true);
    int code = sqlite3_prepare_v2(reader->db, sql, -1, &statement, NULL);
    pie_reader_allow_all(reader, false);
    sqlite3_finalize(statement);
    return code == SQLITE_OK;
}

static const struct pie_schema_statement *view_at(const struct wanted *wanted, size_t i) {
    size_t count;

    return &pie_schema_views(&count)[wanted->order[i]];
}

static bool is_made(const struct wanted *wanted, const struct pie_schema_statement *view, enum made made) {
    bool is_had = wanted->has_module && is_named(view, PIE_NODE_SAMPLE_TABLE);

    return made == MADE_ALL || (is_a_table(view) && !is_had);
}

static char *text_of(const struct wanted *wanted, enum made made) {
    sqlite3_str *text = sqlite3_str_new(wanted->reader->db);

    for (int i = 0; i < PIE_PACKING_KINDS; i++)
        if (wanted->whole[i])
            sqlite3_str_appendf(text, "CREATE VIRTUAL TABLE temp.%s USING every_%s;",
                                pie_packing_of(i + 1)->table, pie_packing_of(i + 1)->table);
    for (size_t i = 0; i < wanted->count; i++) {
        const struct pie_schema_statement *view = view_at(wanted, i);
        const char *end = view->sql + view->size;
        if (!is_made(wanted, view, made))
            continue;
        if (is_a_table(view))
            sqlite3_str_appendf(text, "CREATE VIRTUAL TABLE IF NOT EXISTS temp.%.*s USING %.*s;",
                                (int)view->name_size, view->name, (int)view->name_size, view->name);
        else
            sqlite3_str_appendf(text, "CREATE TEMP VIEW IF NOT EXISTS %.*s;", (int)(end - view->name),
                                view->name);
    }
    return sqlite3_str_finish(text);
}

/* Some may have been made before the time was up. */
static void forget(const struct wanted *wanted) {
    for (size_t i = 0; i < wanted->count; i++)
        wanted->reader->has_view[wanted->order[i]] = false;
    for (size_t i = 0; i < PIE_PACKING_KINDS; i++)
        wanted->reader->has_whole[i] = wanted->reader->has_whole[i] && !wanted->whole[i];
}

static int make(const struct wanted *wanted, enum made made, char **ret_message) {
    bool has_any = false;

    for (size_t i = 0; i < wanted->count; i++)
        has_any = has_any || is_made(wanted, view_at(wanted, i), made);
    for (size_t i = 0; i < PIE_PACKING_KINDS; i++)
        has_any = has_any || wanted->whole[i];
    if (!has_any)
        return 0;
    char *text = text_of(wanted, made);
    int r = pie_reader_run_own(wanted->reader, text, NULL, NULL, ret_message);
    sqlite3_free(text);
    return r;
}

int pie_views_make(struct pie_reader *reader, const char *sql, char **ret_message) {
    struct wanted wanted = {.reader = reader};

    want_named(&wanted, sql, strlen(sql));
    int r = make(&wanted, MADE_ALL, ret_message);
    if (r < 0)
        forget(&wanted);
    return r;
}

static bool is_left_out(const void *data, const struct pie_schema_statement *view) {
    const struct wanted *wanted = data;

    return is_a_table(view) || wanted->had[index_of(view)];
}

/* Views that were only written before a statement have not been made. */
static void forget_written(const struct wanted *wanted) {
    for (size_t i = 0; i < wanted->count; i++)
        wanted->reader->has_view[wanted->order[i]] = is_made(wanted, view_at(wanted, i), MADE_TABLES);
}

int pie_views_before(struct pie_reader *reader, const char *sql, char **ret_with, char **ret_message) {
    struct wanted wanted = {.reader = reader};
    int r = reader->kept_run > 0 && !reader->is_keeping ? pie_kept_make(reader, sql, ret_message) : 0;

    if (r < 0)
        return r;
    memcpy(wanted.had, reader->has_view, sizeof wanted.had);
    want_named(&wanted, sql, strlen(sql));
    for (size_t i = 0; i < wanted.count && !wanted.has_module; i++)
        wanted.has_module = is_named(view_at(&wanted, i), PIE_NODE_SAMPLE_TABLE) && has_module(reader);
    r = make(&wanted, MADE_TABLES, ret_message);
    if (r < 0) {
        forget(&wanted);
        return r;
    }
    *ret_with = pie_view_text(sql, is_left_out, &wanted);
    forget_written(&wanted);
    return *ret_with ? 0 : pie_message(-ENOMEM, ret_message, "out of memory");
}

int pie_views_replace(struct pie_reader *reader, const char *name, const char *text, char **ret_message) {
    reader->has_view[index_of(pie_schema_find_view(name, strlen(name)))] = true;
    int r = pie_views_make(reader, text, ret_message);
    if (r < 0)
        return r;
    char *sql = sqlite3_mprintf("CREATE TEMP VIEW \"%w\" AS %s", name, text);
    r = pie_reader_run_own(reader, sql, NULL, NULL, ret_message);
    sqlite3_free(sql);
    return r;
}

int pie_views_drop(struct pie_reader *reader, char **ret_message) {
    size_t count;
    const struct pie_schema_statement *all = pie_schema_views(&count);
    sqlite3_str *text = sqlite3_str_new(reader->db);

    for (size_t i = 0; i < count; i++)
        if (reader->has_view[i])
            sqlite3_str_appendf(text, "DROP %s temp.%.*s;",
                                is_a_table(&all[i]) || reader->is_kept[i] ? "TABLE" : "VIEW",
                                (int)all[i].name_size, all[i].name);
    for (int i = 0; i < PIE_PACKING_KINDS; i++)
        if (reader->has_whole[i])
            sqlite3_str_appendf(text, "DROP TABLE temp.%s;", pie_packing_of(i + 1)->table);
    char *sql = sqlite3_str_finish(text);
    int r = sql ? pie_reader_run_own(reader, sql, NULL, NULL, ret_message) : 0; /* NULL: there is none */
    sqlite3_free(sql);
    memset(reader->has_view, 0, sizeof reader->has_view);
    memset(reader->is_kept, 0, sizeof reader->is_kept);
    memset(reader->has_whole, 0, sizeof reader->has_whole);
    return r;
}
