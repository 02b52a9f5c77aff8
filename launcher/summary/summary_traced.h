/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "launcher/answers/finding.h"

/* The summary's part about traced loops: the loop with most time, its figures and its most expensive calls, after a
 * blank line and in at most `lines` lines; the figures are always printed. Prints nothing if no loop was traced.
 * Returns 0, or -errno and a message (heap). Context: cli, launcher (at exit). */
int pie_summary_traced_print(const struct pie_finding_screen *screen, size_t lines, char **ret_message);
