/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdio.h>

#include "launcher/answers/finding.h"

/* The summary's line about what the threads waited for: the causes that weigh most, each with its line. Prints nothing
 * where the causes are not known or hardly anything was waited. Returns 0, or -errno and a message (heap). Context:
 * cli, launcher (at exit). */
int pie_summary_waits_print(const struct pie_finding_screen *screen, char **ret_message);
