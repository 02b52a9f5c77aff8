/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "launcher/answers/finding.h"

/* The report's parts about memory: the peak and both curves of the process that had most, then the leaks with what
 * holds them. Nothing where memory was not measured. Returns 0, or -errno and a message (heap). Context: cli. */
int pie_report_memory_print(const struct pie_finding_screen *screen, char **ret_message);
