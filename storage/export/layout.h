/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "storage/export/part.h"

/* Where the nodes of a part begin when they are drawn side by side: each at its parent's start or behind the siblings
 * before it. Context: cli. */

typedef void (*pie_layout_fn)(void *data, uint32_t node, uint32_t depth, int64_t start);

/* depth is 0 for roots, and start is `origin` for the first of them. Returns 0 or -ENOMEM. */
int pie_layout_each(const struct pie_calltree *tree, const struct pie_part *part, int64_t origin, void *data,
                    pie_layout_fn take);
