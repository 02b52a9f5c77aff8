/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/export/walk.h"

uint32_t pie_walk_next(const struct pie_calltree *tree, uint32_t node) {
    if (tree->nodes[node].first_child)
        return tree->nodes[node].first_child;
    while (node != 0 && tree->nodes[node].next_sibling == 0)
        node = tree->nodes[node].parent;
    return node ? tree->nodes[node].next_sibling : 0;
}
