/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "storage/ask/phrase.h"
#include "storage/ask/phrase_words.h"
#include "storage/ask/question_list.h"
#include "storage/ask/questions.h"

bool pie_question_is_in(const char *list, const char *words) {
    for (const char *item = list; item && *item;) {
        size_t size = strcspn(item, "|");
        if (strlen(words) == size && strncmp(item, words, size) == 0)
            return true;
        item += size + (item[size] == '|');
    }
    return false;
}

static bool is_named(const struct pie_question *question, const char *words) {
    return strcmp(question->name, words) == 0 || pie_question_is_in(question->aliases, words);
}

const struct pie_question *pie_question_find(const char *words) {
    size_t count;
    const struct pie_question *questions = pie_question_all(&count);
    for (size_t i = 0; i < count; i++) {
        if (is_named(&questions[i], words))
            return &questions[i];
    }
    return NULL;
}

/* in_place('file', :in, file) AND line = :line OR …, of columns as "file:line user_file:user_line". */
static void write_columns(FILE *out, const char *kind, const char *columns, bool has_line) {
    fputs("(", out);
    for (const char *column = columns; *column;) {
        int size = (int)strcspn(column, " "), name = (int)strcspn(column, " :");
        fprintf(out, "%sin_place('%s', :in, %.*s)", column == columns ? "" : " OR ", kind, name, column);
        if (has_line)
            fprintf(out, " AND %.*s = :line", size - name - 1, column + name + 1);
        column += size;
        column += strspn(column, " ");
    }
    fputs(")", out);
}

static const char *columns_of(const struct pie_question *question, enum pie_place_kind kind) {
    return kind == PIE_PLACE_FUNCTION  ? question->functions
           : kind == PIE_PLACE_LIBRARY ? question->libraries
                                       : question->files;
}

bool pie_question_chooses_rows(const struct pie_question *question, enum pie_place_kind kind) {
    return question->cut == PIE_CUT_NOTHING ||
           (question->cut == PIE_CUT_ONLY_THREADS && kind != PIE_PLACE_THREAD);
}

bool pie_question_has(const struct pie_question *question, enum pie_place_kind kind, bool has_line) {
    if (kind == PIE_PLACE_THREAD)
        return question->cut == PIE_CUT_THREADS || question->cut == PIE_CUT_ONLY_THREADS;
    if (!pie_question_chooses_rows(question, kind))
        return true;
    const char *columns = columns_of(question, kind);
    return columns && (!has_line || strchr(columns, ':'));
}

static void write_conditions(FILE *out, const struct pie_question *question, const struct pie_phrase *phrase,
                             enum pie_place_kind kind, bool is_by_nth) {
    const char *joint = " WHERE ";
    if (!question->for_all_runs) {
        fprintf(out, "%s%s", joint, question->run ? question->run : "run = :run");
        joint = " AND ";
    }
    if (question->where) {
        fprintf(out, "%s%s", joint, question->where);
        joint = " AND ";
    }
    if (question->is_cut_by_nth && !phrase->all)
        fprintf(out, "%snth <= %lld", joint,
                phrase->limit > 0 ? (long long)phrase->limit : (long long)PIE_QUESTION_ROWS);
    if (is_by_nth) {
        fprintf(out, "%snth <= :nth", joint);
        joint = " AND ";
    }
    if (phrase->file[0] && pie_question_chooses_rows(question, kind)) {
        fputs(joint, out);
        write_columns(out, pie_place_kind_name(kind), columns_of(question, kind), phrase->line > 0);
    }
}

/* Behind "row_number() OVER (ORDER BY …) AS rank, ". */
static const char *after_rank(const char *columns) {
    static const char begin[] = "row_number() OVER (", end[] = ") AS rank, ";
    const char *at = strncmp(columns, begin, sizeof begin - 1) == 0 ? strstr(columns, end) : NULL;
    return at ? at + sizeof end - 1 : columns;
}

/* Rows are numbered in the order in which they are asked for. */
static void write_select(FILE *out, const struct pie_question *question, const char *order) {
    const char *columns = question->columns, *rest = order ? after_rank(columns) : columns;
    fputs("SELECT ", out);
    if (rest != columns)
        fprintf(out, "row_number() OVER (ORDER BY %s DESC, %s) AS rank, ", order, question->order);
    fprintf(out, "%s FROM ", rest);
    if (question->list)
        pie_question_write_list(out, question->list);
    else
        fputs(question->from, out);
}

char *pie_question_sql(const struct pie_question *question, const struct pie_phrase *phrase,
                       enum pie_place_kind kind, const char *order, bool is_by_nth) {
    char *sql = NULL;
    size_t size;
    FILE *out = open_memstream(&sql, &size);
    if (!out)
        return NULL;
    write_select(out, question, order);
    write_conditions(out, question, phrase, kind, is_by_nth);
    fprintf(out, " ORDER BY %s%s%s", order ? order : "", order ? " DESC, " : "", question->order);
    fputs(phrase->limit > 0 && !question->is_cut_by_nth ? " LIMIT :limit" : "", out);
    if (fclose(out) == 0)
        return sql;
    free(sql);
    return NULL;
}

/* What people say for a column, and the columns that it may be; NULL: the question's own order. */
static const struct {
    const char *words;
    const char *columns[4];
} orders[] = {
    {"total|cumulative|inclusive", {"total_s"}},
    {"self|own", {"self_s"}},
    {"time|cpu|share|cost|seconds", {"cpu_s", "total_s", "wasted_s"}},
    {"wall", {"wall_s"}},
    {"wait|waiting|waits", {"wait_s"}},
    {"worked|pool|pools", {"worked_s"}},
    {"runnable", {"runnable_s"}},
    {"throttled", {"throttled_s"}},
    {"python", {"python_s"}},
    {"native", {"native_s"}},
    {"system|kernel", {"system_s"}},
    {"samples|count", {"samples"}},
    {"memory|bytes|size|allocated|allocations|volume", {"allocated_bytes", "bytes", "peak_bytes"}},
    {"peak", {"peak_bytes"}},
    {"growth", {"growth_bytes"}},
    {"rate", {"rate_bytes_per_s", "bytes_per_s"}},
    {"waste|wasted", {"wasted_s"}},
    {"drops", {"drops"}},
};

static bool has_column(const struct pie_question *question, const char *name) {
    size_t size = strlen(name);
    for (const char *at = after_rank(question->columns); at; at = strchr(at, ',')) {
        at += strspn(at, ", ");
        if (strncmp(at, name, size) == 0 && (at[size] == ',' || at[size] == 0))
            return true;
    }
    return false;
}

const char *pie_question_order(const struct pie_question *question, const char *word) {
    const struct pie_words words = {.at = {word}, .count = 1};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        if (!pie_words_is(&words, 0, orders[i].words))
            continue;
        for (size_t j = 0; j < 4 && orders[i].columns[j]; j++)
            if (has_column(question, orders[i].columns[j]))
                return orders[i].columns[j];
    }
    return has_column(question, word) ? word : NULL;
}
