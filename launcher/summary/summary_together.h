/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "launcher/answers/finding.h"

/* What fixes of all wasteful lines save together. Context: cli, launcher (at exit). */

/* "3 lines together: 66 % of the run wasted (1.64 s, 1.31 to 2.48 s); time that they share counts once" of a row with
 * the columns of wasted_together (storage/read/shared_waste.h), no longer than the screen's width; heap, NULL where there is none. */
char *pie_summary_together_text(const struct pie_finding_screen *screen, struct pie_cursor *row);
