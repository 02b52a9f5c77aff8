/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/read/place.h"

#include <ctype.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/base/message.h"
#include "storage/base/nearest.h"
#include "storage/read/reader_internal.h"

static const char *const kind_names[PIE_PLACE_KINDS] = {
    [PIE_PLACE_FILE] = "file",     [PIE_PLACE_FUNCTION] = "function", [PIE_PLACE_LIBRARY] = "library",
    [PIE_PLACE_THREAD] = "thread", [PIE_PLACE_FOLDER] = "folder",
};

enum { NEAREST_MAX = 3, CANDIDATES_MAX = 20000 };

const char *pie_place_kind_name(enum pie_place_kind kind) {
    return kind_names[kind];
}

static bool ends_with(const char *text, char border, const char *end, size_t end_size) {
    size_t size = strlen(text);
    if (size == end_size)
        return memcmp(text, end, end_size) == 0;
    return size > end_size && text[size - end_size - 1] == border &&
           memcmp(text + size - end_size, end, end_size) == 0;
}

static bool is_file(const char *path, const char *text) {
    while (strncmp(text, "./", 2) == 0)
        text += 2;
    return ends_with(path, '/', text, strlen(text));
}

/* Its whole path, or the end of that: components that follow each other anywhere above the file. */
static bool is_folder(const char *path, const char *text) {
    size_t size = strlen(text);
    while (size > 0 && text[size - 1] == '/')
        size--;
    if (size == 0)
        return path[0] == '/'; /* all that is a file */
    for (const char *at = path; at; at = strchr(at, '/'), at = at ? at + 1 : NULL) {
        if (strncmp(at, text, size) == 0 && at[size] == '/')
            return true;
    }
    return false;
}

/* "Sales.discount" is discount and Sales.discount; parentheses behind either tell nothing. */
static bool is_function(const char *name, const char *text) {
    size_t size = strlen(text);
    if (size > 2 && strcmp(text + size - 2, "()") == 0)
        size -= 2;
    if (ends_with(name, '.', text, size))
        return true;
    return strncmp(name, text, size) == 0 && name[size] == '(';
}

static char folded(char c) {
    return c == '-' || c == '.' ? '_' : (char)tolower((unsigned char)c);
}

/* As package indexes compare names of distributions: case and the kind of dash make no difference. */
static bool is_same_library(const char *name, const char *text) {
    while (*name && folded(*name) == folded(*text)) {
        name++;
        text++;
    }
    return !*name && !*text;
}

static bool is_library(const char *library, const char *path, const char *text) {
    if (library && is_same_library(library, text))
        return true;
    const char *whole = path ? path : library, *slash = whole ? strrchr(whole, '/') : NULL;
    const char *base = slash ? slash + 1 : whole;
    size_t size = strlen(text);
    return base && strncmp(base, text, size) == 0 && (!base[size] || strncmp(base + size, ".so", 3) == 0);
}

static bool is_thread(const char *name, const char *id, const char *tid, const char *text) {
    return (name && strcasecmp(name, text) == 0) || (id && strcmp(id, text) == 0) ||
           (tid && strcmp(tid, text) == 0);
}

static bool is_kind(const char *kind, enum pie_place_kind wanted) {
    return strcmp(kind, kind_names[wanted]) == 0;
}

static void in_place(sqlite3_context *context, int count, sqlite3_value **values) {
    const char *texts[5] = {0};
    bool found = false;
    for (int i = 0; i < count && i < 5; i++)
        texts[i] = (const char *)sqlite3_value_text(values[i]);
    if (texts[0] && texts[1] && *texts[1]) {
        if (is_kind(texts[0], PIE_PLACE_FILE))
            found = texts[2] && is_file(texts[2], texts[1]);
        else if (is_kind(texts[0], PIE_PLACE_FOLDER))
            found = texts[2] && is_folder(texts[2], texts[1]);
        else if (is_kind(texts[0], PIE_PLACE_FUNCTION))
            found = texts[2] && is_function(texts[2], texts[1]);
        else if (is_kind(texts[0], PIE_PLACE_LIBRARY))
            found = is_library(texts[2], texts[3], texts[1]);
        else if (is_kind(texts[0], PIE_PLACE_THREAD))
            found = is_thread(texts[2], texts[3], texts[4], texts[1]);
    }
    sqlite3_result_int(context, found);
}

int pie_place_set_up(sqlite3 *db) {
    return sqlite3_create_function(db, "in_place", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                   NULL, in_place, NULL, NULL);
}

/* Columns as the kinds are numbered, from PIE_PLACE_FILE on. In traced loops names stand as they are. */
static const char find_sql[] =
    "WITH names (file, function, library, path, thread, id, tid) AS ("
    " SELECT f.path, NULL, f.library, NULL, NULL, NULL, NULL"
    " FROM process p JOIN file f ON f.process = p.id WHERE p.run = :run"
    " UNION ALL SELECT NULL, u.name, NULL, NULL, NULL, NULL, NULL"
    " FROM process p JOIN function u ON u.process = p.id WHERE p.run = :run"
    " UNION ALL SELECT NULL, NULL, m.library, m.path, NULL, NULL, NULL"
    " FROM process p JOIN module m ON m.process = p.id WHERE p.run = :run"
    " UNION ALL SELECT NULL, NULL, NULL, NULL, t.name, t.id, t.tid"
    " FROM process p JOIN thread t ON t.process = p.id WHERE p.run = :run"
    " UNION ALL SELECT l.file, l.function, NULL, NULL, NULL, NULL, NULL"
    " FROM process p JOIN learned_loop l ON l.process = p.id WHERE p.run = :run"
    " UNION ALL SELECT l.file, l.callee, NULL, NULL, NULL, NULL, NULL"
    " FROM process p JOIN learned_call l ON l.process = p.id WHERE p.run = :run)"
    " SELECT max(in_place('file', :in, file)), max(in_place('function', :in, function)),"
    " max(in_place('library', :in, library, path)), max(in_place('thread', :in, thread, id, tid)),"
    " max(in_place('folder', :in, file)) FROM names";

/* Own names first: they are meant more often. */
static const char names_sql[] =
    "SELECT f.path FROM process p JOIN file f ON f.process = p.id WHERE p.run = :run AND f.is_own"
    " UNION SELECT u.name FROM process p JOIN function u ON u.process = p.id"
    " JOIN file f ON f.process = u.process AND f.id = u.file WHERE p.run = :run AND f.is_own"
    " UNION SELECT l.file FROM process p JOIN learned_call l ON l.process = p.id WHERE p.run = :run"
    " UNION SELECT l.callee FROM process p JOIN learned_call l ON l.process = p.id WHERE p.run = :run"
    " UNION SELECT f.library FROM process p JOIN file f ON f.process = p.id WHERE p.run = :run"
    " UNION SELECT coalesce(m.library, m.path) FROM process p JOIN module m ON m.process = p.id WHERE p.run "
    "= :run"
    " UNION SELECT t.name FROM process p JOIN thread t ON t.process = p.id WHERE p.run = :run"
    " UNION ALL SELECT f.path FROM process p JOIN file f ON f.process = p.id WHERE p.run = :run AND NOT "
    "f.is_own"
    " UNION ALL SELECT u.name FROM process p JOIN function u ON u.process = p.id WHERE p.run = :run";

struct names {
    char **all;
    size_t count;
};

static void names_finish(struct names *names) {
    for (size_t i = 0; i < names->count; i++)
        free(names->all[i]);
    free(names->all);
}

static void names_add(struct names *names, const char *name) {
    const char *slash = name ? strrchr(name, '/') : NULL;
    char *copy = name && *name ? strdup(slash && slash[1] ? slash + 1 : name) : NULL;
    if (copy)
        names->all[names->count++] = copy;
}

/* Base names of files, and all else as it is called. Without them the message is shorter. */
static void names_read(struct pie_reader *reader, int64_t run, struct names *names) {
    struct pie_cursor *cursor;
    names->all = calloc(CANDIDATES_MAX, sizeof *names->all);
    if (!names->all || pie_cursor_open(reader, names_sql, &cursor, NULL) < 0)
        return;
    pie_cursor_bind_int(cursor, ":run", run);
    while (names->count < CANDIDATES_MAX && pie_cursor_next(cursor, NULL) > 0)
        names_add(names, pie_cursor_text(cursor, 0));
    pie_cursor_close(cursor);
}

/* "sales.py", "discount" or "pandas" */
static char *nearest_names(const char *text, const struct names *names) {
    size_t nearest[2 * NEAREST_MAX];
    const char *slash = strrchr(text, '/'), *wanted = slash && slash[1] ? slash + 1 : text;
    size_t found =
        pie_nearest_choose(wanted, (const char *const *)names->all, names->count, nearest, 2 * NEAREST_MAX);
    char *list = NULL;
    size_t size, listed = 0, last = 0;
    FILE *out = open_memstream(&list, &size);
    for (size_t i = 0; out && i < found && listed < NEAREST_MAX; i++) {
        if (i > 0 && strcmp(names->all[nearest[i]], names->all[nearest[last]]) == 0)
            continue;
        fprintf(out, "%s%.100s", listed > 0 ? " or " : "", names->all[nearest[i]]);
        listed++;
        last = i;
    }
    if (out)
        fclose(out);
    return list;
}

static int say_unknown(struct pie_reader *reader, int64_t run, const char *text, enum pie_place_kind wanted,
                       char **ret_message) {
    struct names names = {0};
    names_read(reader, run, &names);
    char *nearest = names.all ? nearest_names(text, &names) : NULL;
    names_finish(&names);
    const char *what = wanted ? kind_names[wanted] : "file, function, library, thread or folder";
    int r = pie_message(-ENOENT, ret_message, "there is no %s \"%.200s\" in run %lld%s%s%s", what, text,
                        (long long)run, nearest && *nearest ? "; did you mean " : "",
                        nearest && *nearest          ? nearest
                        : wanted == PIE_PLACE_THREAD ? "; \"threads\" lists them"
                                                     : "; \"hot lines\" and \"libraries\" tell what there is",
                        nearest && *nearest ? "?" : "");
    free(nearest);
    return r;
}

int pie_place_find(struct pie_reader *reader, int64_t run, const char *text, enum pie_place_kind wanted,
                   struct pie_place *ret_place, char **ret_message) {
    struct pie_cursor *cursor;
    struct pie_place place = {.kind = wanted};
    int r = pie_cursor_open(reader, find_sql, &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", run);
    pie_cursor_bind_text(cursor, ":in", text);
    r = pie_cursor_next(cursor, ret_message);
    for (int kind = PIE_PLACE_FILE; r > 0 && kind < PIE_PLACE_KINDS; kind++)
        place.kinds |= pie_cursor_int(cursor, kind - 1) ? 1u << kind : 0;
    pie_cursor_close(cursor);
    if (r < 0)
        return r;
    for (unsigned kind = PIE_PLACE_FILE; place.kind == PIE_PLACE_ANY && kind < PIE_PLACE_KINDS; kind++)
        place.kind = place.kinds & 1u << kind ? (enum pie_place_kind)kind : PIE_PLACE_ANY;
    if (!(place.kinds & 1u << place.kind) || place.kind == PIE_PLACE_ANY)
        return say_unknown(reader, run, text, wanted, ret_message);
    *ret_place = place;
    return 0;
}
