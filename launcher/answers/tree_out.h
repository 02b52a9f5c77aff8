/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "launcher/text/style.h"

struct pie_answer;
struct pie_cursor;

/* The question "tree" for people: a line for each function, with its share of the run and of the function above, the
 * line in it that took most, and its source. Context: cli. */

/* Is the answer one that is printed so? */
bool pie_tree_is(const struct pie_answer *answer);

/* As an output prints an answer (output.h). */
int pie_tree_print(FILE *out, const struct pie_answer *answer, char **ret_message);

/* The rows of the cursor below a heading, nothing where there are none; columns: of the terminal, 0: no limit. Returns
 * their number, or -errno, with a message where the cursor had one. */
int pie_tree_print_rows(FILE *out, struct pie_cursor *cursor, size_t columns, const struct pie_style *style,
                        char **ret_message);
