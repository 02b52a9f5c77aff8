/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "storage/export/calltree.h"

/* The node after `node` in the order in which each comes before its children; 0: there is none. Begin with 0.
 * Context: cli. */
uint32_t pie_walk_next(const struct pie_calltree *tree, uint32_t node);
