/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "launcher/finding.h"

/* The summary's part about redundant loads and stores: the worst findings, or that there are none, or why nothing could be
 * measured; at most six lines, the first one blank. Returns 0, or -errno and a message (heap). Context: cli, and the
 * launcher at the program's end. */
int pie_summary_findings_print(const struct pie_finding_screen *screen, char **ret_message);
