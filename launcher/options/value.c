/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/options/value.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "launcher/text/words.h"

static_assert(sizeof(size_t) == sizeof(uint64_t), "a count is stored as a quantity");

/* The path as it will be after the program has changed its folder. Heap, or NULL with error set. */
static char *absolute(struct pie_options *options, const char *path) {
    char *folder = NULL, *result = NULL;
    if (path[0] == '/')
        result = strdup(path);
    else if (!(folder = getcwd(NULL, 0)))
        pie_options_fail(options, "cannot tell the current folder: %s; give absolute paths", strerror(errno));
    else if (asprintf(&result, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, path) < 0)
        result = NULL;
    if (!result && options->error[0] == '\0')
        pie_options_fail(options, "out of memory");
    free(folder);
    return result;
}

static void *setting_of(const struct pie_option *option, const struct pie_config *config) {
    return (char *)(void *)config + option->offset;
}

static int refuse(struct pie_options *options, const struct pie_option *option, const char *value) {
    return pie_options_fail(options, "%s '%s': %s", option->wrong, value, option->right);
}

static int set_text(struct pie_options *options, const struct pie_option *option, const char *value) {
    const char **setting = setting_of(option, &options->config);
    if (*value == '\0' && option->right)
        return pie_options_fail(options, "%s needs %s", option->wrong, option->right);
    char *text = option->kind == PIE_OPTION_PATH ? absolute(options, value) : strdup(value);
    if (!text)
        return options->error[0] ? -EINVAL : pie_options_fail(options, "out of memory");
    *setting = text;
    return 0;
}

static int set_list(struct pie_options *options, const struct pie_option *option, const char *value) {
    const char **setting = setting_of(option, &options->config);
    for (size_t i = 0; i < PIE_TRACE_PLACES_MAX; i++) {
        if (!setting[i])
            return (setting[i] = strdup(value)) ? 0 : pie_options_fail(options, "out of memory");
    }
    return pie_options_fail(options, "%s: at most %d", option->wrong, PIE_TRACE_PLACES_MAX);
}

static int find_choice(const struct pie_option *option, const char *value) {
    for (int i = 0; option->choices[i]; i++) {
        if (strcmp(option->choices[i], value) == 0)
            return i;
    }
    return -1;
}

static int set_choice(struct pie_options *options, const struct pie_option *option, const char *value) {
    void *setting = setting_of(option, &options->config);
    int choice = find_choice(option, value);
    if (choice < 0)
        return refuse(options, option, value);
    if (option->kind == PIE_OPTION_CHOICE)
        *(const char **)setting = option->choices[choice];
    else
        *(unsigned *)setting = (unsigned)choice;
    return 0;
}

/* Reads "12.5unit"; false unless the number is followed by nothing but one of the units. */
static bool read_quantity(const struct pie_quantity *quantity, const char *text, double *ret_value) {
    char *end;
    double number = strtod(text, &end);
    if (end == text || !isfinite(number))
        return false;
    while (*end == ' ')
        end++;
    for (size_t i = 0; quantity->units[i]; i++) {
        if (strcasecmp(end, quantity->units[i]) == 0) {
            *ret_value = number * quantity->factors[i] / quantity->divisor;
            return *ret_value >= quantity->least && *ret_value <= quantity->most;
        }
    }
    return false;
}

static int set_quantity(struct pie_options *options, const struct pie_option *option, const char *value) {
    const struct pie_quantity *quantity = option->quantity;
    void *setting = setting_of(option, &options->config);
    double number;
    if (!read_quantity(quantity, value, &number))
        return refuse(options, option, value);
    if (quantity->is_real)
        *(double *)setting = number;
    else
        *(uint64_t *)setting = (uint64_t)llround(quantity->is_rate ? 1e9 / number : number);
    if (option->given_offset)
        *(bool *)((char *)&options->config + option->given_offset) = true;
    return 0;
}

int pie_option_set(struct pie_options *options, const struct pie_option *option, const char *value) {
    switch (option->kind) {
    case PIE_OPTION_FLAG:
        *(bool *)setting_of(option, &options->config) = option->is_on;
        return 0;
    case PIE_OPTION_ACTION:
        options->action = option->action;
        return 0;
    case PIE_OPTION_TEXT:
    case PIE_OPTION_PATH:
        return set_text(options, option, value);
    case PIE_OPTION_LIST:
        return set_list(options, option, value);
    case PIE_OPTION_CHOICE:
    case PIE_OPTION_NUMBER:
        return set_choice(options, option, value);
    case PIE_OPTION_QUANTITY:
        return set_quantity(options, option, value);
    }
    return 0;
}

static int append(const struct pie_option *option, const char *value, char **string) {
    char name[40];
    snprintf(name, sizeof name, "--%s", option->name);
    int r = pie_words_append(string, name);
    return r < 0 || !value ? r : pie_words_append(string, value);
}

static bool is_given(const struct pie_option *option, const struct pie_config *config) {
    return option->given_offset && *(const bool *)((const char *)config + option->given_offset);
}

static int append_quantity(const struct pie_option *option, const void *setting, bool is_default,
                           char **string) {
    const struct pie_quantity *quantity = option->quantity;
    char text[64];
    if (quantity->is_rate || is_default)
        return 0; /* a rate is written as its interval */
    double number = quantity->is_real ? *(const double *)setting : (double)*(const uint64_t *)setting;
    snprintf(text, sizeof text, "%.17g%s", number * quantity->divisor / quantity->factors[0],
             quantity->units[0]);
    return append(option, text, string);
}

int pie_option_append(const struct pie_option *option, const struct pie_config *config,
                      const struct pie_config *defaults, char **string) {
    const void *setting = setting_of(option, config), *before = setting_of(option, defaults);
    int r = 0;
    switch (option->kind) {
    case PIE_OPTION_FLAG:
        return *(const bool *)setting == option->is_on && *(const bool *)before != option->is_on
                   ? append(option, NULL, string)
                   : 0;
    case PIE_OPTION_TEXT:
    case PIE_OPTION_PATH:
    case PIE_OPTION_CHOICE:
        return *(const char *const *)setting ? append(option, *(const char *const *)setting, string) : 0;
    case PIE_OPTION_LIST:
        for (const char *const *text = setting; r == 0 && *text; text++)
            r = append(option, *text, string);
        return r;
    case PIE_OPTION_NUMBER:
        return *(const unsigned *)setting != *(const unsigned *)before
                   ? append(option, option->choices[*(const unsigned *)setting], string)
                   : 0;
    case PIE_OPTION_QUANTITY:
        return append_quantity(option, setting,
                               !is_given(option, config) && memcmp(setting, before, sizeof(uint64_t)) == 0,
                               string);
    case PIE_OPTION_ACTION:
        break;
    }
    return 0;
}
