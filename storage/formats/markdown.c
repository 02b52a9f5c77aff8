/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "storage/base/message.h"
#include "storage/formats/common.h"
#include "storage/formats/formats.h"

/* A table for an issue, a pull request or notes: the functions with the greatest cost of their own. */

enum { ROWS = 20 };

/* A span of code, in which Markdown takes nothing for its own but '|' and as many '`' as it began with. */
static void write_code(FILE *out, const char *text) {
    size_t longest = 0;
    for (const char *c = text; *c; c++) {
        size_t run = strspn(c, "`");
        longest = run > longest ? run : longest;
        c += run ? run - 1 : 0;
    }
    for (size_t i = 0; i <= longest; i++)
        fputc('`', out);
    fputs(longest ? " " : "", out);
    for (; *text; text++) {
        if (*text == '|')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputs(longest ? " " : "", out);
    for (size_t i = 0; i <= longest; i++)
        fputc('`', out);
}

static void write_cost(FILE *out, const struct pie_metric *metric, int64_t value) {
    if (metric->unit == PIE_METRIC_NS)
        fprintf(out, "%.3f s", (double)value / 1e9);
    else if (metric->unit == PIE_METRIC_BYTES)
        fprintf(out, "%.1f MB", (double)value / 1e6);
    else
        fprintf(out, "%lld", (long long)value);
}

static int write_row(FILE *out, const struct pie_graph *graph, uint32_t frame) {
    char *name = pie_export_frame_name(graph->tree, frame);
    if (!name)
        return -ENOMEM;
    fputs("| ", out);
    write_cost(out, graph->metrics[0], graph->self[0][frame]);
    fprintf(out, " | %.1f %% | ", 100.0 * (double)graph->self[0][frame] / (double)graph->sum[0]);
    write_cost(out, graph->metrics[0], graph->total[0][frame]);
    fputs(" | ", out);
    write_code(out, name);
    fputs(" |\n", out);
    free(name);
    return 0;
}

static int write_table(FILE *out, const struct pie_graph *graph, int64_t run) {
    uint32_t count = 0;
    uint32_t *order = pie_graph_order(graph, &count);
    int r = order ? 0 : -ENOMEM;
    fprintf(out, "Run %lld, %s: ", (long long)run, graph->metrics[0]->what);
    write_cost(out, graph->metrics[0], graph->sum[0]);
    fputs("\n\n| self | share | total | function |\n|--:|--:|--:|:--|\n", out);
    for (uint32_t i = 0; i < count && i < ROWS && r == 0; i++)
        r = write_row(out, graph, order[i]);
    if (count > ROWS)
        fprintf(out, "\n%u more functions\n", count - ROWS);
    free(order);
    return r;
}

int pie_export_markdown(FILE *out, struct pie_reader *reader, const struct pie_export_choice *choice,
                        char **ret_message) {
    struct pie_export_choice one = *choice;
    struct pie_graph graph;
    struct pie_calltree *tree;
    int r = pie_export_metric(reader, choice, &one.metric, ret_message);
    if (r == 0)
        r = pie_export_load_graph(reader, &one, 0, &tree, &graph, ret_message);
    if (r < 0)
        return r;
    if (write_table(out, &graph, choice->run) < 0)
        r = pie_message(-ENOMEM, ret_message, "out of memory");
    pie_graph_finish(&graph);
    pie_calltree_destroy(tree);
    return r;
}
