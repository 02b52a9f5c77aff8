/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct pie_answer;
struct pie_cursor;

/* Answers that have a form of their own for people instead of one column for each figure: findings of redundant loads
 * and stores as a table of what matters, the first of them with evidence and advice, and pairs with both call
 * paths. Context: cli. */

/* Is the answer of this kind? */
bool pie_findings_are(const struct pie_answer *answer);
/* As pie_table_print(). */
int pie_findings_print(FILE *out, const struct pie_answer *answer, char **ret_message);
