/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/phrase.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "storage/message.h"

int pie_phrase_words(const char *text, char *buffer, const char **ret_words, bool *ret_is_quoted,
                     size_t max) {
    size_t count = 0;
    while (*(text += strspn(text, " \t\r\n"))) {
        if (count == max)
            return -E2BIG;
        ret_words[count] = buffer;
        char quote = *text == '"' || *text == '\'' ? *text : 0;
        const char *start = quote ? text + 1 : text;
        const char *end = quote ? strchr(start, quote) : start + strcspn(start, " \t\r\n");
        if (!end)
            return -EINVAL;
        memcpy(buffer, start, (size_t)(end - start));
        buffer += end - start;
        *buffer++ = 0;
        if (ret_is_quoted)
            ret_is_quoted[count] = quote;
        text = quote ? end + 1 : end;
        count++;
    }
    return (int)count;
}

/* The words on the way through the grammar. */
struct words {
    const char *at[PIE_PHRASE_MAX_WORDS];
    bool is_quoted[PIE_PHRASE_MAX_WORDS];
    int count, next;
};

static bool is_word(const struct words *words, int index, const char *list) {
    if (index >= words->count || words->is_quoted[index])
        return false;
    for (const char *item = list; *item; item += strcspn(item, "|"), item += *item == '|') {
        size_t size = strcspn(item, "|");
        if (strlen(words->at[index]) == size && strncasecmp(words->at[index], item, size) == 0)
            return true;
    }
    return false;
}

/* 1: the word is a whole number of at least 1, 0: it is none, -ERANGE: it is no number one can use. */
static int number(const struct words *words, int index, int64_t *ret_value) {
    char *end;
    if (index >= words->count || words->is_quoted[index] || !words->at[index][0])
        return 0;
    const char *digits = words->at[index] + (words->at[index][0] == '-');
    if (strspn(digits, "0123456789") != strlen(digits))
        return 0;
    errno = 0;
    long long value = strtoll(words->at[index], &end, 10);
    if (errno == ERANGE || value < 1)
        return -ERANGE;
    *ret_value = value;
    return 1;
}

static int bad_number(const struct words *words, int index, char **ret_message) {
    return pie_message(-ERANGE, ret_message, "%s is not a number from 1 on", words->at[index]);
}

/* "top", "top 10", "first 10", "10 hot lines" */
static int take_limit(struct words *words, struct pie_phrase *phrase, char **ret_message) {
    int64_t limit = PIE_PHRASE_TOP_DEFAULT;
    bool has_word = is_word(words, words->next, "top|first");
    if (!has_word && words->next != 0)
        return 0;
    int index = words->next + has_word;
    int r = number(words, index, &limit);
    if (r < 0)
        return bad_number(words, index, ret_message);
    if (!has_word && r == 0)
        return 0;
    phrase->limit = limit;
    words->next = index + r;
    return 1;
}

/* "of run 3", "in run 3", "run 3" */
static int take_run(struct words *words, struct pie_phrase *phrase, char **ret_message) {
    int index = words->next + is_word(words, words->next, "of|in|for|from");
    if (!is_word(words, index, "run"))
        return 0;
    int r = number(words, index + 1, &phrase->run);
    if (r < 0)
        return bad_number(words, index + 1, ret_message);
    if (r > 0)
        words->next = index + 2;
    return r;
}

/* "in foo.py", "of file foo.py" */
static int take_file(struct words *words, struct pie_phrase *phrase, char **ret_message) {
    if (!is_word(words, words->next, "in|of|from"))
        return 0;
    int index = words->next + 1 + is_word(words, words->next + 1, "file");
    if (index >= words->count || !words->at[index][0])
        return pie_message(-EINVAL, ret_message, "a file's name is missing after \"%s\"",
                           words->at[words->next]);
    if (phrase->file[0])
        return pie_message(-EINVAL, ret_message, "two files named: %s and %s", phrase->file,
                           words->at[index]);
    strcpy(phrase->file, words->at[index]);
    words->next = index + 1;
    return 1;
}

static int take_by(struct words *words, struct pie_phrase *phrase, char **ret_message) {
    if (!is_word(words, words->next, "by|per"))
        return 0;
    if (is_word(words, words->next + 1, "function|functions"))
        phrase->by_function = true;
    else if (!is_word(words, words->next + 1, "line|lines"))
        return pie_message(-EINVAL, ret_message, "lines can be told by line or by function, not by %s",
                           words->next + 1 < words->count ? words->at[words->next + 1] : "nothing");
    words->next += 2;
    return 1;
}

static void take_other(struct words *words, struct pie_phrase *phrase) {
    const char *word = words->at[words->next];
    if (is_word(words, words->next, "all"))
        phrase->all = true;
    else if (!is_word(words, words->next, "the|show|me|list|please")) {
        char *end = phrase->subject + strlen(phrase->subject);
        if (end != phrase->subject)
            *end++ = ' ';
        for (; *word; word++)
            *end++ = (char)tolower((unsigned char)*word);
        *end = 0;
    }
    words->next++;
}

int pie_phrase_parse(const char *text, struct pie_phrase *ret_phrase, char **ret_message) {
    static int (*const takers[])(struct words *, struct pie_phrase *, char **) = {take_limit, take_run,
                                                                                  take_file, take_by};
    char buffer[2 * PIE_PHRASE_MAX_BYTES];
    struct words words = {.count = 0};
    if (strlen(text) >= PIE_PHRASE_MAX_BYTES)
        return pie_message(-E2BIG, ret_message, "the question is too long");
    words.count = pie_phrase_words(text, buffer, words.at, words.is_quoted, PIE_PHRASE_MAX_WORDS);
    if (words.count == -EINVAL)
        return pie_message(-EINVAL, ret_message, "a quote is not closed in: %s", text);
    if (words.count < 0)
        return pie_message(words.count, ret_message, "the question has too many words");
    *ret_phrase = (struct pie_phrase){.limit = 0};
    while (words.next < words.count) {
        int r = 0;
        for (size_t i = 0; i < sizeof takers / sizeof *takers && r == 0; i++)
            r = takers[i](&words, ret_phrase, ret_message);
        if (r < 0)
            return r;
        if (r == 0)
            take_other(&words, ret_phrase);
    }
    return 0;
}
