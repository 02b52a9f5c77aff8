/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <stdio.h>

/* Writes values as Python's marshal module reads them, in any of its versions. The interpreter's own writer would need
 * a running interpreter, and a subcommand has none. Context: cli. */

/* Follows with `count` values. */
void pie_marshal_begin_tuple(FILE *out, uint32_t count);
/* Follows with keys and values, each after the other, then the end. */
void pie_marshal_begin_dict(FILE *out);
void pie_marshal_end_dict(FILE *out);
void pie_marshal_write_int(FILE *out, int64_t value);
void pie_marshal_write_float(FILE *out, double value);
/* Invalid UTF-8 becomes U+FFFD. */
void pie_marshal_write_text(FILE *out, const char *text);
