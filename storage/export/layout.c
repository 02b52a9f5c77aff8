/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/export/layout.h"

#include <errno.h>
#include <stdlib.h>

int pie_layout_each(const struct pie_calltree *tree, const struct pie_part *part, int64_t origin, void *data,
                    pie_layout_fn take) {
    uint32_t *way = calloc((size_t)part->count + 1, sizeof *way), depth = 0;
    int64_t *starts = calloc((size_t)part->count + 1, sizeof *starts); /* of the next node, by depth */
    for (uint32_t i = 0; way && starts && i < part->count; i++) {
        uint32_t node = part->nodes[i];
        while (depth > 0 && way[depth - 1] != tree->nodes[node].parent)
            depth--;
        if (i == 0)
            starts[0] = origin;
        take(data, node, depth, starts[depth]);
        starts[depth + 1] = starts[depth];
        pie_calltree_add(&starts[depth], part->total[node]);
        way[depth++] = node;
    }
    int r = way && starts ? 0 : -ENOMEM;
    free(way);
    free(starts);
    return r;
}
