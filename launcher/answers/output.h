/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct pie_query;
struct pie_reader;

/* An answer, and the forms it can be printed in: each is one file and one line of the table in output.c.
 * Context: cli. */
struct pie_answer {
    struct pie_query *query;
    struct pie_reader *reader; /* of the same file, for the source text */
    const char *words;         /* of the question, as the user put them */
};

struct pie_output {
    const char *name; /* of the option, without dashes */
    bool is_for_people;
    /* Reads the rows and prints them to `out`. An answer that fails in its first megabytes prints nothing
     * (launcher/answers/held.h). Returns 0, or -errno and one line for people (heap); an error of `out` itself is
     * left to the caller. */
    int (*print)(FILE *out, const struct pie_answer *answer, char **ret_message);
};

/* The line above an answer that was narrowed: "2026-11-23 10:00:00 to 10:05:04, in file app.py", and what else X could
 * have been; nothing for others. */
void pie_output_print_place(FILE *out, const struct pie_query *query);

/* "nothing found", the place, and a hint how to get a result. */
void pie_output_print_nothing(FILE *out, const struct pie_query *query);

/* "20 of 727: say …" */
void pie_output_print_more(FILE *out, const struct pie_answer *answer, size_t printed, size_t more);

/* The output of this name, or NULL. */
const struct pie_output *pie_output_find(const char *name);

/* One object that describes the error; question: NULL if none was understood. */
void pie_json_print_error(FILE *out, const char *question, const char *message);

int pie_table_print(FILE *out, const struct pie_answer *answer, char **ret_message);
int pie_json_print(FILE *out, const struct pie_answer *answer, char **ret_message);
int pie_csv_print(FILE *out, const struct pie_answer *answer, char **ret_message);
