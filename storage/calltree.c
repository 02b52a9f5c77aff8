/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/calltree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "storage/calltree_rows.h"
#include "storage/idmap.h"
#include "storage/message.h"
#include "storage/reader.h"

/* The child of `parent` with this frame, made if there is none yet. */
static int get_child(struct pie_calltree *tree, uint32_t parent, uint32_t frame, uint32_t *ret_node) {
    uint32_t key[2] = {parent, frame};
    uint32_t node = pie_idmap_get(&tree->source->children, key, sizeof key);
    if (node == 0) {
        struct pie_calltree_node *nodes = pie_calltree_grow(tree->nodes, tree->node_count, sizeof *nodes);
        if (!nodes)
            return -ENOMEM;
        tree->nodes = nodes;
        node = tree->node_count++;
        nodes[node] =
            (struct pie_calltree_node){.frame = frame, .parent = parent, .depth = nodes[parent].depth + 1};
        int r = pie_idmap_add(&tree->source->children, key, sizeof key, node);
        if (r < 0)
            return r;
    }
    *ret_node = node;
    return 0;
}

static bool is_hidden(const struct pie_calltree *tree, const struct pie_raw_node *node, uint32_t frame) {
    const struct pie_calltree_frame *about = &tree->frames[frame];
    if (tree->source->detail == PIE_CALLTREE_FULL || about->kind == PIE_LOCATION_PYTHON)
        return false;
    bool is_interpreter = about->library && strcmp(about->library, "python") == 0;
    return is_interpreter || (!node->is_in_python && node->leads_to_python);
}

/* A node of its own for what the interpreter does before and between all Python code. */
static int get_interpreter(struct pie_calltree *tree, uint32_t *ret_node) {
    struct pie_calltree_source *source = tree->source;
    int r = 0;
    if (source->interpreter == 0) {
        struct pie_calltree_frame frame = {.kind = PIE_LOCATION_NATIVE};
        frame.function = strdup("[interpreter]");
        frame.library = strdup("python");
        r = pie_calltree_add_frame(tree, frame);
        if (r == 0)
            r = get_child(tree, 0, tree->frame_count - 1, &source->interpreter);
    }
    *ret_node = source->interpreter;
    return r;
}

/* Puts a node under what its parent has become. */
static int place(struct pie_calltree *tree, struct pie_raw_node *node, const struct pie_raw_node *parent) {
    uint32_t frames[PIE_CALLTREE_INLINE_MAX], at = parent ? parent->attach : 0;
    uint32_t count = pie_calltree_frames_at(tree, node->key.process, node->location, frames);
    bool is_any_hidden = false;
    int r = 0;
    node->is_in_python = parent && parent->is_in_python;
    if (count > 0 && tree->frames[frames[0]].kind == PIE_LOCATION_PYTHON)
        node->is_in_python = true;
    while (count > 0 && r == 0) {
        uint32_t frame = frames[--count];
        bool hide = is_hidden(tree, node, frame);
        is_any_hidden = is_any_hidden || hide;
        if (!hide)
            r = get_child(tree, at, frame, &at);
    }
    node->attach = at;
    node->node = at;
    if (r == 0 && at == 0 && is_any_hidden)
        r = get_interpreter(tree, &node->node);
    node->is_resolved = true;
    return r;
}

static struct pie_raw_node *parent_of(const struct pie_calltree *tree, const struct pie_raw_node *node) {
    return pie_calltree_raw_node(tree, node->key.process, node->parent);
}

/* Climbs to the first ancestor that has its place, then gives one to all on the way. `chain` has room for all nodes. */
static int resolve(struct pie_calltree *tree, struct pie_raw_node *node, struct pie_raw_node **chain) {
    size_t length = 0;
    struct pie_raw_node *at = node;
    while (at && !at->is_resolved && !at->is_on_chain) {
        at->is_on_chain = true;
        chain[length++] = at;
        at = parent_of(tree, at);
    }
    const struct pie_raw_node *above = at && at->is_resolved ? at : NULL;
    int r = 0;
    while (length > 0) {
        at = chain[--length];
        at->is_on_chain = false;
        if (r == 0)
            r = place(tree, at, above);
        above = at;
    }
    return r;
}

/* Ends where another Python frame has been before, so each node is marked once. */
static void mark_ways_to_python(struct pie_calltree *tree) {
    uint32_t frames[PIE_CALLTREE_INLINE_MAX];
    for (size_t i = 0; i < tree->source->node_count; i++) {
        struct pie_raw_node *node = &tree->source->nodes[i];
        uint32_t count = pie_calltree_frames_at(tree, node->key.process, node->location, frames);
        if (count == 0 || tree->frames[frames[0]].kind != PIE_LOCATION_PYTHON)
            continue;
        while ((node = parent_of(tree, node)) && !node->leads_to_python)
            node->leads_to_python = true;
    }
}

static int resolve_all(struct pie_calltree *tree) {
    struct pie_calltree_source *source = tree->source;
    struct pie_raw_node **chain = calloc(source->node_count + 1, sizeof *chain);
    int r = chain ? 0 : -ENOMEM;
    mark_ways_to_python(tree);
    for (size_t i = 0; i < source->node_count && r == 0; i++)
        r = resolve(tree, &source->nodes[i], chain);
    free(chain);
    return r;
}

uint32_t pie_calltree_find(const struct pie_calltree *tree, int64_t process, int64_t node) {
    const struct pie_raw_node *found = pie_calltree_raw_node(tree, process, node);
    return found ? found->node : 0;
}

/* A hostile file's sums may not overflow. */
static void add_ns(int64_t *sum, int64_t value) {
    if (value > 0 && __builtin_add_overflow(*sum, value, sum))
        *sum = INT64_MAX;
}

static void add_cost(struct pie_calltree_cost *sum, const struct pie_calltree_cost *cost) {
    add_ns(&sum->python_ns, cost->python_ns);
    add_ns(&sum->native_ns, cost->native_ns);
    add_ns(&sum->system_ns, cost->system_ns);
    add_ns(&sum->wait_ns, cost->wait_ns);
    add_ns(&sum->samples, cost->samples);
}

int64_t pie_calltree_cpu_ns(const struct pie_calltree_cost *cost) {
    int64_t sum = 0;
    add_ns(&sum, cost->python_ns);
    add_ns(&sum, cost->native_ns);
    add_ns(&sum, cost->system_ns);
    return sum;
}

static int take_sample(struct pie_calltree *tree, struct pie_cursor *cursor) {
    uint32_t node = pie_calltree_find(tree, pie_cursor_int(cursor, 0), pie_cursor_int(cursor, 1));
    struct pie_calltree_cost cost = {
        .python_ns = pie_cursor_int(cursor, 2),
        .native_ns = pie_cursor_int(cursor, 3),
        .system_ns = pie_cursor_int(cursor, 4),
        .wait_ns = pie_cursor_int(cursor, 5),
        .samples = pie_cursor_int(cursor, 6),
    };
    add_cost(&tree->nodes[node].self, &cost);
    return 0;
}

struct order {
    int64_t cost_ns;
    uint32_t node;
};

static int compare_orders(const void *a, const void *b) {
    const struct order *x = a, *y = b;
    if (x->cost_ns != y->cost_ns)
        return x->cost_ns < y->cost_ns ? -1 : 1;
    return x->node < y->node ? 1 : -1;
}

/* Sums from the leaves up (a child's index is above its parent's), then hangs the children in, the cheapest first, each
 * before those that are there. */
static int finish_tree(struct pie_calltree *tree) {
    struct order *order = calloc(tree->node_count, sizeof *order);
    if (!order)
        return -ENOMEM;
    for (uint32_t i = tree->node_count; i-- > 0;) {
        struct pie_calltree_node *node = &tree->nodes[i];
        add_cost(&node->total, &node->self);
        if (i > 0)
            add_cost(&tree->nodes[node->parent].total, &node->total);
        order[i] = (struct order){.cost_ns = pie_calltree_cpu_ns(&node->total), .node = i};
        add_ns(&order[i].cost_ns, node->total.wait_ns / 1000);
    }
    qsort(order, tree->node_count, sizeof *order, compare_orders);
    for (uint32_t i = 0; i < tree->node_count; i++) {
        struct pie_calltree_node *node = &tree->nodes[order[i].node];
        if (order[i].node == 0)
            continue;
        node->next_sibling = tree->nodes[node->parent].first_child;
        tree->nodes[node->parent].first_child = order[i].node;
    }
    free(order);
    return 0;
}

static const char samples_sql[] =
    "SELECT s.process, s.node, s.python_ns, s.native_ns, s.system_ns, s.wait_ns, s.samples"
    " FROM process p JOIN sample s ON s.process = p.id WHERE p.run = :run";

static struct pie_calltree *create_tree(void) {
    struct pie_calltree *tree = calloc(1, sizeof *tree);
    if (!tree)
        return NULL;
    tree->nodes = calloc(1, sizeof *tree->nodes);
    tree->source = calloc(1, sizeof *tree->source);
    tree->node_count = 1;
    if (tree->nodes && tree->source)
        return tree;
    pie_calltree_destroy(tree);
    return NULL;
}

int pie_calltree_load(struct pie_reader *reader, int64_t run, enum pie_calltree_detail detail,
                      struct pie_calltree **ret_tree, char **ret_message) {
    struct pie_calltree *tree = create_tree();
    if (!tree)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    tree->source->detail = detail;
    int r = pie_calltree_read_rows(reader, run, tree, ret_message);
    if (r == 0 && (r = resolve_all(tree)) < 0)
        (void)pie_message(r, ret_message, "out of memory");
    if (r == 0)
        r = pie_calltree_each_row(reader, samples_sql, run, tree, take_sample, ret_message);
    if (r == 0 && (r = finish_tree(tree)) < 0)
        (void)pie_message(r, ret_message, "out of memory");
    if (r < 0) {
        pie_calltree_destroy(tree);
        return r;
    }
    *ret_tree = tree;
    return 0;
}

void pie_calltree_destroy(struct pie_calltree *tree) {
    if (!tree)
        return;
    pie_calltree_finish_rows(tree);
    free(tree->nodes);
    free(tree);
}
