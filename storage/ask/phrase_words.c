/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/ask/phrase_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool pie_words_is(const struct pie_words *words, int index, const char *list) {
    if (index >= words->count || words->is_quoted[index])
        return false;
    for (const char *item = list; *item; item += strcspn(item, "|"), item += *item == '|') {
        size_t size = strcspn(item, "|");
        if (strlen(words->at[index]) == size && strncasecmp(words->at[index], item, size) == 0)
            return true;
    }
    return false;
}

int pie_words_parse_number(const char *text, int64_t *ret_value) {
    const char *digits = text + (text[0] == '-');
    if (!*text || strspn(digits, "0123456789") != strlen(digits))
        return 0;
    errno = 0;
    long long value = strtoll(text, NULL, 10);
    if (errno == ERANGE || value < 1)
        return -ERANGE;
    *ret_value = value;
    return 1;
}

int pie_words_number(const struct pie_words *words, int index, int64_t *ret_value) {
    if (index >= words->count || words->is_quoted[index])
        return 0;
    return pie_words_parse_number(words->at[index], ret_value);
}
