/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "launcher/answers/finding.h"

/* The summary's part about learned loops: that with most time, what is known of it and its costliest calls, after a
 * blank line and in at most `lines` lines, but always what is known. Nothing where none was learned. Returns 0, or
 * -errno and a message (heap). Context: cli, launcher (at exit). */
int pie_summary_learned_print(const struct pie_finding_screen *screen, size_t lines, char **ret_message);
