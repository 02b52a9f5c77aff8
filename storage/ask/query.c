/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/ask/query.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/ask/phrase.h"
#include "storage/ask/questions.h"
#include "storage/base/message.h"
#include "storage/base/nearest.h"
#include "storage/export/calltree.h"
#include "storage/read/reader.h"

enum { NEAREST_MAX = 3, QUESTIONS_MAX = 64 };

static const char *const reading_verbs[] = {"select", "with", "values", "explain", NULL};
static const char *const other_verbs[] = {"insert", "update",  "delete",  "replace", "create",
                                          "drop",   "alter",   "attach",  "detach",  "pragma",
                                          "vacuum", "reindex", "analyze", NULL};

/* Blanks, semicolons and comments before a statement. */
static const char *skip_blank(const char *text) {
    for (;;) {
        const char *end = NULL;
        text += strspn(text, " \t\r\n\f;");
        if (strncmp(text, "--", 2) == 0)
            end = text + strcspn(text, "\n");
        else if (strncmp(text, "/*", 2) == 0)
            end = strstr(text + 2, "*/") ? strstr(text + 2, "*/") + 2 : text + strlen(text);
        if (!end)
            return text;
        text = end;
    }
}

static bool begins_with(const char *text, const char *const *verbs) {
    while (*(text = skip_blank(text)) == '(')
        text++;
    for (; *verbs; verbs++) {
        size_t size = strlen(*verbs);
        if (strncasecmp(text, *verbs, size) == 0 && !isalnum((unsigned char)text[size]) && text[size] != '_')
            return true;
    }
    return false;
}

/* `"hot lines" or "threads"` */
static int unknown_phrase(const char *words, char **ret_message) {
    size_t count, nearest[NEAREST_MAX];
    const struct pie_question *questions = pie_question_all(&count);
    const char *names[QUESTIONS_MAX];
    for (size_t i = 0; i < count && i < QUESTIONS_MAX; i++)
        names[i] = questions[i].name;
    size_t found = pie_nearest_choose(words, names, count, nearest, NEAREST_MAX);
    size_t shown = found ? found : count;
    char list[1024] = "";
    for (size_t i = 0; i < shown; i++) {
        strcat(list, i == 0 ? "\"" : i + 1 == shown ? " or \"" : ", \"");
        strcat(list, names[found ? nearest[i] : i]);
        strcat(list, "\"");
    }
    if (!*words)
        return pie_message(-ENOKEY, ret_message, "what is asked for? Say %s, or an SQL statement", list);
    return pie_message(-ENOKEY, ret_message, "cannot answer \"%.200s\"; did you mean %s?", words, list);
}

static int choose_question(const struct pie_phrase *phrase, const struct pie_question **ret_question,
                           char **ret_message) {
    const struct pie_question *question = pie_question_find(phrase->question);
    if (!question)
        return unknown_phrase(phrase->question, ret_message);
    if (phrase->by_function) {
        if (!question->by_function)
            return pie_message(-EINVAL, ret_message, "\"%s\" cannot be told by function", question->name);
        question = pie_question_find(question->by_function);
    }
    if (phrase->file[0] && question->in_place)
        question = pie_question_find(question->in_place);
    *ret_question = question;
    return 0;
}

/* Finds out what "in X" means, and where it is the contexts that are narrowed leaves only those of X. */
static int narrow(struct pie_reader *reader, const struct pie_phrase *phrase, struct pie_query *query,
                  char **ret_message) {
    const struct pie_question *question = query->question;
    enum pie_place_kind wanted = phrase->line ? PIE_PLACE_FILE : phrase->kind;
    if (!phrase->file[0])
        return 0;
    if (question->cut == PIE_CUT_NOTHING && !question->files)
        return pie_message(-EINVAL, ret_message, "\"%s\" cannot be narrowed to a place (%s)", question->name,
                           phrase->file);
    if (phrase->line && !pie_question_has(question, PIE_PLACE_FILE, true))
        return pie_message(-EINVAL, ret_message, "\"%s\" cannot be narrowed to a line (%s:%lld)",
                           question->name, phrase->file, (long long)phrase->line);
    int r = pie_place_find(reader, query->run, phrase->file, wanted, &query->place, ret_message);
    if (r < 0)
        return r;
    const char *kind = pie_place_kind_name(query->place.kind);
    if (!pie_question_has(question, query->place.kind, phrase->line > 0))
        return pie_message(-EINVAL, ret_message, "\"%s\" cannot be narrowed to a %s (%s)", question->name,
                           kind, phrase->file);
    query->place_name = strdup(phrase->file);
    query->place_line = phrase->line;
    if (!query->place_name)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    return question->cut == PIE_CUT_NOTHING ? 0
                                            : pie_place_cut(reader, query->run, phrase->file,
                                                            query->place.kind, phrase->line, ret_message);
}

/* The call tree is not a view but a table in memory, made for those who ask for it. */
static int prepare_tables(struct pie_reader *reader, const char *sql, const struct pie_phrase *phrase,
                          int64_t run, char **ret_message) {
    enum pie_calltree_detail detail = phrase && phrase->all ? PIE_CALLTREE_FULL : PIE_CALLTREE_READABLE;
    return strcasestr(sql, PIE_CALLTREE_TABLE) ? pie_calltree_make_table(reader, run, detail, ret_message)
                                               : 0;
}

static int open_sql(struct pie_reader *reader, const char *sql, const struct pie_phrase *phrase,
                    struct pie_query *query, char **ret_message) {
    int r = prepare_tables(reader, sql, phrase, query->run, ret_message);
    if (r == 0)
        r = (phrase ? pie_cursor_open_once : pie_cursor_open)(reader, sql, &query->cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(query->cursor, ":run", query->run);
    if (phrase) {
        pie_cursor_bind_int(query->cursor, ":limit", phrase->limit);
        pie_cursor_bind_text(query->cursor, ":in", phrase->file);
        pie_cursor_bind_int(query->cursor, ":line", phrase->line);
    }
    return 0;
}

/* Leaves only what was measured in a period of time. */
static int narrow_time(struct pie_reader *reader, const struct pie_phrase *phrase, struct pie_query *query,
                       char **ret_message) {
    if (phrase->period.kind == PIE_PERIOD_RUN)
        return 0;
    if (!query->question->is_timed)
        return pie_message(-EINVAL, ret_message, "\"%s\" cannot be narrowed to a period of time",
                           query->question->name);
    return pie_period_cut(reader, query->run, &phrase->period, &query->period_from_ns, &query->period_to_ns,
                          ret_message);
}

static int open_phrase(struct pie_reader *reader, const char *text, int64_t run, struct pie_query *query,
                       char **ret_message) {
    struct pie_phrase phrase;
    int r = pie_phrase_parse(text, &phrase, ret_message);
    if (r == 0)
        r = choose_question(&phrase, &query->question, ret_message);
    if (r == 0 && phrase.process)
        r = pie_reader_cut(reader, phrase.run ? phrase.run : run, phrase.process, ret_message);
    if (r == 0)
        r = pie_reader_get_run(reader, phrase.run ? phrase.run : run, &query->run, ret_message);
    if (r == 0)
        r = narrow_time(reader, &phrase, query, ret_message);
    if (r == 0)
        r = narrow(reader, &phrase, query, ret_message);
    if (r < 0)
        return r;
    char *sql = pie_question_sql(query->question, &phrase, query->place.kind);
    if (!sql)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    query->limit = phrase.limit;
    if (query->question->is_ranked && phrase.limit == 0 && !phrase.all)
        query->rows_shown = query->question->has_long_rows ? PIE_QUESTION_LONG_ROWS : PIE_QUESTION_ROWS;
    r = open_sql(reader, sql, &phrase, query, ret_message);
    free(sql);
    return r;
}

/* SQLite knows no statement in parentheses: it is taken as a table. */
static int open_statement(struct pie_reader *reader, const char *text, struct pie_query *query,
                          char **ret_message) {
    char *sql;
    if (*text != '(')
        return open_sql(reader, text, NULL, query, ret_message);
    if (asprintf(&sql, "SELECT * FROM %s", text) < 0)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    int r = open_sql(reader, sql, NULL, query, ret_message);
    free(sql);
    return r;
}

int pie_query_open(struct pie_reader *reader, const char *text, int64_t run, struct pie_query *ret_query,
                   char **ret_message) {
    struct pie_query query = {0};
    int r;
    if (begins_with(text, other_verbs))
        return pie_message(-EACCES, ret_message,
                           "only reading is allowed: SQL begins with SELECT, WITH, VALUES or EXPLAIN");
    if (begins_with(text, reading_verbs)) {
        r = pie_reader_get_run(reader, run, &query.run, ret_message);
        if (r == 0)
            r = open_statement(reader, skip_blank(text), &query, ret_message);
    } else {
        r = open_phrase(reader, text, run, &query, ret_message);
    }
    if (r == 0)
        *ret_query = query;
    else
        pie_query_close(&query);
    return r;
}

char *pie_query_sql(const struct pie_query *query) {
    char *sql = pie_cursor_expanded_sql(query->cursor), *limited;
    if (!sql || query->rows_shown == 0)
        return sql;
    int size = asprintf(&limited, "%s LIMIT %zu", sql, query->rows_shown);
    free(sql);
    return size < 0 ? NULL : limited;
}

void pie_query_close(struct pie_query *query) {
    pie_cursor_close(query->cursor);
    free(query->place_name);
    *query = (struct pie_query){.run = query->run};
}
