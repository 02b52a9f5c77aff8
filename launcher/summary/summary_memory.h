/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "launcher/answers/finding.h"

/* The summary's parts about memory. Both return 0, or -errno and a message (heap). Context: cli, launcher (at exit). */

/* The memory at the peak and its owners in one line, and the parts that were not measured. Prints nothing if memory
 * was not measured. */
int pie_summary_memory_print(const struct pie_finding_screen *screen, char **ret_message);

/* Lines that have been printed after a blank one. */
struct pie_summary_above {
    size_t count;
    bool may_copy; /* copies may take time, and none was found needless */
};

/* Leaks and needless copies: at most three lines after a blank one. */
int pie_summary_leaks_print(const struct pie_finding_screen *screen, struct pie_summary_above *ret_above,
                            char **ret_message);

/* The line that copies so much that it takes time. Whether it is needless is not known, so it comes after what is. */
int pie_summary_copy_print(const struct pie_finding_screen *screen, struct pie_summary_above *above,
                           char **ret_message);
