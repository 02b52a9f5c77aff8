/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "storage/base/message.h"
#include "storage/export/part.h"
#include "storage/export/tracks.h"
#include "storage/formats/common.h"
#include "storage/formats/formats.h"

/* One line for each context: its frames from the outermost on, separated by ';', a blank, and what it costs itself: in
 * whole microseconds, bytes or samples. Read by flamegraph.pl, inferno, speedscope and others. */

struct export {
    FILE *out;
    const struct pie_calltree *tree;
    const struct pie_metric *metric;
    const struct pie_tracks *tracks; /* NULL: no frames of processes and threads */
    char **names;
    uint32_t *path; /* has room for the deepest node */
};

static long long weight_of(const struct export *export, int64_t cost) {
    return export->metric->unit == PIE_METRIC_NS ? cost / 1000 + (cost % 1000 >= 500) : cost;
}

/* "process;thread;", or nothing. Heap, or NULL. */
static char *make_start(const struct export *export, const struct pie_part *part) {
    char *process = NULL, *thread = NULL, *start = NULL;
    if (!export->tracks)
        return calloc(1, 1);
    if ((process = pie_tracks_process_name(export->tracks, part->process)))
        process = pie_export_clean(process);
    if (part->thread && (thread = pie_tracks_thread_name(export->tracks, part->process, part->thread)))
        thread = pie_export_clean(thread);
    int size = asprintf(&start, "%s;%s%s", process ? process : "?", thread ? thread : "", thread ? ";" : "");
    free(process);
    free(thread);
    return size < 0 ? NULL : start;
}

static int take_part(void *data, const struct pie_part *part) {
    struct export *export = data;
    char *start = make_start(export, part);
    for (uint32_t i = 0; start && i < part->count; i++) {
        uint32_t node = part->nodes[i], depth = pie_export_path(export->tree, node, export->path);
        long long weight = weight_of(export, part->self[node]);
        if (weight == 0)
            continue;
        fputs(start, export->out);
        while (depth > 0) {
            fputs(export->names[export->path[--depth]], export->out);
            fputc(depth > 0 ? ';' : ' ', export->out);
        }
        fprintf(export->out, "%lld\n", weight);
    }
    free(start);
    return start ? 0 : -ENOMEM;
}

static int write_all(struct export *export, struct pie_reader *reader, const struct pie_export_choice *choice,
                     char **ret_message) {
    struct pie_tracks tracks = {0};
    enum pie_part_by by = choice->has_threads ? PIE_PART_THREAD : PIE_PART_ALL;
    int r = choice->has_threads ? pie_tracks_load(reader, choice->run, &tracks, ret_message) : 0;
    export->tracks = choice->has_threads ? &tracks : NULL;
    if (r == 0)
        r = pie_parts_each(reader, export->tree, choice->run, export->metric, by, export, take_part,
                           ret_message);
    pie_tracks_finish(&tracks);
    return r;
}

int pie_export_collapsed(FILE *out, struct pie_reader *reader, const struct pie_export_choice *choice,
                         char **ret_message) {
    struct export export = {.out = out};
    struct pie_calltree *tree = NULL;
    int r = pie_export_load_tree(reader, choice, 0, &export.metric, &tree, ret_message);
    if (r < 0)
        return r;
    export.tree = tree;
    export.names = pie_export_frame_names(tree);
    export.path = calloc(tree->node_count, sizeof *export.path);
    if (export.names && export.path)
        r = write_all(&export, reader, choice, ret_message);
    else
        r = pie_message(-ENOMEM, ret_message, "out of memory");
    free(export.path);
    pie_export_free_names(tree, export.names);
    pie_calltree_destroy(tree);
    return r;
}
