/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct pie_confirm_board;
struct pie_reader;
struct pie_confirm_plan;

/* Are the lines that are to be counted still those that were profiled? Lines of text that the profile has are compared
 * with the files. Returns 0, or an exit status after an error message. Context: cli. */
int pie_confirm_source_check(struct pie_reader *reader, const struct pie_confirm_plan *plan);

/* Is this line the first of the board's that lies in its file? Context: cli. */
bool pie_confirm_source_is_new(const struct pie_confirm_board *board, uint32_t line);
