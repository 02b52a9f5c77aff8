/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/export/calltree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/base/hash.h"
#include "storage/base/lookup.h"
#include "storage/base/message.h"
#include "storage/export/calltree_rows.h"
#include "storage/read/reader.h"

static uint64_t hash_child(uint32_t parent, uint32_t frame) {
    return pie_hash_mix(0, (uint64_t)parent << 32 | frame);
}

static uint64_t hash_node(const void *owner, uint32_t node) {
    const struct pie_calltree *tree = owner;
    return hash_child(tree->nodes[node].parent, tree->nodes[node].frame);
}

static bool is_child(const void *owner, uint32_t node, const void *key) {
    const struct pie_calltree *tree = owner;
    const struct pie_calltree_node *wanted = key;
    return tree->nodes[node].parent == wanted->parent && tree->nodes[node].frame == wanted->frame;
}

static const struct pie_lookup_by by_parent_and_frame = {hash_node, is_child};

/* The child of `parent` with this frame, made if there is none yet. */
static int get_child(struct pie_calltree *tree, uint32_t parent, uint32_t frame, uint32_t *ret_node) {
    const struct pie_calltree_node wanted = {.frame = frame, .parent = parent};
    uint32_t node = pie_lookup_get(&tree->source->children, &by_parent_and_frame, tree,
                                   hash_child(parent, frame), &wanted);
    if (node == 0) {
        if (tree->node_count == UINT32_MAX)
            return -EOVERFLOW;
        struct pie_calltree_node *nodes = pie_calltree_grow(tree->nodes, tree->node_count, sizeof *nodes);
        if (!nodes)
            return -ENOMEM;
        tree->nodes = nodes;
        node = tree->node_count++;
        nodes[node] = wanted;
        int r = pie_lookup_add(&tree->source->children, &by_parent_and_frame, tree, node);
        if (r < 0)
            return r;
    }
    *ret_node = node;
    return 0;
}

static bool is_python(const struct pie_calltree *tree, uint32_t frame) {
    return tree->frames[frame].kind == PIE_LOCATION_PYTHON;
}

static bool is_hidden(const struct pie_calltree *tree, unsigned flags, uint32_t frame) {
    const struct pie_calltree_frame *about = &tree->frames[frame];
    if (tree->source->detail & PIE_CALLTREE_FULL || is_python(tree, frame))
        return false;
    bool is_interpreter = about->library && strcmp(about->library, "python") == 0;
    return is_interpreter ||
           (flags & (PIE_RAW_NODE_IN_PYTHON | PIE_RAW_NODE_LEADS_TO_PYTHON)) == PIE_RAW_NODE_LEADS_TO_PYTHON;
}

/* A node of its own for what the interpreter does before and between all Python code. */
static int get_interpreter(struct pie_calltree *tree, uint32_t *ret_node) {
    static const struct pie_calltree_frame frame = {
        .kind = PIE_LOCATION_NATIVE, .function = "[interpreter]", .library = "python"};
    struct pie_calltree_source *source = tree->source;
    int r = 0;
    if (source->interpreter == 0) {
        r = pie_calltree_add_frame(tree, &frame);
        if (r == 0)
            r = get_child(tree, 0, tree->frame_count - 1, &source->interpreter);
    }
    *ret_node = source->interpreter;
    return r;
}

/* Puts a row (a number from 1 on) under what its parent, 0: none, has become. */
static int place(struct pie_calltree *tree, uint32_t row, uint32_t parent) {
    struct pie_raw_nodes *raw = &tree->source->nodes;
    unsigned above = parent ? raw->flags[parent - 1] : 0;
    uint32_t at = parent && !(above & PIE_RAW_NODE_OUTSIDE) ? raw->nodes[parent - 1] : 0;
    uint32_t frames[PIE_CALLTREE_INLINE_MAX];
    uint32_t count = pie_calltree_frames_at(tree, raw->locations[row - 1], frames);
    unsigned flags = raw->flags[row - 1] | (above & PIE_RAW_NODE_IN_PYTHON) | PIE_RAW_NODE_RESOLVED;
    bool is_any_hidden = false;
    int r = 0;
    if (count > 0 && is_python(tree, frames[0]))
        flags |= PIE_RAW_NODE_IN_PYTHON;
    while (count > 0 && r == 0) {
        uint32_t frame = frames[--count];
        bool hide = is_hidden(tree, flags, frame);
        is_any_hidden = is_any_hidden || hide;
        if (!hide)
            r = get_child(tree, at, frame, &at);
    }
    if (r == 0 && at == 0 && is_any_hidden) {
        r = get_interpreter(tree, &at);
        flags |= PIE_RAW_NODE_OUTSIDE;
    }
    raw->nodes[row - 1] = at;
    raw->flags[row - 1] = (uint8_t)flags;
    return r;
}

/* The rows between one and the first of its ancestors that has its place. */
struct chain {
    uint32_t *rows;
    size_t length, longest;
};

static int add_to_chain(struct chain *chain, uint32_t row) {
    if (chain->length == chain->longest) {
        uint32_t *rows = pie_calltree_grow(chain->rows, chain->longest, sizeof *rows);
        if (!rows)
            return -ENOMEM;
        chain->rows = rows;
        chain->longest = chain->longest ? chain->longest * 2 : 1;
    }
    chain->rows[chain->length++] = row;
    return 0;
}

/* Climbs to the first ancestor that has its place, then gives one to all on the way. */
static int resolve(struct pie_calltree *tree, uint32_t row, struct chain *chain) {
    struct pie_raw_nodes *raw = &tree->source->nodes;
    uint32_t at = row;
    int r = 0;
    chain->length = 0;
    while (r == 0 && at && !(raw->flags[at - 1] & (PIE_RAW_NODE_RESOLVED | PIE_RAW_NODE_ON_CHAIN))) {
        raw->flags[at - 1] |= PIE_RAW_NODE_ON_CHAIN;
        r = add_to_chain(chain, at);
        at = raw->parents[at - 1];
    }
    uint32_t above = at && raw->flags[at - 1] & PIE_RAW_NODE_RESOLVED ? at : 0;
    while (chain->length > 0 && r == 0) {
        at = chain->rows[--chain->length];
        r = place(tree, at, above);
        above = at;
    }
    return r;
}

/* Ends where another Python frame has been before, so each node is marked once. */
static void mark_ways_to_python(struct pie_calltree *tree) {
    struct pie_raw_nodes *raw = &tree->source->nodes;
    uint32_t frames[PIE_CALLTREE_INLINE_MAX];
    for (uint32_t i = 0; i < raw->ids.count; i++) {
        uint32_t count = pie_calltree_frames_at(tree, raw->locations[i], frames);
        if (count == 0 || !is_python(tree, frames[0]))
            continue;
        for (uint32_t row = i + 1;
             (row = raw->parents[row - 1]) && !(raw->flags[row - 1] & PIE_RAW_NODE_LEADS_TO_PYTHON);)
            raw->flags[row - 1] |= PIE_RAW_NODE_LEADS_TO_PYTHON;
    }
}

static int resolve_all(struct pie_calltree *tree) {
    struct chain chain = {0};
    int r = 0;
    mark_ways_to_python(tree);
    for (uint32_t i = 0; i < tree->source->nodes.ids.count && r == 0; i++)
        r = resolve(tree, i + 1, &chain);
    free(chain.rows);
    return r;
}

uint32_t pie_calltree_find(const struct pie_calltree *tree, int64_t process, int64_t node) {
    uint32_t row = pie_calltree_ids_find(&tree->source->nodes.ids, process, node);
    return row ? tree->source->nodes.nodes[row - 1] : 0;
}

void pie_calltree_add(int64_t *sum, int64_t value) {
    if (value > 0 && __builtin_add_overflow(*sum, value, sum))
        *sum = INT64_MAX;
}

static int take_sample(void *data, struct pie_cursor *cursor) {
    const struct pie_calltree *tree = data;
    uint32_t node = pie_calltree_find(tree, pie_cursor_int(cursor, 0), pie_cursor_int(cursor, 1));
    for (int i = 2; i < 5; i++)
        pie_calltree_add(&tree->self_cpu_ns[node], pie_cursor_int(cursor, i));
    pie_calltree_add(&tree->wait_ns[node], pie_cursor_int(cursor, 5));
    return 0;
}

static int make_costs(struct pie_calltree *tree) {
    tree->self_cpu_ns = calloc(tree->node_count, sizeof *tree->self_cpu_ns);
    tree->cpu_ns = calloc(tree->node_count, sizeof *tree->cpu_ns);
    tree->wait_ns = calloc(tree->node_count, sizeof *tree->wait_ns);
    return tree->self_cpu_ns && tree->cpu_ns && tree->wait_ns ? 0 : -ENOMEM;
}

/* From the leaves up: a child's index is above its parent's. */
static void sum_up(struct pie_calltree *tree) {
    for (uint32_t i = tree->node_count; i-- > 0;) {
        uint32_t parent = tree->nodes[i].parent;
        pie_calltree_add(&tree->cpu_ns[i], tree->self_cpu_ns[i]);
        if (i == 0)
            break;
        pie_calltree_add(&tree->cpu_ns[parent], tree->cpu_ns[i]);
        pie_calltree_add(&tree->wait_ns[parent], tree->wait_ns[i]);
    }
}

struct order {
    int64_t cost_ns;
    uint32_t node;
};

static int compare_orders(const void *a, const void *b) {
    const struct order *x = a, *y = b;
    if (x->cost_ns != y->cost_ns)
        return x->cost_ns > y->cost_ns ? -1 : 1;
    return x->node < y->node ? -1 : 1;
}

/* Children in the order of their indexes. */
static void hang_in(struct pie_calltree *tree) {
    for (uint32_t i = tree->node_count; --i > 0;) {
        struct pie_calltree_node *parent = &tree->nodes[tree->nodes[i].parent];
        tree->nodes[i].next_sibling = parent->first_child;
        parent->first_child = i;
    }
}

/* Room for as many as the largest family has. */
struct family {
    struct order *members;
    size_t count, largest;
};

static int add_to_family(struct family *family, struct order member) {
    if (family->count == family->largest) {
        struct order *members = pie_calltree_grow(family->members, family->largest, sizeof *members);
        if (!members)
            return -ENOMEM;
        family->members = members;
        family->largest = family->largest ? family->largest * 2 : 1;
    }
    family->members[family->count++] = member;
    return 0;
}

/* The children of one node: the costliest first. */
static int sort_family(struct pie_calltree *tree, uint32_t parent, struct family *family) {
    family->count = 0;
    for (uint32_t at = tree->nodes[parent].first_child; at != 0; at = tree->nodes[at].next_sibling) {
        struct order member = {.cost_ns = tree->cpu_ns[at], .node = at};
        pie_calltree_add(&member.cost_ns, tree->wait_ns[at] / 1000);
        if (add_to_family(family, member) < 0)
            return -ENOMEM;
    }
    if (family->count < 2)
        return 0;
    qsort(family->members, family->count, sizeof *family->members, compare_orders);
    uint32_t *link = &tree->nodes[parent].first_child;
    for (size_t i = 0; i < family->count; i++) {
        *link = family->members[i].node;
        link = &tree->nodes[*link].next_sibling;
    }
    *link = 0;
    return 0;
}

static int finish_tree(struct pie_calltree *tree) {
    struct family family = {0};
    int r = 0;
    sum_up(tree);
    hang_in(tree);
    for (uint32_t i = 0; i < tree->node_count && r == 0; i++)
        r = sort_family(tree, i, &family);
    free(family.members);
    return r;
}

static const char samples_sql[] = "SELECT s.process, s.node, s.python_ns, s.native_ns, s.system_ns, s.wait_ns"
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

static int end_reading(struct pie_calltree *tree) {
    pie_calltree_end_rows(tree);
    return make_costs(tree);
}

int pie_calltree_load(struct pie_reader *reader, int64_t run, enum pie_calltree_detail detail,
                      struct pie_calltree **ret_tree, char **ret_message) {
    struct pie_calltree *tree = create_tree();
    if (!tree)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    tree->source->detail = detail;
    int r = pie_calltree_read_rows(reader, run, tree, ret_message);
    if (r == 0 && ((r = resolve_all(tree)) < 0 || (r = end_reading(tree)) < 0))
        (void)pie_message(r, ret_message, "cannot make the call tree: %s", strerror(-r));
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
    free(tree->self_cpu_ns);
    free(tree->cpu_ns);
    free(tree->wait_ns);
    free(tree);
}
