/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/formats/common.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "storage/base/message.h"
#include "storage/base/utf8.h"
#include "storage/read/reader.h"

char *pie_export_clean(char *text) {
    size_t size = strlen(text);
    char *clean = malloc(3 * size + 1), *fit = NULL;
    if (clean) {
        size = pie_utf8_clean(clean, text, size);
        clean[size] = 0;
        fit = realloc(clean, size + 1); /* there may be as many names as functions */
    }
    clean = fit ? fit : clean;
    for (char *c = clean; c && *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
        else if (*c == ';')
            *c = ':';
    }
    free(text);
    return clean;
}

static const char *base_name(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

char *pie_export_frame_name(const struct pie_calltree *tree, uint32_t index) {
    const struct pie_calltree_frame *frame = &tree->frames[index];
    const char *function = pie_export_function(frame);
    const char *place = base_name(frame->kind == PIE_LOCATION_NATIVE ? frame->module : frame->file);
    char *name;
    int size;
    if (!place)
        size = asprintf(&name, "%s", function);
    else if (frame->kind == PIE_LOCATION_PYTHON && frame->first_line > 0)
        size = asprintf(&name, "%s (%s:%lld)", function, place, (long long)frame->first_line);
    else
        size = asprintf(&name, "%s (%s)", function, place);
    return size < 0 ? NULL : pie_export_clean(name);
}

void pie_export_free_names(const struct pie_calltree *tree, char **names) {
    for (uint32_t i = 0; names && i < tree->frame_count; i++)
        free(names[i]);
    free(names);
}

char **pie_export_frame_names(const struct pie_calltree *tree) {
    char **names = calloc((size_t)tree->frame_count + 1, sizeof *names);
    for (uint32_t i = 0; names && i < tree->frame_count; i++) {
        names[i] = pie_export_frame_name(tree, i);
        if (!names[i]) {
            pie_export_free_names(tree, names);
            return NULL;
        }
    }
    return names;
}

const char *pie_export_file(const struct pie_calltree_frame *frame) {
    return frame->file ? frame->file : frame->module;
}

const char *pie_export_function(const struct pie_calltree_frame *frame) {
    return frame->function ? frame->function : "?";
}

/* 1: the run has some of it, 0: not, or -errno and a message. */
static int has_any(struct pie_reader *reader, int64_t run, const struct pie_metric *metric,
                   char **ret_message) {
    struct pie_cursor *cursor;
    char *sql = pie_metric_sql(metric, false);
    if (!sql)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    int r = pie_cursor_open(reader, sql, &cursor, ret_message);
    free(sql);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", run);
    r = pie_cursor_next(cursor, ret_message);
    pie_cursor_close(cursor);
    return r;
}

static int say_missing(struct pie_reader *reader, int64_t run, const struct pie_metric *metric,
                       char **ret_message) {
    bool is_measured = false;
    int r = pie_metric_is_measured(reader, run, metric, &is_measured, ret_message);
    if (r < 0)
        return r;
    if (!is_measured)
        return pie_message(-ENODATA, ret_message, "run %lld did not measure %s", (long long)run,
                           metric->what);
    return pie_message(-ENODATA, ret_message, "run %lld has no %s to export", (long long)run, metric->what);
}

int pie_export_metric(struct pie_reader *reader, const struct pie_export_choice *choice,
                      const struct pie_metric **ret_metric, char **ret_message) {
    const struct pie_metric *metric = choice->metric ? choice->metric : pie_metric_find("cpu");
    int r = has_any(reader, choice->run, metric, ret_message);
    if (r > 0)
        *ret_metric = metric;
    return r > 0 ? 0 : r < 0 ? r : say_missing(reader, choice->run, metric, ret_message);
}

int pie_export_metrics(struct pie_reader *reader, const struct pie_export_choice *choice,
                       const struct pie_metric *ret_metrics[PIE_GRAPH_METRICS_MAX], char **ret_message) {
    size_t count;
    const struct pie_metric *all = pie_metric_all(&count);
    int found = 0, r = 0;
    if (choice->metric) {
        r = pie_export_metric(reader, choice, &ret_metrics[0], ret_message);
        return r < 0 ? r : 1;
    }
    for (size_t i = 0; i < count && found < PIE_GRAPH_METRICS_MAX; i++) {
        r = has_any(reader, choice->run, &all[i], ret_message);
        if (r < 0)
            return r;
        if (r > 0)
            ret_metrics[found++] = &all[i];
    }
    return found
               ? found
               : pie_message(-ENODATA, ret_message, "run %lld has nothing to export", (long long)choice->run);
}

int pie_export_load_tree(struct pie_reader *reader, const struct pie_export_choice *choice,
                         enum pie_calltree_detail more, const struct pie_metric **ret_metric,
                         struct pie_calltree **ret_tree, char **ret_message) {
    int r = pie_export_metric(reader, choice, ret_metric, ret_message);
    return r < 0 ? r : pie_calltree_load(reader, choice->run, choice->detail | more, ret_tree, ret_message);
}

int pie_export_load_graph(struct pie_reader *reader, const struct pie_export_choice *choice,
                          enum pie_calltree_detail more, struct pie_calltree **ret_tree,
                          struct pie_graph *ret_graph, char **ret_message) {
    const struct pie_metric *metrics[PIE_GRAPH_METRICS_MAX];
    struct pie_calltree *tree;
    int count = pie_export_metrics(reader, choice, metrics, ret_message);
    if (count < 0)
        return count;
    int r = pie_calltree_load(reader, choice->run, choice->detail | more, &tree, ret_message);
    if (r < 0)
        return r;
    r = pie_graph_make(reader, tree, choice->run, metrics, count, ret_graph, ret_message);
    if (r == 0)
        *ret_tree = tree;
    else
        pie_calltree_destroy(tree);
    return r;
}

uint32_t pie_export_path(const struct pie_calltree *tree, uint32_t node, uint32_t *path) {
    uint32_t depth = 0;
    for (uint32_t at = node; at != 0; at = tree->nodes[at].parent)
        path[depth++] = tree->nodes[at].frame;
    return depth;
}

void pie_export_write_seconds(FILE *out, int64_t ns) {
    fprintf(out, "%lld.%09lld", (long long)(ns / 1000000000), (long long)(ns % 1000000000));
}

void pie_export_write_cost(FILE *out, const struct pie_metric *metric, int64_t value) {
    if (metric->unit == PIE_METRIC_NS)
        pie_export_write_seconds(out, value);
    else
        fprintf(out, "%lld", (long long)value);
}

const char *pie_export_unit(const struct pie_metric *metric) {
    switch (metric->unit) {
    case PIE_METRIC_NS:
        return "s";
    case PIE_METRIC_BYTES:
        return "bytes";
    case PIE_METRIC_COUNT:
        return "";
    }
    return "";
}
