/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/text/words.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n';
}

/* Copies one word from *in to *out and moves both behind it. False: a quote is left open. */
static bool copy_word(const char **in, char **out) {
    const char *p = *in;
    char *q = *out, quote = '\0';
    for (; *p && (quote || !is_blank(*p)); p++) {
        if (quote ? *p == quote : *p == '\'' || *p == '"') {
            quote = quote ? '\0' : *p;
            continue;
        }
        bool escapes = *p == '\\' && quote != '\'' && (!quote || p[1] == '"' || p[1] == '\\');
        if (escapes && p[1] == '\0')
            return false;
        if (escapes)
            p++;
        *q++ = *p;
    }
    *q++ = '\0';
    *in = p;
    *out = q;
    return !quote;
}

char **pie_words_split(const char *string) {
    size_t length = strlen(string);
    size_t words_max = length / 2 + 1; /* a word and a blank take two characters */
    char **words = malloc((words_max + 1) * sizeof *words + length + 1);
    if (!words)
        return NULL;
    char *out = (char *)(words + words_max + 1);
    size_t n = 0;
    for (;;) {
        while (is_blank(*string))
            string++;
        if (*string == '\0')
            break;
        words[n++] = out;
        if (!copy_word(&string, &out)) {
            free(words);
            errno = EINVAL;
            return NULL;
        }
    }
    words[n] = NULL;
    return words;
}

int pie_words_append(char **string, const char *word) {
    size_t old = *string ? strlen(*string) : 0;
    /* Each character may be a quote, which takes four: '\'' */
    char *grown = realloc(*string, old + 1 + 2 + 4 * strlen(word) + 1);
    if (!grown)
        return -ENOMEM;
    char *p = grown + old;
    if (old > 0)
        *p++ = ' ';
    *p++ = '\'';
    for (; *word; word++) {
        if (*word == '\'') {
            memcpy(p, "'\\''", 4);
            p += 4;
        } else {
            *p++ = *word;
        }
    }
    *p++ = '\'';
    *p = '\0';
    *string = grown;
    return 0;
}
