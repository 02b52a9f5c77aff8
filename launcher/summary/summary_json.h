/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdio.h>

struct pie_answer;

/* The question "summary" for programs: the answer's object, with "hints": [{"kind", "text", "file", "line"}, …] and
 * "sections": {"hot lines": {"query", "sql", "rows", "rows_total"}, …}, each a question of its own. Returns 0, or
 * -errno and a message. Context: cli. */
int pie_summary_json_print(FILE *out, const struct pie_answer *answer, char **ret_message);
