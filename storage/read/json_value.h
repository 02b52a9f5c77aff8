/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <jansson.h>

struct pie_cursor;

/* Values of a profile as JSON. What is no UTF-8 becomes U+FFFD. Context: cli. */

/* 12 digits hold a nanosecond in a quarter of an hour; more would show how binary fractions are stored. */
#define PIE_JSON_NUMBERS JSON_REAL_PRECISION(12)

/* A text, or NULL without memory. */
json_t *pie_json_text(const char *text);
/* Column of the current row. Call paths are kept as JSON, so a column …_path is an array of frames. A number beyond all
 * bounds is null: JSON has no infinity. Bytes are hexadecimal. NULL without memory. */
json_t *pie_json_value(struct pie_cursor *cursor, int column);
