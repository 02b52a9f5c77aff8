/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/calltree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/idmap.h"
#include "storage/message.h"
#include "storage/reader.h"

/* The file is not trusted: a row may refer to rows that are not there, a parent may be its own descendant, a chain of
 * inlined functions may have no end. Each such reference counts as the end of its chain. */

enum { INLINE_MAX = 64 };

struct raw_key {
    int64_t process, id;
};

struct raw_function {
    struct raw_key key;
    uint32_t frame;
};

struct raw_location {
    struct raw_key key;
    int64_t function, caller;
};

struct raw_node {
    struct raw_key key;
    int64_t parent, location;
    uint32_t node;    /* in the tree, 0: not yet */
    bool is_on_chain; /* being resolved */
};

struct pie_calltree_source {
    struct raw_function *functions;
    struct raw_location *locations;
    struct raw_node *nodes;
    size_t function_count, location_count, node_count;
    struct pie_idmap frames;   /* its fields as text, to index + 1 */
    struct pie_idmap children; /* (parent, frame) to node */
    size_t frame_capacity, node_capacity;
};

/* Room for one more: arrays double at powers of two. */
static void *grow(void *array, size_t count, size_t size) {
    if (count != 0 && (count & (count - 1)) != 0)
        return array;
    return reallocarray(array, count ? count * 2 : 1, size);
}

static int compare_keys(const void *a, const void *b) {
    const struct raw_key *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* The key is the first member of each kind of row, and the file has them in its order. */
static void *find_raw(void *array, size_t count, size_t size, int64_t process, int64_t id) {
    struct raw_key key = {.process = process, .id = id};
    return id > 0 && count > 0 ? bsearch(&key, array, count, size, compare_keys) : NULL;
}

static char *copy_text(const char *text) {
    return text ? strdup(text) : NULL;
}

static int add_frame(struct pie_calltree *tree, struct pie_cursor *cursor) {
    struct pie_calltree_frame *frames = grow(tree->frames, tree->frame_count, sizeof *frames);
    if (!frames)
        return -ENOMEM;
    tree->frames = frames;
    frames[tree->frame_count++] = (struct pie_calltree_frame){
        .kind = pie_cursor_int(cursor, 2) == PIE_LOCATION_NATIVE ? PIE_LOCATION_NATIVE : PIE_LOCATION_PYTHON,
        .function = copy_text(pie_cursor_text(cursor, 3)),
        .file = copy_text(pie_cursor_text(cursor, 4)),
        .library = copy_text(pie_cursor_text(cursor, 5)),
        .module = copy_text(pie_cursor_text(cursor, 6)),
        .first_line = pie_cursor_int(cursor, 7),
    };
    return 0;
}

/* Functions of different processes that have all the same fields are one frame. Columns as in functions_sql. */
static int get_frame(struct pie_calltree *tree, struct pie_cursor *cursor, uint32_t *ret_frame) {
    char *key;
    const char *function = pie_cursor_text(cursor, 3), *file = pie_cursor_text(cursor, 4);
    const char *module = pie_cursor_text(cursor, 6);
    int size = asprintf(&key, "%lld\n%lld\n%s\n%s\n%s", (long long)pie_cursor_int(cursor, 2),
                        (long long)pie_cursor_int(cursor, 7), function ? function : "", file ? file : "",
                        module ? module : "");
    if (size < 0)
        return -ENOMEM;
    uint32_t frame = pie_idmap_get(&tree->source->frames, key, (size_t)size);
    int r = 0;
    if (frame == 0) {
        r = add_frame(tree, cursor);
        frame = tree->frame_count;
        if (r == 0)
            r = pie_idmap_add(&tree->source->frames, key, (size_t)size, frame);
    }
    free(key);
    if (r == 0)
        *ret_frame = frame - 1;
    return r;
}

static int take_function(struct pie_calltree *tree, struct pie_cursor *cursor) {
    struct pie_calltree_source *source = tree->source;
    struct raw_function *functions = grow(source->functions, source->function_count, sizeof *functions);
    if (!functions)
        return -ENOMEM;
    source->functions = functions;
    struct raw_function *function = &functions[source->function_count];
    function->key = (struct raw_key){pie_cursor_int(cursor, 0), pie_cursor_int(cursor, 1)};
    int r = get_frame(tree, cursor, &function->frame);
    source->function_count += r == 0;
    return r;
}

static int take_location(struct pie_calltree *tree, struct pie_cursor *cursor) {
    struct pie_calltree_source *source = tree->source;
    struct raw_location *locations = grow(source->locations, source->location_count, sizeof *locations);
    if (!locations)
        return -ENOMEM;
    source->locations = locations;
    locations[source->location_count++] = (struct raw_location){
        .key = {pie_cursor_int(cursor, 0), pie_cursor_int(cursor, 1)},
        .function = pie_cursor_int(cursor, 2),
        .caller = pie_cursor_int(cursor, 3),
    };
    return 0;
}

static int take_node(struct pie_calltree *tree, struct pie_cursor *cursor) {
    struct pie_calltree_source *source = tree->source;
    struct raw_node *nodes = grow(source->nodes, source->node_count, sizeof *nodes);
    if (!nodes)
        return -ENOMEM;
    source->nodes = nodes;
    nodes[source->node_count++] = (struct raw_node){
        .key = {pie_cursor_int(cursor, 0), pie_cursor_int(cursor, 1)},
        .parent = pie_cursor_int(cursor, 2),
        .location = pie_cursor_int(cursor, 3),
    };
    return 0;
}

/* The child of `parent` with this frame, made if there is none yet. */
static int get_child(struct pie_calltree *tree, uint32_t parent, uint32_t frame, uint32_t *ret_node) {
    uint32_t key[2] = {parent, frame};
    uint32_t node = pie_idmap_get(&tree->source->children, key, sizeof key);
    if (node == 0) {
        struct pie_calltree_node *nodes = grow(tree->nodes, tree->node_count, sizeof *nodes);
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

/* Goes from `parent` down through the functions at a location: the outermost first, what was inlined into it after. */
static int descend(struct pie_calltree *tree, uint32_t parent, int64_t process, int64_t location,
                   uint32_t *ret_node) {
    struct pie_calltree_source *source = tree->source;
    uint32_t frames[INLINE_MAX], count = 0;
    while (count < INLINE_MAX) {
        struct raw_location *found =
            find_raw(source->locations, source->location_count, sizeof *found, process, location);
        struct raw_function *function = found ? find_raw(source->functions, source->function_count,
                                                         sizeof *function, process, found->function)
                                              : NULL;
        if (!function)
            break;
        frames[count++] = function->frame;
        location = found->caller;
    }
    int r = 0;
    while (count > 0 && r == 0)
        r = get_child(tree, parent, frames[--count], &parent);
    *ret_node = parent;
    return r;
}

/* Climbs to the first ancestor that is in the tree, then comes back down. The way up is kept in the array that holds
 * the way down too: `chain` has room for all nodes. */
static int resolve(struct pie_calltree *tree, struct raw_node *node, struct raw_node **chain) {
    struct pie_calltree_source *source = tree->source;
    size_t length = 0;
    uint32_t above = 0;
    for (struct raw_node *at = node; at && above == 0 && !at->is_on_chain;) {
        above = at->node;
        if (above != 0)
            break;
        at->is_on_chain = true;
        chain[length++] = at;
        at = find_raw(source->nodes, source->node_count, sizeof *at, at->key.process, at->parent);
    }
    int r = 0;
    while (length > 0) {
        struct raw_node *at = chain[--length];
        at->is_on_chain = false;
        if (r == 0)
            r = descend(tree, above, at->key.process, at->location, &above);
        at->node = above;
    }
    return r;
}

static int resolve_all(struct pie_calltree *tree) {
    struct pie_calltree_source *source = tree->source;
    struct raw_node **chain = calloc(source->node_count + 1, sizeof *chain);
    int r = chain ? 0 : -ENOMEM;
    for (size_t i = 0; i < source->node_count && r == 0; i++)
        r = resolve(tree, &source->nodes[i], chain);
    free(chain);
    return r;
}

uint32_t pie_calltree_find(const struct pie_calltree *tree, int64_t process, int64_t node) {
    const struct raw_node *found =
        find_raw(tree->source->nodes, tree->source->node_count, sizeof *found, process, node);
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

static const char functions_sql[] = "SELECT u.process, u.id, u.kind, u.name, f.path, iif(f.is_own, NULL, "
                                    "coalesce(f.library, m.library)), m.path,"
                                    " u.first_line FROM process p JOIN function u ON u.process = p.id"
                                    " LEFT JOIN file f ON f.process = u.process AND f.id = u.file"
                                    " LEFT JOIN module m ON m.process = u.process AND m.id = u.module"
                                    " WHERE p.run = :run ORDER BY u.process, u.id";
static const char locations_sql[] =
    "SELECT l.process, l.id, l.function, l.caller FROM process p JOIN location l ON l.process = p.id"
    " WHERE p.run = :run ORDER BY l.process, l.id";
static const char nodes_sql[] =
    "SELECT n.process, n.id, n.parent, n.location FROM process p JOIN node n ON n.process = p.id"
    " WHERE p.run = :run ORDER BY n.process, n.id";
static const char samples_sql[] =
    "SELECT s.process, s.node, s.python_ns, s.native_ns, s.system_ns, s.wait_ns, s.samples"
    " FROM process p JOIN sample s ON s.process = p.id WHERE p.run = :run";

static int for_each_row(struct pie_reader *reader, const char *sql, int64_t run, struct pie_calltree *tree,
                        int (*take)(struct pie_calltree *, struct pie_cursor *), char **ret_message) {
    struct pie_cursor *cursor;
    int r = pie_cursor_open(reader, sql, &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", run);
    while ((r = pie_cursor_next(cursor, ret_message)) > 0) {
        r = take(tree, cursor);
        if (r < 0) {
            (void)pie_message(r, ret_message, "cannot read the call tree: %s", strerror(-r));
            break;
        }
    }
    pie_cursor_close(cursor);
    return r;
}

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

int pie_calltree_load(struct pie_reader *reader, int64_t run, struct pie_calltree **ret_tree,
                      char **ret_message) {
    struct pie_calltree *tree = create_tree();
    if (!tree)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    int r = for_each_row(reader, functions_sql, run, tree, take_function, ret_message);
    if (r == 0)
        r = for_each_row(reader, locations_sql, run, tree, take_location, ret_message);
    if (r == 0)
        r = for_each_row(reader, nodes_sql, run, tree, take_node, ret_message);
    if (r == 0 && (r = resolve_all(tree)) < 0)
        (void)pie_message(r, ret_message, "out of memory");
    if (r == 0)
        r = for_each_row(reader, samples_sql, run, tree, take_sample, ret_message);
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
    for (uint32_t i = 0; i < tree->frame_count; i++) {
        free((char *)tree->frames[i].function);
        free((char *)tree->frames[i].file);
        free((char *)tree->frames[i].library);
        free((char *)tree->frames[i].module);
    }
    if (tree->source) {
        free(tree->source->functions);
        free(tree->source->locations);
        free(tree->source->nodes);
        pie_idmap_finish(&tree->source->frames);
        pie_idmap_finish(&tree->source->children);
    }
    free(tree->source);
    free(tree->frames);
    free(tree->nodes);
    free(tree);
}
