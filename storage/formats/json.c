/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "storage/base/message.h"
#include "storage/export/part.h"
#include "storage/formats/common.h"
#include "storage/formats/formats.h"
#include "storage/formats/json_text.h"

/* The call tree in columns: "nodes" has a parent (an index below the node's own, or null) and a frame for each node,
 * and "self" the costs of each metric. docs/exports.md describes it. */

struct export {
    FILE *out;
    const struct pie_calltree *tree;
};

static void write_frame(FILE *out, const struct pie_calltree_frame *frame) {
    const struct {
        const char *key, *text;
    } texts[] = {{"function", frame->function},
                 {"file", frame->file},
                 {"library", frame->library},
                 {"module", frame->module}};
    fprintf(out, "{\"kind\":\"%s\"", frame->kind == PIE_LOCATION_NATIVE ? "native" : "python");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        fprintf(out, ",\"%s\":", texts[i].key);
        pie_json_write_text(out, texts[i].text);
    }
    fputs(",\"line\":", out);
    frame->line > 0 ? fprintf(out, "%lld", (long long)frame->line) : fputs("null", out);
    fputs(",\"first_line\":", out);
    frame->first_line > 0 ? fprintf(out, "%lld", (long long)frame->first_line) : fputs("null", out);
    fputc('}', out);
}

static void write_tree(const struct export *export) {
    const struct pie_calltree *tree = export->tree;
    fputs("\"frames\":[", export->out);
    for (uint32_t i = 0; i < tree->frame_count; i++) {
        fputs(i ? ",\n" : "\n", export->out);
        write_frame(export->out, &tree->frames[i]);
    }
    fprintf(export->out, "],\n\"nodes\":{\"count\":%u,\n\"parent\":[", tree->node_count - 1);
    for (uint32_t i = 1; i < tree->node_count; i++) {
        fputs(i > 1 ? "," : "", export->out);
        tree->nodes[i].parent ? fprintf(export->out, "%u", tree->nodes[i].parent - 1)
                              : fputs("null", export->out);
    }
    fputs("],\n\"frame\":[", export->out);
    for (uint32_t i = 1; i < tree->node_count; i++)
        fprintf(export->out, "%s%u", i > 1 ? "," : "", tree->nodes[i].frame);
    fputs("]}", export->out);
}

static int take_part(void *data, const struct pie_part *part) {
    struct export *export = data;
    for (uint32_t i = 1; i < export->tree->node_count; i++)
        fprintf(export->out, "%s%lld", i > 1 ? "," : "", (long long)part->self[i]);
    return 0;
}

static void write_metrics(FILE *out, const struct pie_metric *const *metrics, int count) {
    static const char *const units[] = {
        [PIE_METRIC_NS] = "ns", [PIE_METRIC_BYTES] = "bytes", [PIE_METRIC_COUNT] = "count"};
    fputs("\"metrics\":[", out);
    for (int i = 0; i < count; i++)
        fprintf(out, "%s\n{\"name\":\"%s\",\"what\":\"%s\",\"unit\":\"%s\"}", i ? "," : "", metrics[i]->name,
                metrics[i]->what, units[metrics[i]->unit]);
    fputs("],\n", out);
}

static int write_all(struct export *export, struct pie_reader *reader, int64_t run,
                     const struct pie_metric *const *metrics, int count, char **ret_message) {
    int r = 0;
    fprintf(export->out, "{\"schema\":1,\"exporter\":\"pieprof %s\",\"run\":%lld,\n", PIEPROF_VERSION,
            (long long)run);
    write_metrics(export->out, metrics, count);
    write_tree(export);
    fputs(",\n\"self\":{", export->out);
    for (int i = 0; i < count && r == 0; i++) {
        fprintf(export->out, "%s\n\"%s\":[", i ? "," : "", metrics[i]->name);
        r = pie_parts_each(reader, export->tree, run, metrics[i], PIE_PART_ALL, export, take_part,
                           ret_message);
        fputc(']', export->out);
    }
    fputs("}}\n", export->out);
    return r;
}

int pie_export_json(FILE *out, struct pie_reader *reader, const struct pie_export_choice *choice,
                    char **ret_message) {
    const struct pie_metric *metrics[PIE_GRAPH_METRICS_MAX];
    struct pie_calltree *tree;
    int count = pie_export_metrics(reader, choice, metrics, ret_message);
    int r = count < 0 ? count
                      : pie_calltree_load(reader, choice->run, choice->detail | PIE_CALLTREE_LINES, &tree,
                                          ret_message);
    if (r < 0)
        return r;
    struct export export = {.out = out, .tree = tree};
    r = write_all(&export, reader, choice->run, metrics, count, ret_message);
    pie_calltree_destroy(tree);
    return r;
}
