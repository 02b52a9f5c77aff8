/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/options/learn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/text/words.h"

static const struct pie_learn_settings defaults = {
    .policy = PIE_RACE_RACING,
    .confidence = 0.95,
    .interval_ns = 1000000000,
    .cost = 0.01,
};

static const struct {
    const char *name;
    enum pie_race_policy policy;
} policies[] = {
    {"racing", PIE_RACE_RACING},
    {"rejects", PIE_RACE_REJECTS},
    {"accepts-rejects", PIE_RACE_ACCEPTS_REJECTS},
};
enum { POLICIES = sizeof policies / sizeof *policies };

void pie_options_learn_init(struct pie_config *config) {
    config->learns = true;
    config->learn = defaults;
}

int pie_option_learn(struct pie_options *options, const char *value) {
    for (size_t i = 0; i < PIE_LEARN_PLACES_MAX; i++) {
        if (!options->config.learn_places[i]) {
            options->config.learn_places[i] = value;
            return 0;
        }
    }
    return pie_options_fail(options, "too many loops to learn: at most %d", PIE_LEARN_PLACES_MAX);
}

int pie_option_no_learn(struct pie_options *options, const char *value) {
    options->config.learns = false;
    return 0;
}

int pie_option_learn_confidence(struct pie_options *options, const char *value) {
    char *end;
    double percent = strtod(value, &end);

    if (end == value || (strcmp(end, "%") != 0 && *end) || !(percent >= 50 && percent < 100))
        return pie_options_fail(options, "bad confidence '%s': from 50%% to less than 100%%, such as 95%%",
                                value);
    options->config.learn.confidence = percent / 100;
    return 0;
}

int pie_option_learn_policy(struct pie_options *options, const char *value) {
    for (size_t i = 0; i < POLICIES; i++) {
        if (strcmp(value, policies[i].name) == 0) {
            options->config.learn.policy = policies[i].policy;
            return 0;
        }
    }
    return pie_options_fail(options, "unknown policy '%s': racing, rejects or accepts-rejects", value);
}

int pie_option_learn_interval(struct pie_options *options, const char *value) {
    char *end;
    double s = strtod(value, &end);

    if (end == value || (strcmp(end, "s") != 0 && *end) || !(s >= 0.1 && s <= 3600))
        return pie_options_fail(options, "bad interval '%s': seconds from 0.1 to 3600, such as 1s", value);
    options->config.learn.interval_ns = (uint64_t)(s * 1e9);
    return 0;
}

static int read_count(struct pie_options *options, const char *value, const char *what, uint64_t *ret_count) {
    char *end;
    unsigned long long count = strtoull(value, &end, 10);

    if (end == value || *end || *value == '-' || count < 1 || count > 1000000000)
        return pie_options_fail(options, "bad %s '%s': a number from 1 to 1000000000", what, value);
    *ret_count = count;
    return 0;
}

int pie_option_learn_top(struct pie_options *options, const char *value) {
    return read_count(options, value, "number of calls", &options->config.learn.top);
}

int pie_option_learn_budget(struct pie_options *options, const char *value) {
    return read_count(options, value, "budget", &options->config.learn.budget);
}

static int append(char **string, const char *name, const char *value) {
    int r = pie_words_append(string, name);

    return r < 0 ? r : pie_words_append(string, value);
}

int pie_options_learn_append(const struct pie_config *config, char **string) {
    const struct pie_learn_settings *learn = &config->learn;
    char text[64];
    int r = config->learns ? 0 : pie_words_append(string, "--no-learn");

    for (size_t i = 0; r == 0 && config->learn_places[i]; i++)
        r = append(string, "--learn", config->learn_places[i]);
    if (r == 0 && learn->policy != defaults.policy)
        r = append(string, "--learn-policy", policies[learn->policy].name);
    snprintf(text, sizeof text, "%.17g%%", learn->confidence * 100);
    if (r == 0 && learn->confidence != defaults.confidence)
        r = append(string, "--learn-confidence", text);
    snprintf(text, sizeof text, "%.17gs", (double)learn->interval_ns * 1e-9);
    if (r == 0 && learn->interval_ns != defaults.interval_ns)
        r = append(string, "--learn-interval", text);
    snprintf(text, sizeof text, "%zu", learn->top);
    if (r == 0 && learn->top)
        r = append(string, "--learn-top", text);
    snprintf(text, sizeof text, "%llu", (unsigned long long)learn->budget);
    if (r == 0 && learn->budget)
        r = append(string, "--learn-budget", text);
    return r;
}
