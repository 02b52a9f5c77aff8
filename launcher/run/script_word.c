/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/run/script_word.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "launcher/options/options.h"
#include "launcher/run/commands.h"
#include "launcher/text/messages.h"
#include "storage/ask/questions.h"
#include "storage/base/nearest.h"

enum { COMMANDS_MAX = 32, TEXT_MAX_BYTES = 1 << 20, HINT_BYTES = 400 };

static const char *nearest_command(const char *word) {
    size_t count, nearest;
    const struct pie_command *commands = pie_command_all(&count);
    const char *names[COMMANDS_MAX];
    for (size_t i = 0; i < count && i < COMMANDS_MAX; i++)
        names[i] = commands[i].name;
    return pie_nearest_choose(word, names, count < COMMANDS_MAX ? count : COMMANDS_MAX, &nearest, 1)
               ? names[nearest]
               : NULL;
}

static bool is_there(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 || errno != ENOENT;
}

static void say_wrong(const char *word) {
    char script[300];
    snprintf(script, sizeof script, "%.250s.py", word);
    const char *command = nearest_command(word);
    if (is_there(script))
        pie_message_error("%.250s: no such file, and no command; did you mean pieprof %s?", word, script);
    else if (pie_question_find(word))
        pie_message_error("%.250s: no such file, and no command; did you mean pieprof query %.250s?", word,
                          word);
    else if (command)
        pie_message_error("%.250s: no such file, and no command; did you mean pieprof %s?", word, command);
    else
        pie_message_error(
            "%.250s: no such file, and no command; did you mean pieprof report, pieprof query or "
            "another of those that pieprof --help lists?",
            word);
}

bool pie_script_word_is_wrong(const struct pie_options *options) {
    const char *word = options->script > 0 ? options->python_argv[options->script] : "";
    if (!*word || strpbrk(word, "/.") || is_there(word))
        return false;
    say_wrong(word);
    return true;
}

/* Of our options those that hardly any other program has. */
static const char *const ours[] = {"no-memory",        "no-copies",    "no-redundancy", "no-time",
                                   "no-children",      "no-argv",      "no-adaptive",   "no-learn",
                                   "per-process",      "fp-tolerance", "redundancy",    "overhead",
                                   "memory-threshold", "breakpoints",  "learn-policy",  "learn-confidence",
                                   "learn-interval",   "learn-top",    "learn-budget",  NULL};

static char hint[HINT_BYTES];

static const char *own_name(const char *word) {
    for (size_t i = 0; strncmp(word, "--", 2) == 0 && ours[i]; i++) {
        size_t size = strlen(ours[i]);
        if (strncmp(word + 2, ours[i], size) == 0 && (word[2 + size] == '\0' || word[2 + size] == '='))
            return ours[i];
    }
    return NULL;
}

static bool is_profile(const char *text) {
    const char *dot = text ? strrchr(text, '.') : NULL;
    return dot && strcmp(dot, ".db") == 0;
}

/* "-o run.db" is ours where the script has no such option. */
static const char *own_output(const char *word, const char *next) {
    bool is_output = (strcmp(word, "-o") == 0 || strcmp(word, "--output") == 0) && is_profile(next);
    return is_output || (strncmp(word, "--output=", 9) == 0 && is_profile(word)) ? "output" : NULL;
}

static char *read_text(const char *path) {
    struct stat status;
    if (stat(path, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size > TEXT_MAX_BYTES)
        return NULL;
    char *text = calloc(1, (size_t)status.st_size + 1);
    FILE *file = text ? fopen(path, "re") : NULL;
    bool is_read = file && fread(text, 1, (size_t)status.st_size, file) == (size_t)status.st_size;
    if (file)
        fclose(file);
    if (is_read)
        return text;
    free(text);
    return NULL;
}

/* Any mention will do, as option, variable or field: parsers make "--no-memory" of a field `memory`. */
static bool does_mention(const char *text, const char *name) {
    char underscored[32];
    const char *plain = strncmp(name, "no-", 3) == 0 ? name + 3 : name;
    snprintf(underscored, sizeof underscored, "%s", plain);
    for (char *c = underscored; *c; c++)
        *c = *c == '-' ? '_' : *c;
    return strstr(text, plain) || strstr(text, underscored) ||
           (strcmp(name, "output") == 0 && (strstr(text, "\"-o\"") || strstr(text, "'-o'")));
}

void pie_script_word_find_late(const struct pie_options *options) {
    char *const *words = options->python_argv;
    char *text = NULL;
    for (int i = options->script + 1; options->script > 0 && i < options->python_argc && !hint[0]; i++) {
        if (strcmp(words[i], "--") == 0)
            break;
        const char *name = own_name(words[i]);
        name = name ? name : own_output(words[i], words[i + 1]);
        if (name && !text && !(text = read_text(words[options->script])))
            return;
        if (name && !does_mention(text, name))
            snprintf(
                hint, sizeof hint,
                "%.100s stood behind the script and went to it; options of pieprof go before the script: "
                "pieprof %.100s … %.100s",
                words[i], words[i], words[options->script]);
    }
    free(text);
}

const char *pie_script_word_late(void) {
    return hint[0] ? hint : NULL;
}
