/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/read/call_sums.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "profiler/base/own_memory.h"

/* Two walks through the tree, neither of which recurses. The first gives each node the Python code that it runs for, so
 * that a sample can be added to the function and line that it is in. The second adds up from the leaves; when it leaves
 * a Python node, the frames above that are on a stack, and what the node took is added to whom it belongs to. */

/* Room for one more element: arrays double at powers of two. Returns the array, which may have moved, or NULL. */
static void *grow(void *array, size_t count, size_t size) {
    bool is_full = (count & (count - 1)) == 0;
    return is_full ? pie_realloc(array, (count ? 2 * count : 1) * size) : array;
}

/* The id where it is one of 32 bits, else 0. */
static uint32_t id_of(int64_t id) {
    return id > 0 && id <= UINT32_MAX ? (uint32_t)id : 0;
}

static int compare_ids(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The number from 1 on of the element that begins with this id, 0: there is none. */
static uint32_t find(const void *array, size_t count, size_t size, uint32_t id) {
    const char *found = id && count ? bsearch(&id, array, count, size, compare_ids) : NULL;
    return found ? (uint32_t)((size_t)(found - (const char *)array) / size) + 1 : 0;
}

static uint32_t find_location(const struct pie_call_sums *calls, int64_t id) {
    return find(calls->locations, calls->location_count, sizeof *calls->locations, id_of(id));
}

/* nodes[0] has no id, so the number is the index. */
static uint32_t find_node(const struct pie_call_sums *calls, uint32_t id) {
    return calls->node_count > 1 ? find(calls->nodes + 1, calls->node_count - 1, sizeof *calls->nodes, id)
                                 : 0;
}

int pie_call_sums_add_function(struct pie_call_sums *calls, int64_t id, bool is_own) {
    struct pie_call_function *functions = grow(calls->functions, calls->function_count, sizeof *functions);
    if (!functions)
        return -ENOMEM;
    calls->functions = functions;
    if (id_of(id))
        functions[calls->function_count++] = (struct pie_call_function){.id = id_of(id), .is_own = is_own};
    return 0;
}

int pie_call_sums_add_location(struct pie_call_sums *calls, int64_t id, int64_t function) {
    uint32_t number =
        find(calls->functions, calls->function_count, sizeof *calls->functions, id_of(function));
    if (!number || !id_of(id))
        return 0;
    struct pie_call_location *locations = grow(calls->locations, calls->location_count, sizeof *locations);
    if (!locations)
        return -ENOMEM;
    calls->locations = locations;
    locations[calls->location_count++] = (struct pie_call_location){.id = id_of(id), .function = number};
    return 0;
}

static int append_node(struct pie_call_sums *calls, const struct pie_call_node *node) {
    struct pie_call_node *nodes = grow(calls->nodes, calls->node_count, sizeof *nodes);
    if (!nodes)
        return -ENOMEM;
    calls->nodes = nodes;
    nodes[calls->node_count++] = *node;
    return 0;
}

int pie_call_sums_add_node(struct pie_call_sums *calls, int64_t id, int64_t parent, int64_t location,
                           int64_t entry, int64_t own) {
    const struct pie_call_node top = {0};
    const struct pie_call_node node = {.id = id_of(id),
                                       .parent = id_of(parent),
                                       .location = find_location(calls, location),
                                       .entry = id_of(entry),
                                       .own = id_of(own)};
    int r = calls->node_count == 0 ? append_node(calls, &top) : 0;
    return r == 0 && node.id ? append_node(calls, &node) : r;
}

/* The next node that is not below `at`, and at the end 0; leave(): each node whose children have been seen. */
static uint32_t next_beside(struct pie_call_sums *calls, uint32_t at, void *data,
                            int (*leave)(struct pie_call_sums *, uint32_t, void *), int *ret_error) {
    while (at != 0) {
        if (leave && (*ret_error = leave(calls, at, data)) < 0)
            return 0;
        if (calls->nodes[at].sibling)
            return calls->nodes[at].sibling;
        at = calls->nodes[at].parent;
    }
    return 0;
}

/* enter() comes before a node's children, leave() behind them. Returns 0 or what one of them did. */
static int walk(struct pie_call_sums *calls, void *data,
                int (*enter)(struct pie_call_sums *, uint32_t, void *),
                int (*leave)(struct pie_call_sums *, uint32_t, void *)) {
    uint32_t at = calls->node_count > 0 ? calls->nodes[0].child : 0;
    int r = 0;
    while (at != 0 && (r = enter(calls, at, data)) == 0) {
        uint32_t child = calls->nodes[at].child;
        at = child ? child : next_beside(calls, at, data, leave, &r);
    }
    return r;
}

static int set_python(struct pie_call_sums *calls, uint32_t at, void *unused) {
    struct pie_call_node *node = &calls->nodes[at];
    node->python = node->location ? at : calls->nodes[node->parent].python;
    return 0;
}

void pie_call_sums_link(struct pie_call_sums *calls) {
    for (size_t i = calls->node_count; i-- > 1;) {
        struct pie_call_node *node = &calls->nodes[i];
        node->parent = find_node(calls, node->parent);
        node->sibling = calls->nodes[node->parent].child;
        calls->nodes[node->parent].child = (uint32_t)i;
    }
    (void)walk(calls, NULL, set_python, NULL);
}

static void add(int64_t *sum, int64_t value) {
    if (__builtin_add_overflow(*sum, value, sum))
        *sum = value > 0 ? INT64_MAX : INT64_MIN;
}

static int64_t cpu_ns(const int64_t *sums) {
    int64_t sum = 0;
    for (int i = PIE_CALL_PYTHON_NS; i <= PIE_CALL_SYSTEM_NS; i++)
        add(&sum, sums[i]);
    return sum;
}

/* The row of these ids, made if there is none yet; a and b: those by which rows of the kind differ. NULL: no memory. */
static struct pie_call_sum *row_of(struct pie_call_sums *calls, const struct pie_call_sum *wanted, uint32_t a,
                                   uint32_t b) {
    struct pie_u64map *map = &calls->by_key[wanted->kind];
    uint64_t key = (uint64_t)a << 32 | b;
    uint32_t number = pie_u64map_get(map, key);
    if (number)
        return &calls->rows[number - 1];
    struct pie_call_sum *rows = grow(calls->rows, calls->row_count, sizeof *rows);
    if (!rows)
        return NULL;
    calls->rows = rows;
    if (calls->row_count == UINT32_MAX || pie_u64map_put(map, key, (uint32_t)calls->row_count + 1) < 0)
        return NULL;
    rows[calls->row_count] = *wanted;
    return &rows[calls->row_count++];
}

static int add_to(struct pie_call_sum *row, const int64_t *sums, int sign) {
    if (!row)
        return -ENOMEM;
    for (int i = 0; i < PIE_CALL_READ_SUMS; i++)
        add(&row->sums[i], sign * sums[i]);
    return 0;
}

static int add_to_callee(struct pie_call_sums *calls, uint32_t function, uint32_t other, const int64_t *sums,
                         int sign) {
    const struct pie_call_sum row = {.kind = PIE_CALL_CALLEE, .function = function, .other = other};
    return add_to(row_of(calls, &row, function, other), sums, sign);
}

static struct pie_call_sum *function_row(struct pie_call_sums *calls, uint32_t function) {
    const struct pie_call_sum row = {.kind = PIE_CALL_FUNCTION, .function = function};
    return row_of(calls, &row, function, 0);
}

static struct pie_call_sum *line_row(struct pie_call_sums *calls, uint32_t location) {
    const struct pie_call_sum row = {.kind = PIE_CALL_LINE, .location = location};
    return row_of(calls, &row, location, 0);
}

static uint32_t function_at(const struct pie_call_sums *calls, uint32_t node) {
    return calls->functions[calls->locations[calls->nodes[node].location - 1].function - 1].id;
}

int pie_call_sums_add_sample(struct pie_call_sums *calls, int64_t id,
                             const int64_t sums[PIE_CALL_READ_SUMS]) {
    uint32_t number = find_node(calls, id_of(id));
    int64_t known[PIE_CALL_READ_SUMS];
    if (!number)
        return 0;
    struct pie_call_node *node = &calls->nodes[number];
    for (int i = 0; i < PIE_CALL_READ_SUMS; i++) {
        known[i] = sums[i] > 0 ? sums[i] : 0;
        add(&node->sums[i], known[i]);
    }
    if (!node->python)
        return 0;
    uint32_t function = function_at(calls, node->python);
    struct pie_call_sum *row = function_row(calls, function);
    if (row)
        add(&row->sums[PIE_CALL_SELF_NS], cpu_ns(known));
    struct pie_call_sum *line =
        row ? line_row(calls, calls->locations[calls->nodes[node->python].location - 1].id) : NULL;
    if (line)
        add(&line->sums[PIE_CALL_SELF_NS], cpu_ns(known));
    return line ? add_to_callee(calls, function, node->entry, known, 1) : -ENOMEM;
}

/* The Python frames on the way to a node. Places on it are counted from 1 on. */
struct frame {
    uint32_t node;
    uint32_t before; /* place of the last frame of the same function below which this one stands; 0: none */
};

struct stack {
    struct frame *frames;
    uint32_t count;
    uint32_t *last_of; /* by number of a function: place of its last frame, 0: none */
    uint32_t *open;    /* by number of a location: its frames */
};

static int add_to_line(struct pie_call_sums *calls, const struct pie_call_function *function,
                       enum pie_call_kind kind, const struct pie_call_node *node) {
    const struct pie_call_sum row = {.kind = kind, .function = function->id, .location = node->own};
    return add_to(row_of(calls, &row, function->id, node->own), node->sums, 1);
}

/* Of what the node itself took: it is not added up yet. A function has it once. Library code above the innermost own
 * code was not used by that. */
static int add_below(struct pie_call_sums *calls, uint32_t at, const struct stack *stack) {
    const struct pie_call_node *node = &calls->nodes[at];
    bool is_used = true;
    int r = 0;
    if (!node->own || cpu_ns(node->sums) == 0)
        return 0;
    for (uint32_t place = stack->count; place > 0 && r == 0; place--) {
        const struct frame *frame = &stack->frames[place - 1];
        uint32_t number = calls->locations[calls->nodes[frame->node].location - 1].function;
        const struct pie_call_function *function = &calls->functions[number - 1];
        is_used &= !function->is_own;
        if (function->is_own && !frame->before)
            r = add_to_line(calls, function, PIE_CALL_BELOW, node);
        if (is_used && stack->last_of[number - 1] == place)
            r = add_to_line(calls, function, PIE_CALL_USED, node);
    }
    return r;
}

static int push(struct pie_call_sums *calls, uint32_t at, struct stack *stack) {
    uint32_t location = calls->nodes[at].location;
    struct frame *frames = grow(stack->frames, stack->count, sizeof *frames);
    if (!frames)
        return -ENOMEM;
    stack->frames = frames;
    uint32_t *last = &stack->last_of[calls->locations[location - 1].function - 1];
    frames[stack->count++] = (struct frame){.node = at, .before = *last};
    *last = stack->count;
    stack->open[location - 1]++;
    return 0;
}

static int enter(struct pie_call_sums *calls, uint32_t at, void *data) {
    int r = calls->nodes[at].location ? push(calls, at, data) : 0;
    return r == 0 ? add_below(calls, at, data) : r;
}

/* A function's time is its outermost frame's. What an inner one takes was not the outer one's callee's. */
static int add_function(struct pie_call_sums *calls, uint32_t at, const struct stack *stack,
                        uint32_t before) {
    const int64_t *sums = calls->nodes[at].sums;
    uint32_t function = function_at(calls, at);
    if (before)
        return add_to_callee(calls, function, function_at(calls, stack->frames[before].node), sums, -1);
    uint32_t above = stack->count ? stack->frames[stack->count - 1].node : 0;
    uint32_t line = above ? calls->locations[calls->nodes[above].location - 1].id : 0;
    const struct pie_call_sum caller = {.kind = PIE_CALL_CALLER, .function = function, .location = line};
    int r = add_to(function_row(calls, function), sums, 1);
    return r == 0 ? add_to(row_of(calls, &caller, function, line), sums, 1) : r;
}

static int leave_python(struct pie_call_sums *calls, uint32_t at, struct stack *stack) {
    uint32_t location = calls->nodes[at].location;
    uint32_t before =
        stack->frames[--stack->count].before; /* the frame itself stays readable behind the end */
    stack->last_of[calls->locations[location - 1].function - 1] = before;
    int r = add_function(calls, at, stack, before);
    if (r == 0 && stack->count)
        r = add_to_callee(calls, function_at(calls, stack->frames[stack->count - 1].node),
                          function_at(calls, at), calls->nodes[at].sums, 1);
    if (--stack->open[location - 1] == 0 && r == 0)
        r = add_to(line_row(calls, calls->locations[location - 1].id), calls->nodes[at].sums, 1);
    return r;
}

static int leave(struct pie_call_sums *calls, uint32_t at, void *data) {
    struct pie_call_node *node = &calls->nodes[at], *parent = &calls->nodes[node->parent];
    int r = node->location ? leave_python(calls, at, data) : 0;
    for (int i = 0; i < PIE_CALL_READ_SUMS; i++)
        add(&parent->sums[i], node->sums[i]);
    return r;
}

/* The rows stay. */
static void release_tree(struct pie_call_sums *calls) {
    for (size_t i = 0; i < sizeof calls->by_key / sizeof *calls->by_key; i++)
        pie_u64map_finish(&calls->by_key[i]);
    pie_free(calls->functions);
    pie_free(calls->locations);
    pie_free(calls->nodes);
    *calls = (struct pie_call_sums){.rows = calls->rows, .row_count = calls->row_count};
}

int pie_call_sums_end(struct pie_call_sums *calls) {
    struct stack stack = {.last_of = pie_calloc(calls->function_count + 1, sizeof *stack.last_of),
                          .open = pie_calloc(calls->location_count + 1, sizeof *stack.open)};
    int r = stack.last_of && stack.open ? walk(calls, &stack, enter, leave) : -ENOMEM;
    pie_free(stack.frames);
    pie_free(stack.last_of);
    pie_free(stack.open);
    release_tree(calls);
    return r;
}

void pie_call_sums_finish(struct pie_call_sums *calls) {
    release_tree(calls);
    pie_free(calls->rows);
    *calls = (struct pie_call_sums){0};
}
