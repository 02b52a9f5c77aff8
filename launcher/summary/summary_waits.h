/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "launcher/answers/finding.h"

/* The summary's line about what the threads waited for (heap): the causes that weigh most, each with its line of own
 * code. NULL where the causes are not known or hardly anything was waited. Returns 0, or -errno and a message (heap).
 * Context: cli, launcher (at exit). */
int pie_summary_waits_text(const struct pie_finding_screen *screen, char **ret_text, char **ret_message);
