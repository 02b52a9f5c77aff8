/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The words of a question, on the way through the grammar (phrase.c, phrase_period.c). Context: cli. */

enum { PIE_PHRASE_MAX_WORDS = 64 };

struct pie_words {
    const char *at[PIE_PHRASE_MAX_WORDS];
    bool is_quoted[PIE_PHRASE_MAX_WORDS];
    int count, next;
};

/* Is there such a word, and is it one of the list's, which '|' separates? What was quoted is a name and never a
 * word. */
bool pie_words_is(const struct pie_words *words, int index, const char *list);

/* 1: the text is a whole number of at least 1, 0: it is none, -ERANGE: it is no number one can use. */
int pie_words_parse_number(const char *text, int64_t *ret_value);
/* The same of a word; 0 also where there is none. */
int pie_words_number(const struct pie_words *words, int index, int64_t *ret_value);
