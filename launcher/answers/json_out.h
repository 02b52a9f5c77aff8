/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <stdio.h>

struct pie_answer;
struct pie_held;

/* JSON answers of more than one question. Context: cli. */

/* An answer's object, to which print_more() adds keys behind its rows (each behind a comma). Returns as
 * pie_json_print() (output.h). */
int pie_json_print_with(FILE *out, const struct pie_answer *answer,
                        int (*print_more)(struct pie_held *held, const struct pie_answer *answer,
                                          char **ret_message),
                        char **ret_message);

/* {"query", "sql", "rows", "rows_total"} of one question. Returns 0, or -errno and a message. */
int pie_json_print_part(struct pie_held *held, const struct pie_answer *answer, char **ret_message);

/* {"name": "text", …, number_name: number}; texts end with a NULL name, a NULL text and the number 0 are null. */
void pie_json_print_object(FILE *out, const char *const (*texts)[2], const char *number_name, int64_t number);
