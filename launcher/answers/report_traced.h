/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "launcher/answers/finding.h"

/* The report's part about traced loops: the figures of each, and its most expensive calls. all: every loop and call.
 * Prints nothing if no loop was traced. Returns 0, or -errno and a message (heap). Context: cli. */
int pie_report_traced_print(const struct pie_finding_screen *screen, bool all, char **ret_message);
