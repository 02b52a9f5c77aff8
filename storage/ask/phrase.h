/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "storage/read/period.h"
#include "storage/ask/phrase_words.h"
#include "storage/read/place.h"

/* A question in words: "top 10 hot lines in foo.py of run 3", "pairs of foo.py:62". The words that are
 * left when number, file, line and run are taken out name the question. Context: cli. */

enum {
    PIE_PHRASE_MAX_BYTES = 4096,
    PIE_PHRASE_TOP_DEFAULT = 10, /* "top" without a number */
    PIE_PHRASE_ORDER_BYTES = 32,
};

struct pie_phrase {
    char question[PIE_PHRASE_MAX_BYTES]; /* in lower case, one space between words; "" if there is none */
    char file[PIE_PHRASE_MAX_BYTES];     /* of "in X", as written; "": not given */
    enum pie_place_kind kind; /* "in thread X", "in function X", …; or what X is has to be found out */
    int64_t line;             /* 0: not given; "foo.py:62", "foo.py line 62" */
    int64_t limit;            /* 0: not given */
    int64_t run;              /* 0: not given */
    int64_t process;          /* 0: not given; its number or pid */
    struct pie_period period; /* "in the last 5 minutes"; the whole run if not given */
    bool all;                 /* "all hot lines": no limit */
    bool by_function;
    char order[PIE_PHRASE_ORDER_BYTES]; /* "by wait": the word, in lower case; "": not given */
};

/* Splits text into words at blanks; quotes ('…' or "…") hold a word with blanks together. Words are copied into
 * `buffer` (as large as text and its final 0); is_quoted, if not NULL, is set for each. Returns the number of words,
 * -E2BIG for more than max, or -EINVAL for an open quote. */
int pie_phrase_words(const char *text, char *buffer, const char **ret_words, bool *ret_is_quoted, size_t max);

/* The words of a question without those that say nothing ("which", "are", …), into `buffer` of
 * PIE_PHRASE_MAX_BYTES. */
void pie_phrase_shorten(const char *question, char *buffer);

/* Returns 0, or -errno and one line for people (heap). */
int pie_phrase_parse(const char *text, struct pie_phrase *ret_phrase, char **ret_message);
