/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "launcher/answers/finding.h"

/* The summary's parts about memory. Both return 0, or -errno and a message (heap). Context: cli, launcher (at exit). */

/* The memory at the peak and its owners in one line, and the parts that were not measured. Prints nothing if memory
 * was not measured. */
int pie_summary_memory_print(const struct pie_finding_screen *screen, char **ret_message);

/* Leaks, and the line that copies so much that it takes time: at most three lines after a blank one. *ret_count: how
 * many were printed. */
int pie_summary_leaks_print(const struct pie_finding_screen *screen, size_t *ret_count, char **ret_message);
