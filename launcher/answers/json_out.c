/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "launcher/answers/held.h"
#include "launcher/answers/json_out.h"
#include "launcher/answers/output.h"
#include "storage/base/message.h"
#include "storage/ask/query.h"
#include "storage/read/json_value.h"
#include "storage/read/reader.h"

/* {"schema": 1, "run": …, "query": …, "sql": …, "rows": […], "rows_total": …}, or {"schema": 1, "query": …, "error":
 * …}: the interface that programs rely on. Keys and their meaning change only with the number. */
enum { JSON_SCHEMA = 1 };

/* Of several columns of one name the last counts. */
static bool is_hidden(struct pie_cursor *cursor, int column) {
    const char *name = pie_cursor_column_name(cursor, column);
    for (int i = column + 1; i < pie_cursor_column_count(cursor); i++) {
        if (strcmp(pie_cursor_column_name(cursor, i), name) == 0)
            return true;
    }
    return false;
}

static int print_json(FILE *out, json_t *value, size_t flags) {
    int r = value && json_dumpf(value, out, JSON_ENCODE_ANY | flags) == 0 ? 0 : -ENOMEM;
    json_decref(value);
    return r;
}

/* Value by value: none is held longer than it takes to print it. */
static int print_row(FILE *out, struct pie_cursor *cursor, const bool *hidden) {
    const char *joint = "{";
    int r = 0;
    for (int i = 0; r == 0 && i < pie_cursor_column_count(cursor); i++) {
        if (hidden[i])
            continue;
        fputs(joint, out);
        r = print_json(out, pie_json_text(pie_cursor_column_name(cursor, i)), 0);
        fputs(": ", out);
        if (r == 0)
            r = print_json(out, pie_json_value(cursor, i), PIE_JSON_NUMBERS);
        joint = ", ";
    }
    fputs("}", out);
    return r;
}

/* Counts the rows in *ret_total, of which it prints as many as are asked for. */
static int print_rows(struct pie_held *held, const struct pie_query *query, int64_t *ret_total,
                      char **ret_message) {
    int count = pie_cursor_column_count(query->cursor), r = 0, more;
    bool *hidden = calloc((size_t)count + 1, sizeof *hidden);
    for (int i = 0; hidden && i < count; i++)
        hidden[i] = is_hidden(query->cursor, i);
    while (hidden && r == 0 && (more = pie_cursor_next(query->cursor, ret_message)) != 0) {
        if (more < 0) {
            free(hidden);
            return more;
        }
        if (query->rows_shown == 0 || (size_t)*ret_total < query->rows_shown) {
            fputs(*ret_total == 0 ? "\n  " : ",\n  ", held->text);
            r = print_row(held->text, query->cursor, hidden);
            r = r < 0 ? r : pie_held_row(held);
        }
        ++*ret_total;
    }
    *ret_total += query->first.behind;
    r = hidden ? r : -ENOMEM;
    free(hidden);
    return r < 0 ? pie_message(r, ret_message, "out of memory") : 0;
}

/* What "in X" was found to be. */
static json_t *json_place(const struct pie_query *query) {
    if (!query->place_name)
        return NULL;
    json_t *line = query->place_line > 0 ? json_integer(query->place_line) : json_null();
    return json_pack("{s:s, s:o, s:o}", "kind", pie_place_kind_name(query->place.kind), "name",
                     pie_json_text(query->place_name), "line", line);
}

/* "2026-11-23T10:00:00.250Z" */
static json_t *json_time(int64_t time_ns) {
    time_t time = (time_t)(time_ns / 1000000000);
    struct tm date;
    char text[64];
    if (!gmtime_r(&time, &date))
        return json_null();
    size_t size = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &date);
    snprintf(text + size, sizeof text - size, ".%03dZ", (int)(time_ns / 1000000 % 1000));
    return json_string(text);
}

static json_t *json_period(const struct pie_query *query) {
    if (!query->period_to_ns)
        return NULL;
    return json_pack("{s:o, s:o}", "from", json_time(query->period_from_ns), "to",
                     json_time(query->period_to_ns));
}

/* Without its end: rows follow. */
static int print_open(FILE *out, json_t *head, char **ret_message) {
    char *text = head ? json_dumps(head, 0) : NULL;
    json_decref(head);
    if (!text)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    fprintf(out, "%.*s, \"rows\": [", (int)strlen(text) - 1, text);
    free(text);
    return 0;
}

static int print_head(FILE *out, const struct pie_answer *answer, char **ret_message) {
    char *sql = pie_query_sql(answer->query);
    if (!sql)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    json_t *question = pie_json_text(answer->words);
    json_t *head = json_pack("{s:i, s:I, s:o*, s:o*, s:o*, s:o*}", "schema", JSON_SCHEMA, "run",
                             (json_int_t)answer->query->run, "query", question, "sql", pie_json_text(sql),
                             "in", json_place(answer->query), "period", json_period(answer->query));
    free(sql);
    return print_open(out, head, ret_message);
}

void pie_json_print_error(FILE *out, const char *question, const char *message) {
    json_t *error = json_pack("{s:i, s:o*, s:o}", "schema", JSON_SCHEMA, "query",
                              question ? pie_json_text(question) : NULL, "error", pie_json_text(message));
    (void)print_json(out, error, 0);
    fputc('\n', out);
}

/* An answer that fails when its beginning has been printed ends as an object all the same. */
static void end_with_error(struct pie_held *held, const char *message) {
    json_t *error = pie_json_text(message ? message : "out of memory");
    fputs("\n], \"error\": ", held->text);
    (void)print_json(held->text, error, 0);
    fputs("}\n", held->text);
}

/* With "top 10" nobody has counted beyond the ten. */
static void print_total(FILE *out, const struct pie_query *query, int64_t total) {
    if (query->limit > 0 && total == query->limit)
        fputs("\n], \"rows_total\": null", out);
    else
        fprintf(out, "\n], \"rows_total\": %lld", (long long)total);
}

int pie_json_print_part(struct pie_held *held, const struct pie_answer *answer, char **ret_message) {
    char *sql = pie_query_sql(answer->query);
    int64_t total = 0;
    if (!sql)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    int r = print_open(
        held->text, json_pack("{s:o, s:o}", "query", pie_json_text(answer->words), "sql", pie_json_text(sql)),
        ret_message);
    free(sql);
    if (r == 0)
        r = print_rows(held, answer->query, &total, ret_message);
    if (r == 0)
        print_total(held->text, answer->query, total);
    fputs("}", held->text);
    return r;
}

void pie_json_print_object(FILE *out, const char *const (*texts)[2], const char *number_name,
                           int64_t number) {
    json_t *object = json_object();
    for (; object && (*texts)[0]; texts++)
        json_object_set_new(object, (*texts)[0], (*texts)[1] ? pie_json_text((*texts)[1]) : json_null());
    if (object)
        json_object_set_new(object, number_name, number ? json_integer(number) : json_null());
    (void)print_json(out, object, 0);
}

int pie_json_print_with(FILE *out, const struct pie_answer *answer,
                        int (*print_more)(struct pie_held *held, const struct pie_answer *answer,
                                          char **ret_message),
                        char **ret_message) {
    struct pie_held held;
    int64_t total = 0;
    if (pie_held_open(&held, out) < 0)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    int r = print_head(held.text, answer, ret_message);
    if (r == 0)
        r = print_rows(&held, answer->query, &total, ret_message);
    if (r == 0)
        print_total(held.text, answer->query, total);
    if (r == 0 && print_more)
        r = print_more(&held, answer, ret_message);
    if (r == 0)
        fputs("}\n", held.text);
    else if (held.is_through)
        end_with_error(&held, *ret_message);
    int closed = pie_held_close(&held, r == 0 || held.is_through);
    return r < 0 || closed != -ENOMEM ? r : pie_message(closed, ret_message, "out of memory");
}

int pie_json_print(FILE *out, const struct pie_answer *answer, char **ret_message) {
    return pie_json_print_with(out, answer, NULL, ret_message);
}
