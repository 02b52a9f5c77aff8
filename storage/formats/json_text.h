/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdio.h>

/* Exports are written piece by piece, so that a large one needs no memory for all of it; jansson writes the texts.
 * Context: cli. */

/* A JSON string: invalid UTF-8 becomes U+FFFD. NULL is null. */
void pie_json_write_text(FILE *out, const char *text);
