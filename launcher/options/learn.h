/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "launcher/options/options.h"

/* Options of the learning tracer: how `for x in pieprof.loop(…)` is learned. See struct pie_option. */
void pie_options_learn_init(struct pie_config *config);
int pie_option_learn(struct pie_options *options, const char *value);
int pie_option_no_learn(struct pie_options *options, const char *value);
int pie_option_learn_confidence(struct pie_options *options, const char *value);
int pie_option_learn_policy(struct pie_options *options, const char *value);
int pie_option_learn_interval(struct pie_options *options, const char *value);
int pie_option_learn_top(struct pie_options *options, const char *value);
int pie_option_learn_budget(struct pie_options *options, const char *value);

/* Appends what is not the default; see pie_options_to_string(). Returns 0 or -ENOMEM. */
int pie_options_learn_append(const struct pie_config *config, char **string);
