/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "launcher/answers/finding.h"

/* The report's section about redundant loads and stores: findings of severity high, then low, each with evidence and
 * advice; with `all` also those beyond the first few low ones. Nothing where there are none. Returns 0, or -errno and a
 * message (heap). Context: cli. */
int pie_report_findings_print(const struct pie_finding_screen *screen, bool all, char **ret_message);
