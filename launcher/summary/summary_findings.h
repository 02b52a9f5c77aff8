/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "launcher/answers/finding.h"
#include "launcher/summary/summary_memory.h"

/* The summary's part about redundant loads and stores: the worst findings, or that there are none, or why nothing could
 * be measured; at most six lines, the first one blank. Below them the line that copies most. `above`: findings of
 * another kind that stand above (at most three): these go on without the blank line, and with that many lines less.
 * Returns 0, or -errno and a message (heap).
 * Context: cli, launcher (at exit). */
int pie_summary_findings_print(const struct pie_finding_screen *screen, struct pie_summary_above above,
                               char **ret_message);
