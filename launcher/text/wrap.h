/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* Prints text broken at blanks, its lines below each other from column `indent` on; ends with a newline. Column `at`
 * has been reached already: if that is beyond the indent, the text goes on there behind a blank. Words longer than a
 * line stay whole. What comes from a file must have gone through pie_text_printable(). columns: of the terminal; 0 or
 * PIE_WRAP_UNCUT: that of a file. Context: cli, launcher (at exit). */
void pie_wrap_print(FILE *out, const char *text, size_t at, size_t indent, size_t columns);

/* Where there is no terminal: the columns that wrapped text takes, and those to which lines are cut, so that none
 * is. */
enum { PIE_WRAP_COLUMNS_OF_A_FILE = 100, PIE_WRAP_UNCUT = 1 << 20 };
