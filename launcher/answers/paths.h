/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "launcher/answers/finding.h"

/* Prints the two call paths of a pair, as PieProf's Figure 7 does: innermost frame first, native frames with library
 * and offset, Python frames with source and place. Returns 0, or -ENOMEM. Context: cli. */
int pie_paths_print(const struct pie_finding_screen *screen, const struct pie_finding *pair);
