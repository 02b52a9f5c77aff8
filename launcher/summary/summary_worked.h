/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "launcher/answers/finding.h"

/* The summary's line about threads without Python frames (OpenMP, BLAS, rayon) and the lines of own code that waited
 * for them meanwhile (heap). NULL where they worked for less than 5 % of the run's CPU time. Returns 0, or -errno and a
 * message (heap). Context: cli, launcher (at exit). */
int pie_summary_worked_text(const struct pie_finding_screen *screen, char **ret_text, char **ret_message);
