/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Bytes of the valid UTF-8 sequence at `text` (1 to 4), 0 if there is none: overlong forms, surrogates and
 * truncated sequences are invalid. Context: any. */
size_t pie_utf8_sequence(const unsigned char *text, size_t size);

/* Copies text and replaces each invalid byte by U+FFFD. `out` has room for 3 * size bytes. Returns the bytes
 * written. Context: any. */
size_t pie_utf8_clean(char *out, const char *text, size_t size);
