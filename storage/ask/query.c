/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/ask/query.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/ask/phrase.h"
#include "storage/ask/phrase_words.h"
#include "storage/ask/questions.h"
#include "storage/ask/refusals.h"
#include "storage/ask/topics.h"
#include "storage/base/message.h"
#include "storage/base/nearest.h"
#include "storage/export/calltree.h"
#include "storage/read/reader.h"

enum { NEAREST_MAX = 3, SAID_MAX = 800, SAID_NEAREST = 32 };

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

/* The names of the questions and all that people say for them, each with the question's number. */
struct said {
    char *text; /* of all, each with its 0 */
    const char *words[SAID_MAX];
    size_t question_of[SAID_MAX];
    size_t count;
};

static char *say(struct said *said, char *end, const char *words, size_t size, size_t question) {
    if (said->count == SAID_MAX)
        return end;
    memcpy(end, words, size);
    end[size] = 0;
    said->words[said->count] = end;
    said->question_of[said->count++] = question;
    return end + size + 1;
}

static int collect_said(struct said *said) {
    size_t count, bytes = 0;
    const struct pie_question *questions = pie_question_all(&count);
    *said = (struct said){.count = 0};
    for (size_t i = 0; i < count; i++)
        bytes += strlen(questions[i].name) + 2 + (questions[i].aliases ? strlen(questions[i].aliases) : 0);
    char *end = said->text = malloc(bytes);
    for (size_t i = 0; end && i < count; i++) {
        end = say(said, end, questions[i].name, strlen(questions[i].name), i);
        for (const char *alias = questions[i].aliases; alias && *alias;) {
            size_t size = strcspn(alias, "|");
            end = say(said, end, alias, size, i);
            alias += size + (alias[size] == '|');
        }
    }
    return end ? 0 : -ENOMEM;
}

static size_t add_once(size_t *questions, size_t count, size_t question) {
    for (size_t i = 0; i < count; i++)
        if (questions[i] == question)
            return count;
    questions[count] = question;
    return count + 1;
}

/* The three questions that are nearest by any of their names; those that people begin with where none is near. */
static size_t nearest_questions(const char *words, size_t *ret_questions) {
    static const char *const usual[NEAREST_MAX] = {"summary", "hot lines", "help"};
    size_t count, near[SAID_NEAREST], found = 0;
    const struct pie_question *questions = pie_question_all(&count);
    struct said said;
    if (collect_said(&said) == 0 && *words) {
        size_t chosen = pie_nearest_choose(words, said.words, said.count, near, SAID_NEAREST);
        for (size_t i = 0; i < chosen && found < NEAREST_MAX; i++)
            found = add_once(ret_questions, found, said.question_of[near[i]]);
    }
    free(said.text);
    for (size_t i = 0; i < NEAREST_MAX && found < NEAREST_MAX; i++)
        found = add_once(ret_questions, found, (size_t)(pie_question_find(usual[i]) - questions));
    return found;
}

/* What to ask instead: by its subject where that is known, else by how the words are spelled. */
static size_t phrases_instead(const char *words, const char **ret_phrases) {
    size_t count, nearest[NEAREST_MAX], found = NEAREST_MAX;
    const struct pie_question *questions = pie_question_all(&count);
    const char *const *topic = pie_topic_find(words);
    if (!topic)
        found = nearest_questions(words, nearest);
    for (size_t i = 0; i < found; i++)
        ret_phrases[i] = topic ? topic[i] : questions[nearest[i]].name;
    return found;
}

/* `"hot lines" or "threads"` */
static int unknown_phrase(const char *words, char **ret_message) {
    const char *phrases[NEAREST_MAX];
    size_t found = phrases_instead(words, phrases);
    char list[512] = "";
    for (size_t i = 0; i < found; i++) {
        strcat(list, i == 0 ? "\"" : i + 1 == found ? " or \"" : ", \"");
        strcat(list, phrases[i]);
        strcat(list, "\"");
    }
    if (!*words)
        return pie_message(-ENOKEY, ret_message, "what is asked for? Say %s, or an SQL statement", list);
    return pie_message(-ENOKEY, ret_message, "cannot answer \"%.200s\"; did you mean %s?", words, list);
}

/* A place, a period or a number alone is about lines. */
static const char *words_of(const struct pie_phrase *phrase) {
    bool is_more = phrase->file[0] || phrase->limit || phrase->period.kind != PIE_PERIOD_RUN || phrase->all;
    return phrase->question[0] || !is_more ? phrase->question : "hot lines";
}

/* Of the text as it is written, too: "number of calls" has no place. */
static const char *refusal_of(const char *words, const char *text) {
    struct pie_words all = {.count = 0};
    char copy[2 * PIE_PHRASE_MAX_BYTES], line[2 * PIE_PHRASE_MAX_BYTES] = "", *end = line;
    const char *refusal = pie_refusal_find(words);
    if (!refusal)
        all.count = pie_phrase_words(text, copy, all.at, all.is_quoted, PIE_PHRASE_MAX_WORDS);
    for (int i = 0; i < all.count; i++)
        end += sprintf(end, "%s%s", i ? " " : "", all.at[i]);
    for (char *at = line; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    return refusal || !*line ? refusal : pie_refusal_find(line);
}

static int find_question(const struct pie_phrase *phrase, const char *text,
                         const struct pie_question **ret_question, char **ret_message) {
    char *shortened = malloc(PIE_PHRASE_MAX_BYTES);
    const char *words = words_of(phrase), *refusal = refusal_of(words, text);
    *ret_question = refusal ? NULL : pie_question_find(words);
    if (!shortened)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    if (!refusal && !*ret_question) {
        pie_phrase_shorten(words, shortened);
        refusal = pie_refusal_find(shortened);
        *ret_question = refusal ? NULL : pie_question_find(shortened);
    }
    free(shortened);
    if (refusal)
        return pie_message(-ENOTSUP, ret_message, "%s", refusal);
    return *ret_question ? 0 : unknown_phrase(words, ret_message);
}

/* "lines by memory": the word is no column of the lines, but a question of its own, or one that is refused. */
static int not_an_order(const struct pie_question *question, const char *word, char **ret_message) {
    char most[sizeof((struct pie_phrase *)NULL)->order + sizeof "most "];
    snprintf(most, sizeof most, "most %s", word);
    const char *refusal = pie_refusal_find(most);
    const struct pie_question *other = pie_question_find(word);
    if (refusal)
        return pie_message(-ENOTSUP, ret_message, "%s", refusal);
    if (other && other != question)
        return pie_message(-EINVAL, ret_message, "\"%s\" cannot be ordered or told by %s; ask \"%s\"",
                           question->name, word, other->name);
    return pie_message(-EINVAL, ret_message, "\"%s\" cannot be ordered or told by %s", question->name, word);
}

/* The column that comes first in the order, NULL: none but the question's own. */
static int order_question(const struct pie_phrase *phrase, struct pie_query *query, const char **ret_order,
                          char **ret_message) {
    const struct pie_question *question = query->question;
    if (question->by_total && pie_question_is_in("total|cumulative|inclusive", phrase->order)) {
        query->question = pie_question_find(question->by_total);
        return 0;
    }
    if (question->by_cause && pie_question_is_in("cause|causes|reason|reasons", phrase->order)) {
        query->question = pie_question_find(question->by_cause);
        return 0;
    }
    const char *order = pie_question_order(question, phrase->order);
    if (!order)
        return not_an_order(question, phrase->order, ret_message);
    size_t size = strlen(order);
    bool is_so_already = strncmp(question->order, order, size) == 0 && question->order[size] == ' ';
    *ret_order = is_so_already ? NULL : order;
    return 0;
}

static int choose_question(const struct pie_phrase *phrase, const char *text, struct pie_query *query,
                           const char **ret_order, char **ret_message) {
    const struct pie_question *question;
    int r = find_question(phrase, text, &question, ret_message);
    if (r < 0)
        return r;
    if (phrase->by_function) {
        if (!question->by_function)
            return pie_message(-EINVAL, ret_message, "\"%s\" cannot be told by function", question->name);
        question = pie_question_find(question->by_function);
    }
    bool is_part = phrase->file[0] || (question->is_summary && phrase->period.kind != PIE_PERIOD_RUN);
    if (question->in_place && is_part)
        question = pie_question_find(question->in_place);
    query->question = question;
    if (question->needs && !phrase->file[0])
        return pie_message(-EINVAL, ret_message, "%s", question->needs);
    return phrase->order[0] ? order_question(phrase, query, ret_order, ret_message) : 0;
}

/* Finds out what "in X" means, and where it is the contexts that are narrowed leaves only those of X. */
static int narrow(struct pie_reader *reader, const struct pie_phrase *phrase, struct pie_query *query,
                  char **ret_message) {
    const struct pie_question *question = query->question;
    enum pie_place_kind wanted = phrase->line ? PIE_PLACE_FILE : phrase->kind;
    if (!phrase->file[0])
        return 0;
    if (!question->files && question->cut == PIE_CUT_NOTHING)
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
    return pie_question_chooses_rows(question, query->place.kind)
               ? 0
               : pie_place_cut(reader, query->run, phrase->file, query->place.kind, phrase->line,
                               ret_message);
}

/* Call trees are not views but tables in memory, made for those who ask for them. */
static int prepare_tables(struct pie_reader *reader, const char *sql, const struct pie_phrase *phrase,
                          int64_t run, char **ret_message) {
    enum pie_calltree_detail detail = phrase && phrase->all ? PIE_CALLTREE_FULL : PIE_CALLTREE_READABLE;
    bool is_asked = strcasestr(sql, PIE_CALLTREE_TABLE) || strcasestr(sql, PIE_CALLTREE_OWN_TABLE);
    return is_asked ? pie_calltree_make_tables(reader, run, detail, ret_message) : 0;
}

static int open_sql(struct pie_reader *reader, const char *sql, const struct pie_phrase *phrase,
                    struct pie_query *query, char **ret_message) {
    int r = prepare_tables(reader, sql, phrase, query->run, ret_message);
    if (r == 0)
        r = (phrase && !query->question->list ? pie_cursor_open_once
                                              : pie_cursor_open)(reader, sql, &query->cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(query->cursor, ":run", query->run);
    if (phrase) {
        pie_cursor_bind_int(query->cursor, ":limit", phrase->limit);
        pie_cursor_bind_int(query->cursor, ":nth", query->first.nth);
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

/* Whether rows are chosen by their number before they are measured. */
static bool is_by_nth(const struct pie_phrase *phrase, const struct pie_query *query, const char *order) {
    bool chooses_rows = phrase->file[0] && pie_question_chooses_rows(query->question, query->place.kind);
    return query->question->sums && !order && !phrase->all && !chooses_rows;
}

static int ask(struct pie_reader *reader, const struct pie_phrase *phrase, const char *order,
               struct pie_query *query, char **ret_message) {
    bool by_nth = is_by_nth(phrase, query, order);
    int r = 0;
    query->limit = phrase->limit;
    if (query->question->is_ranked && phrase->limit == 0 && !phrase->all)
        query->rows_shown = query->question->has_long_rows ? PIE_QUESTION_LONG_ROWS : PIE_QUESTION_ROWS;
    query->first.nth = phrase->limit;
    if (by_nth && query->rows_shown > 0)
        r = pie_first_rows_open(reader, query->question, query->run, (int64_t)query->rows_shown,
                                &query->first, ret_message);
    if (r < 0)
        return r;
    char *sql = pie_question_sql(query->question, phrase, query->place.kind, order, by_nth);
    if (!sql)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    r = open_sql(reader, sql, phrase, query, ret_message);
    free(sql);
    return r;
}

static int open_phrase(struct pie_reader *reader, const char *text, int64_t run, struct pie_query *query,
                       char **ret_message) {
    struct pie_phrase phrase;
    const char *order = NULL;
    int r = pie_phrase_parse(text, &phrase, ret_message);
    if (r == 0)
        r = choose_question(&phrase, text, query, &order, ret_message);
    if (r == 0 && phrase.process)
        r = pie_reader_cut(reader, phrase.run ? phrase.run : run, phrase.process, ret_message);
    if (r == 0)
        r = pie_reader_get_run(reader, phrase.run ? phrase.run : run, &query->run, ret_message);
    if (r == 0)
        r = narrow_time(reader, &phrase, query, ret_message);
    if (r == 0)
        r = narrow(reader, &phrase, query, ret_message);
    return r < 0 ? r : ask(reader, &phrase, order, query, ret_message);
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
    pie_first_rows_close(&query->first);
    free(query->place_name);
    *query = (struct pie_query){.run = query->run};
}
