/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "launcher/options/options.h"

/* Values of options, by their kind: read, compared, written. */

/* Puts the value into the option's setting; NULL for a flag or an action. Returns 0, or -EINVAL with error set. */
int pie_option_set(struct pie_options *options, const struct pie_option *option, const char *value);

/* Appends the option as it is to be given for the same setting, if that differs from the one of `defaults`. Returns 0
 * or -ENOMEM. */
int pie_option_append(const struct pie_option *option, const struct pie_config *config,
                      const struct pie_config *defaults, char **string);
