/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "storage/base/message.h"
#include "storage/formats/common.h"
#include "storage/formats/formats.h"
#include "storage/formats/marshal.h"

/* What cProfile saves: {function: (primitive calls, calls, own seconds, seconds, {caller: (calls, primitive calls, own
 * seconds, seconds)})}, a function being (file, line, name). Calls are not counted: their number is that of the samples
 * in which the function was seen. */

enum { CPU, SAMPLES, METRIC_COUNT };

struct export {
    FILE *out;
    const struct pie_graph *graph;
    char **names;
    const uint32_t *edges; /* by callee */
    uint32_t next;         /* edge to write */
};

/* Native functions have their module in the name, so that none are alike. */
static void write_key(const struct export *export, uint32_t index) {
    const struct pie_calltree_frame *frame = &export->graph->tree->frames[index];
    const char *file = pie_export_file(frame);
    pie_marshal_begin_tuple(export->out, 3);
    pie_marshal_write_text(export->out, file ? file : "~");
    pie_marshal_write_int(export->out, frame->first_line > 0 ? frame->first_line : 0);
    pie_marshal_write_text(export->out, frame->kind == PIE_LOCATION_NATIVE ? export->names[index]
                                                                           : pie_export_function(frame));
}

static void write_figures(FILE *out, int64_t samples, int64_t self_ns, int64_t total_ns) {
    pie_marshal_write_int(out, samples);
    pie_marshal_write_int(out, samples);
    pie_marshal_write_float(out, (double)self_ns / 1e9);
    pie_marshal_write_float(out, (double)total_ns / 1e9);
}

static void write_callers(struct export *export, uint32_t frame) {
    const struct pie_graph *graph = export->graph;
    pie_marshal_begin_dict(export->out);
    for (; export->next < graph->edge_count - 1; export->next++) {
        uint32_t index = export->edges[export->next];
        const struct pie_graph_edge *edge = &graph->edges[index];
        if (edge->callee > frame)
            break;
        if (edge->callee < frame)
            continue;
        write_key(export, edge->caller);
        pie_marshal_begin_tuple(export->out, 4);
        write_figures(export->out, pie_graph_edge_total(graph, index, SAMPLES),
                      pie_graph_edge_self(graph, index, CPU), pie_graph_edge_total(graph, index, CPU));
    }
    pie_marshal_end_dict(export->out);
}

static void write_all(struct export *export) {
    const struct pie_graph *graph = export->graph;
    pie_marshal_begin_dict(export->out);
    for (uint32_t frame = 0; frame < graph->tree->frame_count; frame++) {
        if (graph->total[CPU][frame] == 0)
            continue;
        write_key(export, frame);
        pie_marshal_begin_tuple(export->out, 5);
        write_figures(export->out, graph->total[SAMPLES][frame], graph->self[CPU][frame],
                      graph->total[CPU][frame]);
        write_callers(export, frame);
    }
    pie_marshal_end_dict(export->out);
}

static int export_tree(FILE *out, struct pie_reader *reader, int64_t run, const struct pie_calltree *tree,
                       char **ret_message) {
    const struct pie_metric *const metrics[METRIC_COUNT] = {
        [CPU] = pie_metric_find("cpu"), [SAMPLES] = pie_metric_find("samples")};
    struct pie_graph graph;
    int r = pie_graph_make(reader, tree, run, metrics, METRIC_COUNT, &graph, ret_message);
    if (r < 0)
        return r;
    uint32_t *edges = pie_graph_edges(&graph, true);
    struct export export = {
        .out = out, .graph = &graph, .names = pie_export_frame_names(tree), .edges = edges};
    if (edges && export.names)
        write_all(&export);
    else
        r = pie_message(-ENOMEM, ret_message, "out of memory");
    free(edges);
    pie_export_free_names(tree, export.names);
    pie_graph_finish(&graph);
    return r;
}

int pie_export_pstats(FILE *out, struct pie_reader *reader, const struct pie_export_choice *choice,
                      char **ret_message) {
    const struct pie_metric *metric;
    struct pie_calltree *tree;
    int r = pie_export_load_tree(reader, choice, 0, &metric, &tree, ret_message);
    if (r < 0)
        return r;
    r = export_tree(out, reader, choice->run, tree, ret_message);
    pie_calltree_destroy(tree);
    return r;
}
