/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "storage/base/message.h"
#include "storage/base/utf8.h"
#include "storage/formats/common.h"
#include "storage/formats/formats.h"

/* RFC 4180: a record for each line of a function that has a cost of its own or below it, the costliest first. */

static void write_field(FILE *out, const char *text) {
    size_t size = text ? strlen(text) : 0;
    char *clean = malloc(3 * size + 1);
    if (!text || !clean) {
        free(clean);
        return;
    }
    clean[pie_utf8_clean(clean, text, size)] = 0;
    bool is_quoted = clean[strcspn(clean, ",\"\r\n")] != 0;
    fputs(is_quoted ? "\"" : "", out);
    for (const char *c = clean; *c; c++) {
        if (*c == '"')
            fputc('"', out);
        fputc(*c, out);
    }
    fputs(is_quoted ? "\"" : "", out);
    free(clean);
}

static void write_header(FILE *out, const struct pie_graph *graph) {
    fputs("kind,function,file,line,first_line,library,module", out);
    for (int i = 0; i < graph->metric_count; i++) {
        const char *name = graph->metrics[i]->name, *unit = pie_export_unit(graph->metrics[i]);
        const char *join = *unit ? "_" : "";
        fprintf(out, ",%s_self%s%s,%s_total%s%s", name, join, unit, name, join, unit);
    }
    fputs("\r\n", out);
}

static void write_number(FILE *out, int64_t number) {
    if (number > 0)
        fprintf(out, "%lld", (long long)number);
}

static void write_record(FILE *out, const struct pie_graph *graph, uint32_t index) {
    const struct pie_calltree_frame *frame = &graph->tree->frames[index];
    fputs(frame->kind == PIE_LOCATION_NATIVE ? "native," : "python,", out);
    write_field(out, frame->function);
    fputc(',', out);
    write_field(out, frame->file);
    fputc(',', out);
    write_number(out, frame->line);
    fputc(',', out);
    write_number(out, frame->first_line);
    fputc(',', out);
    write_field(out, frame->library);
    fputc(',', out);
    write_field(out, frame->module);
    for (int i = 0; i < graph->metric_count; i++) {
        fputc(',', out);
        pie_export_write_cost(out, graph->metrics[i], graph->self[i][index]);
        fputc(',', out);
        pie_export_write_cost(out, graph->metrics[i], graph->total[i][index]);
    }
    fputs("\r\n", out);
}

int pie_export_csv(FILE *out, struct pie_reader *reader, const struct pie_export_choice *choice,
                   char **ret_message) {
    struct pie_graph graph;
    struct pie_calltree *tree;
    uint32_t count = 0;
    int r = pie_export_load_graph(reader, choice, PIE_CALLTREE_LINES, &tree, &graph, ret_message);
    if (r < 0)
        return r;
    uint32_t *order = pie_graph_order(&graph, &count);
    if (!order)
        r = pie_message(-ENOMEM, ret_message, "out of memory");
    else
        write_header(out, &graph);
    for (uint32_t i = 0; i < count; i++)
        write_record(out, &graph, order[i]);
    free(order);
    pie_graph_finish(&graph);
    pie_calltree_destroy(tree);
    return r;
}
