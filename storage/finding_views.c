/* SPDX-License-Identifier: Apache-2.0 */

/* A SELECT DISTINCT is never written into another one (https://www.sqlite.org/optoverview.html#subquery_flattening), and
 * "run = ..." is still passed on through it. Each level has one row for a line and kind of access, so nothing is lost by it. */

#include "storage/finding_views.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/db.h"
#include "storage/reader_internal.h"
#include "storage/schema_statements.h"

/* Each before those that name it. */
static const struct {
    const char *name;
    bool has_levels;
} views[] = {
    {"x_finding", true},      {"x_named_finding", true}, {"x_ranked_finding", true},
    {"x_told_finding", true}, {"v_redundancy", false},   {"v_redundancy_function", false},
};

enum { VIEWS = sizeof views / sizeof *views };

static bool names_one(const char *sql) {
    bool found = false;
    for (size_t i = 0; i < VIEWS && !found; i++)
        found = strcasestr(sql, views[i].name) != NULL;
    return found;
}

/* The levels of a view begin alike, and only they are set in. */
static void print_apart(FILE *out, const char *sql, size_t size) {
    static const char level[] = "SELECT *,";
    const char *end = sql + size, *at;
    while ((at = memmem(sql, (size_t)(end - sql), level, sizeof level - 1))) {
        fprintf(out, "%.*sSELECT DISTINCT *,", (int)(at - sql), sql);
        sql = at + sizeof level - 1;
    }
    fprintf(out, "%.*s", (int)(end - sql), sql);
}

/* As our own schema has it: that of the file is the same to the letter. */
static int make_view(sqlite3 *db, size_t i) {
    static const char begin[] = "CREATE ";
    const struct pie_schema_statement *view = pie_schema_find_view(views[i].name);
    const char *rest = view->sql + strlen(begin);
    size_t size = view->size - strlen(begin), text_size;
    char *text = NULL;
    FILE *out = open_memstream(&text, &text_size);
    if (!out)
        return SQLITE_NOMEM;
    fprintf(out, "CREATE TEMP ");
    if (views[i].has_levels)
        print_apart(out, rest, size);
    else
        fprintf(out, "%.*s", (int)size, rest);
    int code = fclose(out) == 0 ? sqlite3_exec(db, text, NULL, NULL, NULL) : SQLITE_NOMEM;
    free(text);
    return code;
}

int pie_finding_views_make(struct pie_reader *reader, const char *sql, char **ret_message) {
    int64_t made = 0;
    if (!names_one(sql) ||
        pie_db_get_int(reader->db, "SELECT 1 FROM sqlite_temp_schema WHERE name = 'v_redundancy'", &made) ==
            0)
        return 0;
    pie_reader_allow_all(reader, true);
    int code = sqlite3_exec(reader->db, "PRAGMA query_only = OFF", NULL, NULL, NULL);
    for (size_t i = 0; i < VIEWS && code == SQLITE_OK; i++)
        code = make_view(reader->db, i);
    int r = code == SQLITE_OK ? 0 : pie_reader_fail(reader, code, ret_message);
    sqlite3_exec(reader->db, "PRAGMA query_only = ON", NULL, NULL, NULL);
    pie_reader_allow_all(reader, false);
    return r;
}
