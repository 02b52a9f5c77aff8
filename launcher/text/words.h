/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Words in a string, as a shell would split them: blanks separate; '…' is literal, "…" knows \" and \\, a backslash
 * takes the next character as it is. Nothing is expanded. */

/* Returns a NULL-terminated vector that lives in one heap block with its words (free() it once), or NULL: no memory,
 * or with errno EINVAL an open quote. Context: launcher. */
char **pie_words_split(const char *string);

/* Appends word to *string (heap, or NULL for empty) with quotes where needed, after a blank. Returns 0 or -ENOMEM,
 * which leaves *string as it was. Context: launcher. */
int pie_words_append(char **string, const char *word);
