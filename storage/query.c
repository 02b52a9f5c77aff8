/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/query.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "storage/calltree.h"
#include "storage/message.h"
#include "storage/nearest.h"
#include "storage/phrase.h"
#include "storage/reader.h"
#include "storage/subjects.h"

enum { NEAREST_MAX = 3, SUBJECTS_MAX = 64 };

static const char *const reading_verbs[] = {"select", "with", "values", "explain", NULL};
static const char *const other_verbs[] = {"insert", "update",  "delete",  "replace", "create",
                                          "drop",   "alter",   "attach",  "detach",  "pragma",
                                          "vacuum", "reindex", "analyze", NULL};

static bool begins_with(const char *text, const char *const *verbs) {
    text += strspn(text, " \t\r\n(");
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
    const struct pie_subject *subjects = pie_subject_all(&count);
    const char *names[SUBJECTS_MAX];
    for (size_t i = 0; i < count && i < SUBJECTS_MAX; i++)
        names[i] = subjects[i].name;
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

static int choose_subject(const struct pie_phrase *phrase, const struct pie_subject **ret_subject,
                          char **ret_message) {
    const struct pie_subject *subject = pie_subject_find(phrase->subject);
    if (!subject)
        return unknown_phrase(phrase->subject, ret_message);
    if (phrase->by_function) {
        if (!subject->by_function)
            return pie_message(-EINVAL, ret_message, "\"%s\" cannot be told by function", subject->name);
        subject = pie_subject_find(subject->by_function);
    }
    if (phrase->file[0] && subject->in_place)
        subject = pie_subject_find(subject->in_place);
    if (phrase->file[0] && !subject->in_file)
        return pie_message(-EINVAL, ret_message, "\"%s\" cannot be narrowed to a file (%s)", subject->name,
                           phrase->file);
    if (phrase->line && !subject->in_line)
        return pie_message(-EINVAL, ret_message, "\"%s\" cannot be narrowed to a line (%s:%lld)",
                           subject->name, phrase->file, (long long)phrase->line);
    *ret_subject = subject;
    return 0;
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
        r = pie_cursor_open(reader, sql, &query->cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(query->cursor, ":run", query->run);
    if (phrase) {
        pie_cursor_bind_int(query->cursor, ":limit", phrase->limit);
        pie_cursor_bind_text(query->cursor, ":file", phrase->file);
        pie_cursor_bind_int(query->cursor, ":line", phrase->line);
    }
    query->sql = pie_cursor_expanded_sql(query->cursor);
    if (query->sql)
        return 0;
    pie_query_close(query);
    return pie_message(-ENOMEM, ret_message, "out of memory");
}

static int open_phrase(struct pie_reader *reader, const char *text, int64_t run, struct pie_query *query,
                       char **ret_message) {
    struct pie_phrase phrase;
    int r = pie_phrase_parse(text, &phrase, ret_message);
    if (r == 0)
        r = choose_subject(&phrase, &query->subject, ret_message);
    if (r == 0 && phrase.process)
        r = pie_reader_cut(reader, phrase.run ? phrase.run : run, phrase.process, ret_message);
    if (r == 0)
        r = pie_reader_get_run(reader, phrase.run ? phrase.run : run, &query->run, ret_message);
    if (r < 0)
        return r;
    char *sql = pie_subject_sql(query->subject, &phrase);
    if (!sql)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    query->is_limited = phrase.limit > 0 || phrase.all;
    r = open_sql(reader, sql, &phrase, query, ret_message);
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
        query.is_limited = true;
        r = pie_reader_get_run(reader, run, &query.run, ret_message);
        if (r == 0)
            r = open_sql(reader, text, NULL, &query, ret_message);
    } else {
        r = open_phrase(reader, text, run, &query, ret_message);
    }
    if (r == 0)
        *ret_query = query;
    return r;
}

void pie_query_close(struct pie_query *query) {
    pie_cursor_close(query->cursor);
    free(query->sql);
    query->cursor = NULL;
    query->sql = NULL;
}
