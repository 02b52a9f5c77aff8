/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/ask/question_list.h"

#include <string.h>

#include "storage/export/calltree.h"
#include "storage/file/schema_statements.h"

/* A text of SQL, with commas for the bars of a list. */
static void write_text(FILE *out, const char *text, size_t size) {
    fputc('\'', out);
    for (size_t i = 0; i < size; i++)
        fputs(text[i] == '\'' ? "''" : text[i] == '|' ? ", " : (const char[]){text[i], 0}, out);
    fputc('\'', out);
}

/* The documented view that a question is answered from: of one that begins with v_, or that v_… is made of. */
static void write_view(FILE *out, const struct pie_question *question) {
    const char *from = question->from ? question->from : "";
    size_t size = strcspn(from, " ");
    if (strncmp(from, "v_", 2) == 0 || strcmp(from, PIE_CALLTREE_TABLE) == 0)
        write_text(out, from, size);
    else if (strncmp(from, PIE_CALLTREE_OWN_TABLE, strlen(PIE_CALLTREE_OWN_TABLE)) == 0)
        write_text(out, PIE_CALLTREE_OWN_TABLE, strlen(PIE_CALLTREE_OWN_TABLE));
    else if (size > strlen("x__share") && strncmp(from, "x_", 2) == 0) /* x_line_share: v_line */
        fprintf(out, "'v_%.*s'", (int)(size - strlen("x__share")), from + 2);
    else
        fputs("NULL", out);
}

static void write_questions(FILE *out) {
    size_t count;
    const struct pie_question *questions = pie_question_all(&count);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "%s(%zu, ", i ? ", " : "", i + 1);
        write_text(out, questions[i].name, strlen(questions[i].name));
        fputs(", ", out);
        write_view(out, &questions[i]);
        fputs(", ", out);
        write_text(out, questions[i].aliases ? questions[i].aliases : "",
                   questions[i].aliases ? strlen(questions[i].aliases) : 0);
        fputs(")", out);
    }
}

/* The views for users, and the tables of the file. */
static void write_tables(FILE *out) {
    size_t count, written = 0;
    const struct pie_schema_statement *list = pie_schema_views(&count);
    for (size_t i = 0; i < count; i++)
        if (strncmp(list[i].name, "v_", 2) == 0)
            fprintf(out, "%s(%zu, 'view', '%.*s')", written ? ", " : "", written + 1, (int)list[i].name_size,
                    list[i].name),
                written++;
    list = pie_schema_tables(&count);
    for (size_t i = 0; i < count; i++)
        if (list[i].is_table)
            fprintf(out, ", (%zu, 'table', '%.*s')", ++written, (int)list[i].name_size, list[i].name);
}

void pie_question_write_list(FILE *out, enum pie_question_list list) {
    if (list == PIE_QUESTION_LIST_QUESTIONS) {
        fputs("(SELECT column1 AS nth, column2 AS question, column3 AS view, nullif(column4, '') AS also "
              "FROM (VALUES ",
              out);
        write_questions(out);
        fputs("))", out);
        return;
    }
    fputs("(SELECT column1 AS nth, column2 AS type, column3 AS name, (SELECT group_concat(p.name, ', ')"
          " FROM pragma_table_info(column3) p) AS columns FROM (VALUES ",
          out);
    write_tables(out);
    fputs("))", out);
}
