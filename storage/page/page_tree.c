/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/page/page_tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "storage/base/message.h"
#include "storage/export/calltree.h"
#include "storage/page/page_json.h"
#include "storage/page/page_part.h"

/* Whole data have this many nodes. */
enum { TREE_BYTES_MAX = 700000, NODES_MAX = 20000, WHOLE_NODES_MAX = 200000 };

/* Columns as the page has them (data.d.ts: Tree), while they are made. */
struct columns {
    struct pie_page *page;
    const struct pie_page_tree *tree;
    json_t *functions, *frames, *nodes;
    uint32_t *frames_of;    /* by frame of the call tree: that of the page; 0: none yet */
    uint32_t *functions_of; /* by frame of a whole function: index + 1; 0: none yet */
    uint32_t function_count, frame_count;
};

static json_t *number_or_null(int64_t number) {
    return number > 0 ? json_integer(number) : json_null();
}

/* The page's index + 1 of the function of a frame; 0 without memory. */
static uint32_t add_function(struct columns *columns, const struct pie_calltree_frame *frame) {
    struct pie_page_strings *strings = &columns->page->strings;
    uint32_t *number = &columns->functions_of[frame->whole];
    if (*number > 0)
        return *number;
    bool is_added =
        pie_page_append(columns->functions, "name", pie_page_string(strings, frame->function)) &&
        pie_page_append(columns->functions, "file", pie_page_string(strings, frame->file)) &&
        pie_page_append(columns->functions, "library", pie_page_string(strings, frame->library)) &&
        pie_page_append(columns->functions, "module", pie_page_string(strings, frame->module)) &&
        pie_page_append(columns->functions, "kind", json_integer(frame->kind)) &&
        pie_page_append(columns->functions, "first_line", number_or_null(frame->first_line));
    *number = is_added ? ++columns->function_count : 0;
    return *number;
}

/* The page's index of a frame of the call tree; 0 without memory, as frame 0 is that of what was cut. */
static uint32_t add_frame(struct columns *columns, uint32_t frame) {
    const struct pie_calltree_frame *about = &columns->tree->calltree->frames[frame];
    if (columns->frames_of[frame] > 0)
        return columns->frames_of[frame];
    uint32_t function = add_function(columns, about);
    if (function == 0 || !pie_page_append(columns->frames, "function", json_integer(function - 1)) ||
        !pie_page_append(columns->frames, "line", number_or_null(about->line)))
        return 0;
    return columns->frames_of[frame] = ++columns->frame_count;
}

static bool add_node(struct columns *columns, uint32_t index) {
    const struct pie_page_node *node = &columns->tree->nodes.nodes[index];
    json_t *frame = json_null();
    if (node->node == PIE_PAGE_NO_NODE) {
        frame = json_integer(0);
    } else if (index > 0) {
        uint32_t number = add_frame(columns, columns->tree->calltree->nodes[node->node].frame);
        frame = number > 0 ? json_integer(number) : NULL;
    }
    bool is_added = pie_page_append(columns->nodes, "frame", frame) &&
                    pie_page_append(columns->nodes, "parent", json_integer(node->parent)) &&
                    pie_page_append(columns->nodes, "hidden", json_integer(node->hidden));
    for (int i = 0; i < PIE_PAGE_METRICS; i++)
        if (columns->tree->costs.values[i])
            is_added = is_added && pie_page_append(columns->nodes, pie_page_metric_names[i],
                                                   json_integer(node->values[i]));
    return is_added;
}

/* A metric that is 0 everywhere has null instead of a column. */
static int make_columns(struct columns *columns) {
    static const char *const functions[] = {"name", "file", "library", "module", "kind", "first_line", NULL};
    static const char *const frames[] = {"function", "line", NULL};
    static const char *const nodes[] = {"parent", "frame", "hidden", NULL};
    columns->functions = pie_page_columns(functions);
    columns->frames = pie_page_columns(frames);
    columns->nodes = pie_page_columns(nodes);
    columns->frames_of = calloc(columns->tree->calltree->frame_count + 1UL, sizeof *columns->frames_of);
    columns->functions_of = calloc(columns->tree->calltree->frame_count + 1UL, sizeof *columns->functions_of);
    if (!columns->functions || !columns->frames || !columns->nodes || !columns->frames_of ||
        !columns->functions_of)
        return -ENOMEM;
    for (int i = 0; i < PIE_PAGE_METRICS; i++)
        if (json_object_set_new(columns->nodes, pie_page_metric_names[i],
                                columns->tree->costs.values[i] ? json_array() : json_null()) < 0)
            return -ENOMEM;
    return pie_page_append(columns->frames, "function", json_null()) &&
                   pie_page_append(columns->frames, "line", json_null())
               ? 0
               : -ENOMEM;
}

static void finish_columns(struct columns *columns) {
    json_decref(columns->functions);
    json_decref(columns->frames);
    json_decref(columns->nodes);
    free(columns->frames_of);
    free(columns->functions_of);
}

/* data.d.ts: Tree. NULL without memory. */
static json_t *write_tree(struct pie_page *page, const struct pie_page_tree *tree) {
    struct columns columns = {.page = page, .tree = tree};
    json_t *object = NULL;
    int r = make_columns(&columns);
    for (uint32_t i = 0; i < tree->nodes.count && r == 0; i++)
        r = add_node(&columns, i) ? 0 : -ENOMEM;
    if (r == 0)
        object = json_pack("{s:O, s:O, s:O}", "functions", columns.functions, "frames", columns.frames,
                           "nodes", columns.nodes);
    finish_columns(&columns);
    return object;
}

/* Makes it with fewer nodes until it fits. Returns its JSON, or NULL without memory. */
static json_t *fit_tree(struct pie_page *page, struct pie_page_tree *tree, const double *weights,
                        const uint32_t *order, uint32_t chosen) {
    size_t strings = json_array_size(page->strings.list), room = pie_page_room(page),
           before = page->strings.bytes;
    size_t limit = pie_page_limit(page, TREE_BYTES_MAX), bytes_max = room < limit ? room : limit;
    for (;;) {
        pie_page_nodes_finish(&tree->nodes);
        if (pie_page_nodes_choose(tree->calltree, &tree->costs, weights, order, chosen, &tree->nodes) < 0)
            return NULL;
        json_t *object = write_tree(page, tree);
        if (!object)
            return NULL;
        size_t size = pie_page_size(object) + page->strings.bytes - before;
        if (size <= bytes_max || chosen == 1)
            return object;
        json_decref(object);
        if (pie_page_strings_forget(&page->strings, strings) < 0)
            return NULL;
        uint32_t fewer = (uint32_t)(0.95 * (double)chosen * (double)bytes_max / (double)size);
        chosen = fewer > 0 ? fewer : 1;
    }
}

static int put_tree(struct pie_page *page, struct pie_page_tree *tree) {
    uint32_t count = 0, nodes_max = page->is_whole ? WHOLE_NODES_MAX : NODES_MAX;
    double *weights = pie_page_costs_weigh(&tree->costs, tree->calltree);
    uint32_t *order = weights ? pie_page_nodes_order(weights, tree->calltree->node_count, &count) : NULL;
    json_t *object =
        order ? fit_tree(page, tree, weights, order, count < nodes_max ? count : nodes_max) : NULL;
    free(weights);
    free(order);
    int r = object ? pie_page_put(page, "tree", object) : -ENOMEM;
    return r < 0 ? r
                 : pie_page_put_cut(page, "tree", tree->nodes.chosen, count,
                                    "part of CPU time, waiting and memory, with all below");
}

int pie_page_add_tree(struct pie_page *page, struct pie_page_tree **ret_tree, char **ret_message) {
    struct pie_page_tree *tree = calloc(1, sizeof *tree);
    if (!tree)
        return pie_page_no_memory(ret_message);
    int r = pie_calltree_load(page->reader, page->run, PIE_CALLTREE_LINES, &tree->calltree, ret_message);
    if (r == 0)
        r = pie_page_costs_read(page->reader, page->run, tree->calltree, &tree->costs, ret_message);
    if (r == 0 && put_tree(page, tree) < 0)
        r = pie_page_no_memory(ret_message);
    if (r < 0)
        pie_page_tree_destroy(tree);
    else
        *ret_tree = tree;
    return r;
}

void pie_page_tree_destroy(struct pie_page_tree *tree) {
    if (!tree)
        return;
    pie_page_nodes_finish(&tree->nodes);
    pie_page_costs_finish(&tree->costs);
    pie_calltree_destroy(tree->calltree);
    free(tree);
}

uint32_t pie_page_tree_find(const struct pie_page_tree *tree, int64_t process, int64_t node) {
    return tree->nodes.nodes_of[pie_calltree_find(tree->calltree, process, node)];
}
