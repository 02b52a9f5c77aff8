/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "storage/export/calltree.h"
#include "storage/export/export.h"
#include "storage/base/message.h"

/* One line for each context: its frames from the outermost on, separated by ';', a blank, and the CPU time spent there
 * itself in whole microseconds. Read by flamegraph.pl, inferno, speedscope and others. */

static void free_names(char **names, uint32_t count) {
    for (uint32_t i = 0; names && i < count; i++)
        free(names[i]);
    free(names);
}

static char **make_names(const struct pie_calltree *tree) {
    char **names = calloc(tree->frame_count + 1, sizeof *names);
    for (uint32_t i = 0; names && i < tree->frame_count; i++) {
        names[i] = pie_export_frame_name(tree, i);
        if (!names[i]) {
            free_names(names, i);
            return NULL;
        }
    }
    return names;
}

/* path has room for the deepest node. */
static void write_stack(FILE *out, const struct pie_calltree *tree, char **names, uint32_t node,
                        uint32_t *path) {
    uint32_t depth = 0;
    for (uint32_t at = node; at != 0; at = tree->nodes[at].parent)
        path[depth++] = tree->nodes[at].frame;
    while (depth > 0) {
        fputs(names[path[--depth]], out);
        fputc(depth > 0 ? ';' : ' ', out);
    }
}

int pie_export_collapsed(FILE *out, struct pie_reader *reader, const struct pie_export_choice *choice,
                         char **ret_message) {
    struct pie_calltree *tree;
    int r = pie_export_load(reader, choice, &tree, ret_message);
    if (r < 0)
        return r;
    char **names = make_names(tree);
    uint32_t *path = calloc(tree->node_count, sizeof *path);
    if (!names || !path)
        r = pie_message(-ENOMEM, ret_message, "out of memory");
    for (uint32_t node = 0; r == 0 && (node = pie_export_next(tree, node)) != 0;) {
        long long ns = tree->self_cpu_ns[node], us = ns / 1000 + (ns % 1000 >= 500);
        if (us == 0)
            continue;
        write_stack(out, tree, names, node, path);
        fprintf(out, "%lld\n", us);
    }
    free(path);
    free_names(names, names ? tree->frame_count : 0);
    pie_calltree_destroy(tree);
    return r;
}
