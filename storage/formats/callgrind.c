/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/base/u64map.h"
#include "storage/base/message.h"
#include "storage/formats/common.h"
#include "storage/formats/formats.h"

/* https://valgrind.org/docs/manual/cl-format.html: each line of a function with its own costs, and the calls it makes
 * with all they cost. Calls are not counted: their number is that of the samples in which they were seen. A call of a
 * function by itself is left out, since its cost is in the function's already. Names are compressed: "(id) name" at
 * first, then "(id)". */

struct export {
    FILE *out;
    const struct pie_graph *graph;
    int samples;                      /* index of that metric, or -1 */
    struct pie_u64map objects, files; /* text -> id */
    bool *is_named;                   /* by frame of a whole function */
    const uint32_t *edges;            /* by caller */
    uint32_t edge_count;
    uint32_t function; /* whose lines are written + 1 */
    int error;
};

static void write_clean(FILE *out, const char *text) {
    char *copy = strdup(text), *clean = copy ? pie_export_clean(copy) : NULL;
    fputs(clean && *clean ? clean : "???", out);
    free(clean);
}

/* Texts that are equal are one (calltree_frames.h); objects and files are numbered apart. */
static void write_path(struct export *export, struct pie_u64map *ids, const char *key, const char *path) {
    static const char unknown[] = "???";
    const char *text = path && *path ? path : unknown;
    uint32_t id = pie_u64map_get(ids, (uintptr_t)text);
    fprintf(export->out, "%s=", key);
    if (id) {
        fprintf(export->out, "(%u)\n", id);
        return;
    }
    id = (uint32_t)ids->count + 1;
    if (pie_u64map_put(ids, (uintptr_t)text, id) < 0)
        export->error = -ENOMEM;
    fprintf(export->out, "(%u) ", id);
    write_clean(export->out, text);
    fputc('\n', export->out);
}

static void write_function(struct export *export, const char *key, uint32_t whole) {
    fprintf(export->out, "%s=(%u)", key, whole + 1);
    if (!export->is_named[whole]) {
        fputc(' ', export->out);
        write_clean(export->out, pie_export_function(&export->graph->tree->frames[whole]));
        export->is_named[whole] = true;
    }
    fputc('\n', export->out);
}

/* The line, or the function's first one, or 0. */
static long long line_of(const struct pie_calltree_frame *frame) {
    int64_t line = frame->line > 0 ? frame->line : frame->first_line;
    return line > 0 ? line : 0;
}

/* Of an edge, or of a frame if that is 0. */
static void write_costs(const struct export *export, long long line, uint32_t frame, uint32_t edge) {
    const struct pie_graph *graph = export->graph;
    fprintf(export->out, "%lld", line);
    for (int i = 0; i < graph->metric_count; i++)
        fprintf(export->out, " %lld",
                (long long)(edge ? pie_graph_edge_total(graph, edge, i) : graph->self[i][frame]));
    fputc('\n', export->out);
}

static void write_call(struct export *export, uint32_t index) {
    const struct pie_graph_edge *edge = &export->graph->edges[index];
    const struct pie_calltree_frame *frames = export->graph->tree->frames;
    const struct pie_calltree_frame *callee = &frames[edge->callee];
    long long samples =
        export->samples >= 0 ? pie_graph_edge_total(export->graph, index, export->samples) : 0;
    write_path(export, &export->objects, "cob", callee->module);
    write_path(export, &export->files, "cfi", callee->file);
    write_function(export, "cfn", edge->callee);
    fprintf(export->out, "calls=%lld %lld\n", samples, line_of(callee));
    write_costs(export, line_of(&frames[edge->caller]), 0, index);
}

/* Frames come by function, and edges in the order of frames. */
static void write_frame(struct export *export, uint32_t frame) {
    const struct pie_graph *graph = export->graph;
    const struct pie_calltree_frame *about = &graph->tree->frames[frame];
    if (export->function != about->whole + 1) {
        fputc('\n', export->out);
        write_path(export, &export->objects, "ob", about->module);
        write_path(export, &export->files, "fl", about->file);
        write_function(export, "fn", about->whole);
        export->function = about->whole + 1;
    }
    write_costs(export, line_of(about), frame, 0);
}

/* The first edge of this caller among the sorted ones. */
static uint32_t find_edges(const struct export *export, uint32_t caller) {
    uint32_t low = 0, high = export->edge_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (export->graph->edges[export->edges[middle]].caller < caller)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int compare_functions(const void *a, const void *b, void *data) {
    const struct pie_calltree_frame *frames = data;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (frames[x].whole != frames[y].whole)
        return frames[x].whole < frames[y].whole ? -1 : 1;
    return frames[x].line < frames[y].line ? -1 : frames[x].line > frames[y].line;
}

static void write_frames(struct export *export, uint32_t *order, uint32_t count) {
    const struct pie_graph *graph = export->graph;
    qsort_r(order, count, sizeof *order, compare_functions, graph->tree->frames);
    for (uint32_t i = 0; i < count; i++) {
        write_frame(export, order[i]);
        for (uint32_t at = find_edges(export, order[i]);
             at < export->edge_count && graph->edges[export->edges[at]].caller == order[i]; at++)
            write_call(export, export->edges[at]);
    }
}

static void write_header(const struct export *export, int64_t run) {
    static const char *const units[] = {
        [PIE_METRIC_NS] = "ns", [PIE_METRIC_BYTES] = "bytes", [PIE_METRIC_COUNT] = "number"};
    const struct pie_graph *graph = export->graph;
    fprintf(export->out, "# callgrind format\nversion: 1\ncreator: pieprof %s\ncmd: pieprof run %lld\n",
            PIEPROF_VERSION, (long long)run);
    for (int i = 0; i < graph->metric_count; i++)
        fprintf(export->out, "event: %s : %s (%s)\n", graph->metrics[i]->name, graph->metrics[i]->what,
                units[graph->metrics[i]->unit]);
    fputs("positions: line\nevents:", export->out);
    for (int i = 0; i < graph->metric_count; i++)
        fprintf(export->out, " %s", graph->metrics[i]->name);
    fputs("\nsummary:", export->out);
    for (int i = 0; i < graph->metric_count; i++)
        fprintf(export->out, " %lld", (long long)graph->sum[i]);
    fputc('\n', export->out);
}

static int write_all(struct export *export, int64_t run) {
    const struct pie_graph *graph = export->graph;
    uint32_t count = 0, *order = pie_graph_order(graph, &count), *edges = pie_graph_edges(graph, false);
    export->is_named = calloc((size_t)graph->tree->frame_count + 1, sizeof *export->is_named);
    export->edges = edges;
    export->edge_count = graph->edge_count - 1;
    for (int i = 0; i < graph->metric_count; i++) {
        if (strcmp(graph->metrics[i]->name, "samples") == 0)
            export->samples = i;
    }
    if (!order || !edges || !export->is_named)
        export->error = -ENOMEM;
    if (export->error == 0) {
        write_header(export, run);
        write_frames(export, order, count);
    }
    free(order);
    free(edges);
    free(export->is_named);
    pie_u64map_finish(&export->objects);
    pie_u64map_finish(&export->files);
    return export->error;
}

int pie_export_callgrind(FILE *out, struct pie_reader *reader, const struct pie_export_choice *choice,
                         char **ret_message) {
    struct pie_graph graph;
    struct pie_calltree *tree;
    int r = pie_export_load_graph(reader, choice, PIE_CALLTREE_LINES, &tree, &graph, ret_message);
    if (r < 0)
        return r;
    struct export export = {.out = out, .graph = &graph, .samples = -1};
    r = write_all(&export, choice->run);
    if (r < 0)
        (void)pie_message(r, ret_message, "out of memory");
    pie_graph_finish(&graph);
    pie_calltree_destroy(tree);
    return r;
}
