/* SPDX-License-Identifier: Apache-2.0 */

/* SQLite learns the columns of a view by resolving all that it is made of, so a chain of views is resolved as often as
 * it is long. What stands in a WITH clause is resolved where it is named, and only there. But of what is named twice
 * SQLite makes all rows, whatever is asked of them ("run = ..." is not passed on to it), and then a question to a file
 * of many runs reads all of them. So each place that names a view gets a copy of its own. */

#include "storage/read/view_text.h"

#include <ctype.h>
#include <sqlite3.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "storage/file/schema_statements.h"

/* Names and marks; texts, quoted names and comments are passed over. */
struct token {
    const char *at;
    int size;
    bool is_name;
};

struct writing {
    sqlite3_str *with;
    bool (*is_left_out)(const void *data, const struct pie_schema_statement *view);
    const void *data;
    int copies;
};

static bool is_of_name(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static const char *behind_blanks(const char *at, const char *end) {
    while (at < end && (isspace((unsigned char)*at) || (end - at > 1 && at[0] == '-' && at[1] == '-'))) {
        const char *line = *at == '-' ? memchr(at, '\n', (size_t)(end - at)) : at;
        at = line ? line + 1 : end;
    }
    return at;
}

static struct token next_token(const char *at, const char *end) {
    at = behind_blanks(at, end);
    struct token token = {.at = at};
    const char *rest = at;
    if (at < end && (*at == '\'' || *at == '"')) {
        const char *quote = memchr(at + 1, *at, (size_t)(end - at - 1));
        rest = quote ? quote + 1 : end;
    } else if (at < end && is_of_name(*at)) {
        token.is_name = true;
        while (rest < end && is_of_name(*rest))
            rest++;
    } else if (at < end) {
        rest++;
    }
    token.size = (int)(rest - at);
    return token;
}

static bool is_word(const struct token *token, const char *word) {
    return token->is_name && (int)strlen(word) == token->size &&
           strncasecmp(token->at, word, (size_t)token->size) == 0;
}

static bool is_mark(const struct token *token, char mark) {
    return token->size == 1 && *token->at == mark;
}

/* Does a name of the statement's own follow that of a table? */
static bool has_alias(const struct token *next) {
    static const char *const keywords[] = {"ON",    "JOIN",  "LEFT",   "CROSS",    "INNER",  "NATURAL",
                                           "USING", "WHERE", "GROUP",  "HAVING",   "WINDOW", "ORDER",
                                           "LIMIT", "UNION", "EXCEPT", "INTERSECT"};
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (is_word(next, keywords[i]))
            return false;
    return next->is_name;
}

/* The place in a statement up to which it has been read. */
struct reading {
    const char *end;
    struct token before, token, next; /* `token` is a view that is named as a table */
};

static const struct pie_schema_statement *view_of(const struct reading *reading) {
    const struct token *token = &reading->token;
    bool may_be = token->is_name && token->size > 2 && token->at[1] == '_' && strchr("vVxX", *token->at) &&
                  !is_mark(&reading->before, '.') && !is_mark(&reading->next, '.');

    return may_be ? pie_schema_find_view(token->at, (size_t)token->size) : NULL;
}

static struct reading begin_reading(const char *at, const char *end) {
    const struct token none = {.at = at};
    return (struct reading){.end = end, .before = none, .token = none, .next = next_token(at, end)};
}

/* The next view, NULL: there is none. */
static const struct pie_schema_statement *next_view(struct reading *reading) {
    while (reading->next.size > 0) {
        reading->before = reading->token;
        reading->token = reading->next;
        reading->next = next_token(reading->token.at + reading->token.size, reading->end);
        const struct pie_schema_statement *view = view_of(reading);
        if (view)
            return view;
    }
    return NULL;
}

const struct pie_schema_statement *pie_view_text_next(const char **at, const char *end) {
    struct reading reading = begin_reading(*at, end);
    const struct pie_schema_statement *view = next_view(&reading);

    *at = view ? reading.token.at + reading.token.size : end;
    return view;
}

static bool leaves_out(const struct writing *writing, const struct pie_schema_statement *view) {
    return writing->is_left_out(writing->data, view);
}

static void write_view(struct writing *writing, const struct pie_schema_statement *view, int copy);

/* The SELECT of a view, with names of copies. */
static void write_select(struct writing *writing, const char *at, const char *end, sqlite3_str *text) {
    struct reading reading = begin_reading(at, end);
    const struct pie_schema_statement *view;

    while ((view = next_view(&reading))) {
        const struct token *token = &reading.token;
        if (leaves_out(writing, view))
            continue;
        int copy = ++writing->copies;
        sqlite3_str_appendf(text, "%.*s%.*s_%d", (int)(token->at - at), at, token->size, token->at, copy);
        if (!has_alias(&reading.next))
            sqlite3_str_appendf(text, " AS %.*s", token->size, token->at);
        at = token->at + token->size;
        write_view(writing, view, copy);
    }
    sqlite3_str_append(text, at, (int)(end - at));
}

/* copy: 0 for the one that the statement names. NOT MATERIALIZED: as a view, which is narrowed by what is asked of
 * it. */
static void write_view(struct writing *writing, const struct pie_schema_statement *view, int copy) {
    static const char as[] = " AS";
    sqlite3_str *text = sqlite3_str_new(NULL);

    write_select(writing, view->name + view->name_size + strlen(as), view->sql + view->size, text);
    char *select = sqlite3_str_finish(text);
    sqlite3_str_appendf(writing->with, "%s%.*s", sqlite3_str_length(writing->with) > 0 ? ", " : "WITH ",
                        (int)view->name_size, view->name);
    if (copy > 0)
        sqlite3_str_appendf(writing->with, "_%d", copy);
    sqlite3_str_appendf(writing->with, " AS NOT MATERIALIZED (%s\n)", select ? select : "");
    sqlite3_free(select);
}

char *pie_view_text(const char *sql,
                    bool (*is_left_out)(const void *data, const struct pie_schema_statement *view),
                    const void *data) {
    struct writing writing = {.with = sqlite3_str_new(NULL), .is_left_out = is_left_out, .data = data};
    bool is_written[PIE_STATEMENTS_MAX] = {false};
    const char *end = sql + strlen(sql);
    size_t count;
    const struct pie_schema_statement *all = pie_schema_views(&count), *view;

    while ((view = pie_view_text_next(&sql, end)))
        if (!is_written[view - all] && !leaves_out(&writing, view)) {
            is_written[view - all] = true;
            write_view(&writing, view, 0);
        }
    sqlite3_str_appendall(writing.with, " ");
    return sqlite3_str_finish(writing.with);
}
