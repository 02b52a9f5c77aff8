/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct pie_cursor;

/* JSON that may stand in HTML: "<", U+2028 and U+2029 are written as \u003c, \u2028 and \u2029, so no text can end the
 * element that it stands in. Context: cli. */

/* Texts are cut to this, at a character; "…" follows. */
enum { PIE_PAGE_TEXT_MAX = 1000 };

/* Writes a value. Returns 0, or -EIO: the stream has an error, or there is no memory. */
int pie_page_dump(FILE *out, const json_t *value);
/* Bytes that pie_page_dump() writes; SIZE_MAX without memory. */
size_t pie_page_size(const json_t *value);

/* NULL: json_null(). NULL without memory. */
json_t *pie_page_text(const char *text);
/* As pie_json_value(), cut, and whole numbers without ".0". */
json_t *pie_page_value(struct pie_cursor *cursor, int column);
/* A number as short as it may be. */
json_t *pie_page_number(double value);

/* An object with an empty array for each name; the last name is NULL. NULL without memory. */
json_t *pie_page_columns(const char *const *names);
/* Adds a value, which is taken over, to a column. False without memory. */
bool pie_page_append(json_t *columns, const char *name, json_t *value);
