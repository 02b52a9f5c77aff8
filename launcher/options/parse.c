/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/options/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/options/value.h"
#include "launcher/text/words.h"

/* CPython's one-letter options that are not ours: flags, those with a value, those that begin the command. Letters that
 * it knows and we take (h i q v V) count as Python's only inside a word that one of these begins. */
static const char PYTHON_FLAGS[] = "bBdEIJOPRsStux?";
static const char PYTHON_VALUES[] = "WX";
static const char PYTHON_COMMANDS[] = "cm";
static const char *const PYTHON_LONG[] = {"help-all", "help-env", "help-xoptions"};
static const char PYTHON_LONG_VALUE[] = "check-hash-based-pycs";

struct parser {
    struct pie_options *options;
    char **next;
    bool allow_command;
    const char *source; /* NULL, or what the words come from */
};

static bool is_one_of(char c, const char *set) {
    return c != '\0' && strchr(set, c);
}

static void hand_on(struct pie_options *options, char *word) {
    options->python_argv[options->python_argc++] = word;
    options->python_argv[options->python_argc] = NULL;
    options->is_bare = false;
}

static void hand_on_rest(struct parser *parser) {
    while (*parser->next)
        hand_on(parser->options, *parser->next++);
}

static const struct pie_option *find_letter(char letter) {
    size_t n;
    const struct pie_option *all = pie_option_all(&n);
    for (size_t i = 0; i < n; i++) {
        if (letter != '\0' && all[i].letter == letter)
            return &all[i];
    }
    return NULL;
}

static const struct pie_option *find_name(const char *name, size_t length) {
    size_t n;
    const struct pie_option *all = pie_option_all(&n);
    for (size_t i = 0; i < n; i++) {
        if (strlen(all[i].name) == length && strncmp(all[i].name, name, length) == 0)
            return &all[i];
    }
    return NULL;
}

static int unknown(struct parser *parser, const char *word) {
    return pie_options_fail(parser->options, "unknown option %s%s%s; pieprof --help lists the options", word,
                            parser->source ? " in " : "", parser->source ? parser->source : "");
}

static int set_from_next(struct parser *parser, const struct pie_option *option, const char *word) {
    if (!*parser->next)
        return pie_options_fail(parser->options, "%s needs a value: %s", word, option->value);
    return pie_option_set(parser->options, option, *parser->next++);
}

static bool is_python_long(const char *name) {
    for (size_t i = 0; i < sizeof PYTHON_LONG / sizeof *PYTHON_LONG; i++) {
        if (strcmp(name, PYTHON_LONG[i]) == 0)
            return true;
    }
    return false;
}

static int parse_long(struct parser *parser, char *word) {
    const char *name = word + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const struct pie_option *option = find_name(name, length);
    if (option && option->value)
        return equals ? pie_option_set(parser->options, option, equals + 1)
                      : set_from_next(parser, option, word);
    if (option && equals)
        return pie_options_fail(parser->options, "--%s takes no value", option->name);
    if (option)
        return pie_option_set(parser->options, option, NULL);
    if (!parser->allow_command)
        return unknown(parser, word);
    if (is_python_long(name)) {
        hand_on(parser->options, word);
        return 0;
    }
    if (strcmp(name, PYTHON_LONG_VALUE) != 0)
        return unknown(parser, word);
    hand_on(parser->options, word);
    if (*parser->next)
        hand_on(parser->options, *parser->next++);
    return 0;
}

/* A word that begins with one of our letters: -qv, -o FILE, -oFILE. */
static int parse_own_letters(struct parser *parser, char *word) {
    for (const char *p = word + 1; *p; p++) {
        const struct pie_option *option = find_letter(*p);
        if (!option)
            return pie_options_fail(parser->options,
                                    "bad option %s: -%c is not pieprof's, and cannot be joined to its -%c",
                                    word, *p, word[1]);
        if (option->value && p[1] == '=') /* -o=FILE is a slip more often than a file called "=FILE" */
            return pie_options_fail(parser->options, "bad option %s: write -%c %s or --%s=%s", word, *p,
                                    option->value, option->name, option->value);
        if (option->value)
            return p[1] ? pie_option_set(parser->options, option, p + 1)
                        : set_from_next(parser, option, word);
        int r = pie_option_set(parser->options, option, NULL);
        if (r < 0)
            return r;
    }
    return 0;
}

/* A word of Python's options, handed on as it is. What matters is where its command begins. */
static int parse_python_letters(struct parser *parser, char *word) {
    for (const char *p = word + 1; *p; p++) {
        if (is_one_of(*p, PYTHON_COMMANDS)) {
            hand_on(parser->options, word);
            hand_on_rest(parser);
            return 0;
        }
        if (is_one_of(*p, PYTHON_VALUES)) {
            hand_on(parser->options, word);
            if (p[1] == '\0' && *parser->next)
                hand_on(parser->options, *parser->next++);
            return 0;
        }
        if (!is_one_of(*p, PYTHON_FLAGS) && !is_one_of(*p, "hiqvV"))
            return unknown(parser, word);
    }
    hand_on(parser->options, word);
    return 0;
}

static int parse_letters(struct parser *parser, char *word) {
    if (find_letter(word[1]))
        return parse_own_letters(parser, word);
    if (word[1] == 'f')
        return pie_options_fail(parser->options,
                                "-f is for: pieprof export FILE -f FORMAT; a run writes a profile, see -o");
    if (!parser->allow_command)
        return unknown(parser, word);
    return parse_python_letters(parser, word);
}

static int parse(struct parser *parser) {
    int r = 0;
    while (r == 0 && *parser->next) {
        char *word = *parser->next;
        if (parser->options->action != PIE_ACTION_RUN) /* --help and --version need no more */
            return 0;
        if (!parser->allow_command && (word[0] != '-' || word[1] == '\0' || strcmp(word, "--") == 0))
            return pie_options_fail(parser->options, "'%s' in %s is no option of pieprof's", word,
                                    parser->source);
        if (word[0] != '-' || word[1] == '\0') {
            parser->options->script = word[0] != '-' ? parser->options->python_argc : 0;
            hand_on_rest(parser);
            return 0;
        }
        parser->next++;
        if (strcmp(word, "--") == 0) {
            hand_on_rest(parser);
            return 0;
        }
        r = word[1] == '-' ? parse_long(parser, word) : parse_letters(parser, word);
    }
    return r;
}

int pie_options_from_words(struct pie_options *options, char **words) {
    size_t n = 0;
    while (words[n])
        n++;
    options->python_argv = calloc(n + 2, sizeof *options->python_argv);
    if (!options->python_argv)
        return pie_options_fail(options, "out of memory");
    options->python_argc = 1;
    struct parser parser = {.options = options, .next = words, .allow_command = true};
    return parse(&parser);
}

int pie_options_from_string(struct pie_options *options, const char *string, const char *source) {
    char **words = pie_words_split(string);
    if (!words && errno == EINVAL)
        return pie_options_fail(options, "a quote is left open in %s", source);
    if (!words)
        return pie_options_fail(options, "out of memory");
    struct parser parser = {.options = options, .next = words, .source = source};
    int r = parse(&parser);
    free(words); /* what is kept of them was copied */
    return r;
}
