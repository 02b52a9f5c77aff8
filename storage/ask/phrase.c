/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/ask/phrase.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/base/message.h"
#include "storage/ask/phrase_period.h"
#include "storage/ask/phrase_words.h"

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

static int bad_number(const char *text, char **ret_message) {
    return pie_message(-ERANGE, ret_message, "%s is not a number from 1 on", text);
}

/* "in the last 5 minutes" */
static int take_period(struct pie_words *words, struct pie_phrase *phrase, char **ret_message) {
    return pie_phrase_take_period(words, &phrase->period, ret_message);
}

/* "top", "top 10", "first 10", "10 hot lines" */
static int take_limit(struct pie_words *words, struct pie_phrase *phrase, char **ret_message) {
    int64_t limit = PIE_PHRASE_TOP_DEFAULT;
    bool has_word = pie_words_is(words, words->next, "top|first");
    if (has_word && pie_words_is(words, words->next + 1, "all"))
        return ++words->next; /* "all" is taken next */
    if (!has_word && words->next != 0)
        return 0;
    int index = words->next + has_word;
    int r = pie_words_number(words, index, &limit);
    if (r < 0)
        return bad_number(words->at[index], ret_message);
    if (!has_word && r == 0)
        return 0;
    phrase->limit = limit;
    words->next = index + r;
    return 1;
}

/* "of run 3", "in run 3", "run 3" */
static int take_run(struct pie_words *words, struct pie_phrase *phrase, char **ret_message) {
    int index = words->next + pie_words_is(words, words->next, "of|in|for|from");
    if (!pie_words_is(words, index, "run"))
        return 0;
    int r = pie_words_number(words, index + 1, &phrase->run);
    if (r < 0)
        return bad_number(words->at[index + 1], ret_message);
    if (r > 0)
        words->next = index + 2;
    return r;
}

/* "of process 3", by number or pid. "process 3" alone is a question and a stray number. */
static int take_process(struct pie_words *words, struct pie_phrase *phrase, char **ret_message) {
    if (!pie_words_is(words, words->next, "of|in|for|from") ||
        !pie_words_is(words, words->next + 1, "process|pid"))
        return 0;
    int r = pie_words_number(words, words->next + 2, &phrase->process);
    if (r < 0)
        return bad_number(words->at[words->next + 2], ret_message);
    if (r > 0)
        words->next += 3;
    return r;
}

/* The colon of "foo.py:62" where digits follow to the end of the word, or NULL. */
static const char *line_colon(const char *word) {
    const char *colon = strrchr(word, ':');
    return colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1) ? colon : NULL;
}

/* Digits into the phrase. Returns 1 or -ERANGE. */
static int set_line(const char *digits, struct pie_phrase *phrase, char **ret_message) {
    if (phrase->line)
        return pie_message(-EINVAL, ret_message, "two lines named: %lld and %s", (long long)phrase->line,
                           digits);
    return pie_words_parse_number(digits, &phrase->line) < 0 ? bad_number(digits, ret_message) : 1;
}

/* What may follow a file's name: "line 62", and ":62" behind a name in quotes. */
static int take_line(struct pie_words *words, struct pie_phrase *phrase, char **ret_message) {
    int64_t line;
    bool has_word = pie_words_is(words, words->next, "line");
    if (has_word && pie_words_number(words, words->next + 1, &line) != 0) {
        words->next += 2;
        return set_line(words->at[words->next - 1], phrase, ret_message);
    }
    bool is_word_left = words->next < words->count && !words->is_quoted[words->next];
    if (!is_word_left || line_colon(words->at[words->next]) != words->at[words->next])
        return 1;
    words->next++;
    return set_line(words->at[words->next - 1] + 1, phrase, ret_message);
}

/* "foo.py", "foo.py:62"; quotes keep a name as it is written. */
static int take_place(struct pie_words *words, struct pie_phrase *phrase, char **ret_message) {
    const char *word = words->at[words->next];
    const char *colon = words->is_quoted[words->next] ? NULL : line_colon(word);
    size_t size = colon ? (size_t)(colon - word) : strlen(word);
    if (phrase->file[0])
        return pie_message(-EINVAL, ret_message, "two names of a place: %s and %s", phrase->file, word);
    memcpy(phrase->file, word, size);
    phrase->file[size] = 0;
    words->next++;
    int r = colon ? set_line(colon + 1, phrase, ret_message) : 1;
    return r < 0 ? r : take_line(words, phrase, ret_message);
}

/* "thread" in "of thread 2", if a name follows. */
static enum pie_place_kind place_kind(const struct pie_words *words, int index) {
    for (int kind = PIE_PLACE_FILE; kind < PIE_PLACE_KINDS && index + 1 < words->count; kind++) {
        if (pie_words_is(words, index, pie_place_kind_name((enum pie_place_kind)kind)))
            return (enum pie_place_kind)kind;
    }
    return PIE_PLACE_ANY;
}

/* "foo.py:62" and "foo.py" need no word before them: no question has such a name. */
static bool is_place_alone(const char *word) {
    const char *colon = line_colon(word);
    size_t size = strlen(word), ending = strlen(".py");
    return (colon && colon != word) || (size > ending && strcasecmp(word + size - ending, ".py") == 0);
}

/* "in foo.py", "of file foo.py", "of thread 2", "of foo.py:62", and "foo.py" alone. */
static int take_file(struct pie_words *words, struct pie_phrase *phrase, char **ret_message) {
    if (!pie_words_is(words, words->next, "in|of|from|at")) {
        bool is_place = !words->is_quoted[words->next] && is_place_alone(words->at[words->next]);
        return is_place ? take_place(words, phrase, ret_message) : 0;
    }
    enum pie_place_kind kind = place_kind(words, words->next + 1);
    int index = words->next + 1 + (kind != PIE_PLACE_ANY);
    if (index >= words->count || !words->at[index][0] || line_colon(words->at[index]) == words->at[index])
        return pie_message(-EINVAL, ret_message, "a name is missing after \"%s\"", words->at[words->next]);
    words->next = index;
    phrase->kind = kind;
    return take_place(words, phrase, ret_message);
}

/* "of line 62 in" before a file's name. */
static int take_line_of(struct pie_words *words, struct pie_phrase *phrase, char **ret_message) {
    int64_t line;
    int index = words->next + pie_words_is(words, words->next, "in|of|from|at");
    if (!pie_words_is(words, index, "line") || pie_words_number(words, index + 1, &line) == 0 ||
        !pie_words_is(words, index + 2, "in|of|from"))
        return 0;
    words->next = index + 2;
    return set_line(words->at[index + 1], phrase, ret_message);
}

static void put_lower(char *out, const char *word) {
    for (; *word; word++)
        *out++ = (char)tolower((unsigned char)*word);
    *out = 0;
}

/* "by wait", "by total time": the last word of an order may say no more than the first. */
static int take_order(struct pie_words *words, struct pie_phrase *phrase, char **ret_message) {
    int index = words->next + 1;
    if (index >= words->count || strlen(words->at[index]) >= sizeof phrase->order)
        return pie_message(-EINVAL, ret_message, "by what? \"by function\", \"by wait\", \"by time\"");
    put_lower(phrase->order, words->at[index]);
    words->next = index + 1;
    words->next += pie_words_is(words, words->next, "time|share|bytes|memory|usage");
    return 1;
}

/* "by function", "by wait", "order by wait" */
static int take_by(struct pie_words *words, struct pie_phrase *phrase, char **ret_message) {
    bool has_word = pie_words_is(words, words->next, "sort|sorted|order|ordered|ranked") &&
                    pie_words_is(words, words->next + 1, "by");
    if (!has_word && !pie_words_is(words, words->next, "by|per"))
        return 0;
    words->next += has_word;
    bool is_function = pie_words_is(words, words->next + 1, "function|functions");
    if (!is_function && !pie_words_is(words, words->next + 1, "line|lines"))
        return take_order(words, phrase, ret_message);
    phrase->by_function = is_function;
    words->next += 2;
    return 1;
}

/* "where library = 'numpy'", "where file is a.py" */
static int take_where(struct pie_words *words, struct pie_phrase *phrase, char **ret_message) {
    enum pie_place_kind kind =
        pie_words_is(words, words->next, "where") ? place_kind(words, words->next + 1) : PIE_PLACE_ANY;
    if (kind == PIE_PLACE_ANY || !pie_words_is(words, words->next + 2, "=|==|is") ||
        words->next + 3 >= words->count)
        return 0;
    words->next += 3;
    phrase->kind = kind;
    return take_place(words, phrase, ret_message);
}

/* "who calls F", "what does F call": a question and its place in one. */
static int take_calls(struct pie_words *words, struct pie_phrase *phrase, char **ret_message) {
    bool is_callers = pie_words_is(words, words->next, "who|what") &&
                      pie_words_is(words, words->next + 1, "calls|called|uses");
    bool is_callees = pie_words_is(words, words->next, "what") &&
                      pie_words_is(words, words->next + 1, "does|did") &&
                      pie_words_is(words, words->next + 3, "call");
    if (phrase->question[0] || words->next + 2 >= words->count || (!is_callers && !is_callees))
        return 0;
    words->next += 2;
    put_lower(phrase->question, is_callers ? "callers" : "callees");
    int r = take_place(words, phrase, ret_message);
    words->next += is_callees;
    return r;
}

static void take_other(struct pie_words *words, struct pie_phrase *phrase) {
    const char *word = words->at[words->next];
    if (pie_words_is(words, words->next, "all"))
        phrase->all = true;
    else if (!pie_words_is(words, words->next, "the|show|me|list|please")) {
        char *end = phrase->question + strlen(phrase->question);
        if (end != phrase->question)
            *end++ = ' ';
        put_lower(end, word);
    }
    words->next++;
}

void pie_phrase_shorten(const char *question, char *buffer) {
    char copy[PIE_PHRASE_MAX_BYTES];
    struct pie_words words = {.count = 0};
    char *end = buffer;
    *buffer = 0;
    words.count = pie_phrase_words(question, copy, words.at, words.is_quoted, PIE_PHRASE_MAX_WORDS);
    for (int i = 0; i < words.count; i++) {
        if (pie_words_is(
                &words, i,
                "a|an|are|can|do|does|give|have|has|i|is|it|its|most|my|of|that|there|this|was|were|what|"
                "which|with|you"))
            continue;
        end += sprintf(end, "%s%s", end == buffer ? "" : " ", words.at[i]);
    }
}

int pie_phrase_parse(const char *text, struct pie_phrase *ret_phrase, char **ret_message) {
    static int (*const takers[])(struct pie_words *, struct pie_phrase *,
                                 char **) = {take_limit, take_run,     take_process, take_period, take_where,
                                             take_calls, take_line_of, take_file,    take_by};
    char buffer[2 * PIE_PHRASE_MAX_BYTES];
    struct pie_words words = {.count = 0};
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
    if (ret_phrase->line && !ret_phrase->file[0])
        return pie_message(-EINVAL, ret_message, "a file's name is missing beside line %lld",
                           (long long)ret_phrase->line);
    return 0;
}
