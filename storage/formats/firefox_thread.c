/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/formats/firefox_thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "storage/export/calltree_rows.h"
#include "storage/formats/common.h"
#include "storage/formats/json_text.h"

/* Indexes into "categories" (firefox.c). */
enum { CATEGORY_OWN = 1, CATEGORY_LIBRARY = 2, CATEGORY_NATIVE = 3 };

static int init_list(struct pie_firefox_list *list, uint32_t count) {
    list->index_of = calloc((size_t)count + 1, sizeof *list->index_of);
    return list->index_of ? 0 : -ENOMEM;
}

int pie_firefox_thread_init(struct pie_firefox_thread *thread, const struct pie_calltree *tree,
                            const struct pie_firefox_libs *libs) {
    *thread = (struct pie_firefox_thread){.tree = tree, .libs = libs};
    if (init_list(&thread->stacks, tree->node_count) == 0 &&
        init_list(&thread->frames, tree->frame_count) == 0 &&
        init_list(&thread->functions, tree->frame_count) == 0)
        return 0;
    pie_firefox_thread_finish(thread);
    return -ENOMEM;
}

static void clear_list(struct pie_firefox_list *list) {
    for (uint32_t i = 0; i < list->count; i++)
        list->index_of[list->items[i]] = 0;
    free(list->items);
    list->items = NULL;
    list->count = 0;
}

void pie_firefox_thread_clear(struct pie_firefox_thread *thread) {
    clear_list(&thread->stacks);
    clear_list(&thread->frames);
    clear_list(&thread->functions);
    free(thread->samples);
    free(thread->strings);
    thread->samples = NULL;
    thread->strings = NULL;
    thread->sample_count = thread->string_count = 0;
    pie_u64map_finish(&thread->string_of);
    thread->string_of = (struct pie_u64map){0};
}

void pie_firefox_thread_finish(struct pie_firefox_thread *thread) {
    pie_firefox_thread_clear(thread);
    free(thread->stacks.index_of);
    free(thread->frames.index_of);
    free(thread->functions.index_of);
}

/* The item's index, made if it has none. */
static uint32_t get_index(struct pie_firefox_thread *thread, struct pie_firefox_list *list, uint32_t item) {
    if (list->index_of[item])
        return list->index_of[item] - 1;
    uint32_t *items = pie_calltree_grow(list->items, list->count, sizeof *items);
    if (!items) {
        thread->error = -ENOMEM;
        return 0;
    }
    list->items = items;
    items[list->count++] = item;
    list->index_of[item] = list->count;
    return list->count - 1;
}

static void list_stack(struct pie_firefox_thread *thread, uint32_t node) {
    uint32_t frame = thread->tree->nodes[node].frame;
    get_index(thread, &thread->stacks, node);
    get_index(thread, &thread->frames, frame);
    get_index(thread, &thread->functions, thread->tree->frames[frame].whole);
}

void pie_firefox_thread_add(struct pie_firefox_thread *thread, uint32_t node, int64_t ns, int64_t weight) {
    if (node)
        list_stack(thread, node);
    if (node && weight == 0) /* only on the way to others */
        return;
    struct pie_firefox_sample *samples =
        pie_calltree_grow(thread->samples, thread->sample_count, sizeof *samples);
    if (!samples) {
        thread->error = -ENOMEM;
        return;
    }
    thread->samples = samples;
    samples[thread->sample_count++] = (struct pie_firefox_sample){.ns = ns, .weight = weight, .node = node};
}

uint32_t pie_firefox_thread_string(struct pie_firefox_thread *thread, const char *text) {
    uint32_t index = pie_u64map_get(&thread->string_of, (uintptr_t)text);
    if (index)
        return index - 1;
    const char **strings = pie_calltree_grow(thread->strings, thread->string_count, sizeof *strings);
    if (!strings || pie_u64map_put(&thread->string_of, (uintptr_t)text, thread->string_count + 1) < 0) {
        thread->error = -ENOMEM;
        return 0;
    }
    thread->strings = strings;
    strings[thread->string_count] = text;
    return thread->string_count++;
}

void pie_firefox_write_ms(FILE *out, int64_t ns) {
    const char *sign = ns < 0 ? "-" : "";
    uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
    fprintf(out, "%s%llu.%06llu", sign, (unsigned long long)(size / 1000000),
            (unsigned long long)(size % 1000000));
}

/* A column of a table: what to write of each item. */
typedef void (*column_fn)(struct pie_firefox_thread *thread, FILE *out, uint32_t item);

static void write_column(struct pie_firefox_thread *thread, FILE *out, const char *name, uint32_t count,
                         const uint32_t *items, column_fn write) {
    fprintf(out, ",\"%s\":[", name);
    for (uint32_t i = 0; i < count; i++) {
        fputs(i ? "," : "", out);
        write(thread, out, items ? items[i] : i);
    }
    fputc(']', out);
}

static void write_index_or_null(FILE *out, uint32_t index_and_1) {
    index_and_1 ? fprintf(out, "%u", index_and_1 - 1) : fputs("null", out);
}

static void stack_of(struct pie_firefox_thread *thread, FILE *out, uint32_t sample) {
    write_index_or_null(out, thread->stacks.index_of[thread->samples[sample].node]);
}

static void time_of(struct pie_firefox_thread *thread, FILE *out, uint32_t sample) {
    pie_firefox_write_ms(out, thread->samples[sample].ns);
}

static void weight_of(struct pie_firefox_thread *thread, FILE *out, uint32_t sample) {
    fprintf(out, "%lld", (long long)thread->samples[sample].weight);
}

static void weight_ms_of(struct pie_firefox_thread *thread, FILE *out, uint32_t sample) {
    pie_firefox_write_ms(out, thread->samples[sample].weight);
}

static void write_samples(struct pie_firefox_thread *thread, FILE *out, const struct pie_metric *metric) {
    static const char *const types[] = {
        [PIE_METRIC_NS] = "tracing-ms", [PIE_METRIC_BYTES] = "bytes", [PIE_METRIC_COUNT] = "samples"};
    uint32_t count = thread->sample_count;
    fprintf(out, "\"samples\":{\"length\":%u,\"weightType\":\"%s\"", count, types[metric->unit]);
    write_column(thread, out, "stack", count, NULL, stack_of);
    write_column(thread, out, "time", count, NULL, time_of);
    write_column(thread, out, "weight", count, NULL,
                 metric->unit == PIE_METRIC_NS ? weight_ms_of : weight_of);
    if (strcmp(metric->name, "cpu") == 0)
        write_column(thread, out, "threadCPUDelta", count, NULL, weight_of);
    fputc('}', out);
}

static void zero(struct pie_firefox_thread *thread, FILE *out, uint32_t item) {
    fputc('0', out);
}

static void minus_one(struct pie_firefox_thread *thread, FILE *out, uint32_t item) {
    fputs("-1", out);
}

static void null(struct pie_firefox_thread *thread, FILE *out, uint32_t item) {
    fputs("null", out);
}

static void no(struct pie_firefox_thread *thread, FILE *out, uint32_t item) {
    fputs("false", out);
}

static void frame_of_node(struct pie_firefox_thread *thread, FILE *out, uint32_t node) {
    fprintf(out, "%u", thread->frames.index_of[thread->tree->nodes[node].frame] - 1);
}

static void prefix_of_node(struct pie_firefox_thread *thread, FILE *out, uint32_t node) {
    uint32_t parent = thread->tree->nodes[node].parent;
    write_index_or_null(out, parent ? thread->stacks.index_of[parent] : 0);
}

static void category_of_frame(struct pie_firefox_thread *thread, FILE *out, uint32_t index) {
    const struct pie_calltree_frame *frame = &thread->tree->frames[index];
    int category = frame->kind == PIE_LOCATION_NATIVE ? CATEGORY_NATIVE
                   : frame->library                   ? CATEGORY_LIBRARY
                                                      : CATEGORY_OWN;
    fprintf(out, "%d", category);
}

static void category_of_node(struct pie_firefox_thread *thread, FILE *out, uint32_t node) {
    category_of_frame(thread, out, thread->tree->nodes[node].frame);
}

static void write_stacks(struct pie_firefox_thread *thread, FILE *out) {
    const struct pie_firefox_list *list = &thread->stacks;
    fprintf(out, ",\n\"stackTable\":{\"length\":%u", list->count);
    write_column(thread, out, "frame", list->count, list->items, frame_of_node);
    write_column(thread, out, "prefix", list->count, list->items, prefix_of_node);
    write_column(thread, out, "category", list->count, list->items, category_of_node);
    write_column(thread, out, "subcategory", list->count, list->items, zero);
    fputc('}', out);
}

static void func_of_frame(struct pie_firefox_thread *thread, FILE *out, uint32_t frame) {
    fprintf(out, "%u", thread->functions.index_of[thread->tree->frames[frame].whole] - 1);
}

static void write_line(FILE *out, int64_t line) {
    line > 0 ? fprintf(out, "%lld", (long long)line) : fputs("null", out);
}

static void line_of_frame(struct pie_firefox_thread *thread, FILE *out, uint32_t frame) {
    write_line(out, thread->tree->frames[frame].line);
}

static void write_frames(struct pie_firefox_thread *thread, FILE *out) {
    const struct pie_firefox_list *list = &thread->frames;
    fprintf(out, ",\n\"frameTable\":{\"length\":%u", list->count);
    write_column(thread, out, "address", list->count, list->items, minus_one);
    write_column(thread, out, "inlineDepth", list->count, list->items, zero);
    write_column(thread, out, "category", list->count, list->items, category_of_frame);
    write_column(thread, out, "subcategory", list->count, list->items, zero);
    write_column(thread, out, "func", list->count, list->items, func_of_frame);
    write_column(thread, out, "nativeSymbol", list->count, list->items, null);
    write_column(thread, out, "innerWindowID", list->count, list->items, zero);
    write_column(thread, out, "implementation", list->count, list->items, null);
    write_column(thread, out, "line", list->count, list->items, line_of_frame);
    write_column(thread, out, "column", list->count, list->items, null);
    fputc('}', out);
}

static void name_of_function(struct pie_firefox_thread *thread, FILE *out, uint32_t frame) {
    static const char unknown[] = "?";
    const char *name = thread->tree->frames[frame].function;
    fprintf(out, "%u", pie_firefox_thread_string(thread, name ? name : unknown));
}

static void file_of_function(struct pie_firefox_thread *thread, FILE *out, uint32_t frame) {
    const char *file = thread->tree->frames[frame].file;
    file ? fprintf(out, "%u", pie_firefox_thread_string(thread, file)) : fputs("null", out);
}

static void first_line_of_function(struct pie_firefox_thread *thread, FILE *out, uint32_t frame) {
    write_line(out, thread->tree->frames[frame].first_line);
}

/* All modules of the profile are resources of each thread, so that their indexes are the same. */
static void resource_of_function(struct pie_firefox_thread *thread, FILE *out, uint32_t frame) {
    const char *module = thread->tree->frames[frame].module;
    uint32_t lib = module ? pie_u64map_get(&thread->libs->index_of, (uintptr_t)module) : 0;
    fprintf(out, "%lld", (long long)lib - 1);
}

static void write_functions(struct pie_firefox_thread *thread, FILE *out) {
    const struct pie_firefox_list *list = &thread->functions;
    fprintf(out, ",\n\"funcTable\":{\"length\":%u", list->count);
    write_column(thread, out, "name", list->count, list->items, name_of_function);
    write_column(thread, out, "isJS", list->count, list->items, no);
    write_column(thread, out, "relevantForJS", list->count, list->items, no);
    write_column(thread, out, "resource", list->count, list->items, resource_of_function);
    write_column(thread, out, "fileName", list->count, list->items, file_of_function);
    write_column(thread, out, "lineNumber", list->count, list->items, first_line_of_function);
    write_column(thread, out, "columnNumber", list->count, list->items, null);
    fputc('}', out);
}

static void number(struct pie_firefox_thread *thread, FILE *out, uint32_t item) {
    fprintf(out, "%u", item);
}

static void one(struct pie_firefox_thread *thread, FILE *out, uint32_t item) {
    fputc('1', out);
}

static void name_of_lib(struct pie_firefox_thread *thread, FILE *out, uint32_t lib) {
    fprintf(out, "%u", pie_firefox_thread_string(thread, thread->libs->modules[lib]));
}

/* Each is the library of its own number. */
static void write_resources(struct pie_firefox_thread *thread, FILE *out) {
    uint32_t count = thread->libs->count;
    fprintf(out, ",\n\"resourceTable\":{\"length\":%u", count);
    write_column(thread, out, "lib", count, NULL, number);
    write_column(thread, out, "name", count, NULL, name_of_lib);
    write_column(thread, out, "host", count, NULL, null);
    write_column(thread, out, "type", count, NULL, one);
    fputs(
        "},\n\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[]}",
        out);
}

void pie_firefox_thread_write(struct pie_firefox_thread *thread, FILE *out, const struct pie_metric *metric) {
    write_samples(thread, out, metric);
    write_stacks(thread, out);
    write_frames(thread, out);
    write_functions(thread, out);
    write_resources(thread, out);
    fputs(",\n\"stringArray\":[", out);
    for (uint32_t i = 0; i < thread->string_count; i++) {
        fputs(i ? "," : "", out);
        pie_json_write_text(out, thread->strings[i]);
    }
    fputc(']', out);
}
