/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/calltree_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/message.h"
#include "storage/reader.h"

void *pie_calltree_grow(void *array, size_t count, size_t size) {
    if (count != 0 && (count & (count - 1)) != 0)
        return array;
    return reallocarray(array, count ? count * 2 : 1, size);
}

static int compare_keys(const void *a, const void *b) {
    const struct pie_raw_key *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* The key is the first member of each kind of row, and the file has them in its order. */
static void *find_raw(void *array, size_t count, size_t size, int64_t process, int64_t id) {
    struct pie_raw_key key = {.process = process, .id = id};
    return id > 0 && count > 0 ? bsearch(&key, array, count, size, compare_keys) : NULL;
}

static void free_frame(struct pie_calltree_frame *frame) {
    free((char *)frame->function);
    free((char *)frame->file);
    free((char *)frame->library);
    free((char *)frame->module);
}

static char *copy_text(const char *text) {
    return text ? strdup(text) : NULL;
}

int pie_calltree_add_frame(struct pie_calltree *tree, struct pie_calltree_frame frame) {
    struct pie_calltree_frame *frames = pie_calltree_grow(tree->frames, tree->frame_count, sizeof *frames);
    if (!frames) {
        free_frame(&frame);
        return -ENOMEM;
    }
    tree->frames = frames;
    frames[tree->frame_count++] = frame;
    return 0;
}

static struct pie_calltree_frame read_frame(struct pie_cursor *cursor) {
    return (struct pie_calltree_frame){
        .kind = pie_cursor_int(cursor, 2) == PIE_LOCATION_NATIVE ? PIE_LOCATION_NATIVE : PIE_LOCATION_PYTHON,
        .function = copy_text(pie_cursor_text(cursor, 3)),
        .file = copy_text(pie_cursor_text(cursor, 4)),
        .library = copy_text(pie_cursor_text(cursor, 5)),
        .module = copy_text(pie_cursor_text(cursor, 6)),
        .first_line = pie_cursor_int(cursor, 7),
    };
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
        r = pie_calltree_add_frame(tree, read_frame(cursor));
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
    struct pie_raw_function *functions =
        pie_calltree_grow(source->functions, source->function_count, sizeof *functions);
    if (!functions)
        return -ENOMEM;
    source->functions = functions;
    struct pie_raw_function *function = &functions[source->function_count];
    function->key = (struct pie_raw_key){pie_cursor_int(cursor, 0), pie_cursor_int(cursor, 1)};
    int r = get_frame(tree, cursor, &function->frame);
    source->function_count += r == 0;
    return r;
}

static int take_location(struct pie_calltree *tree, struct pie_cursor *cursor) {
    struct pie_calltree_source *source = tree->source;
    struct pie_raw_location *locations =
        pie_calltree_grow(source->locations, source->location_count, sizeof *locations);
    if (!locations)
        return -ENOMEM;
    source->locations = locations;
    locations[source->location_count++] = (struct pie_raw_location){
        .key = {pie_cursor_int(cursor, 0), pie_cursor_int(cursor, 1)},
        .function = pie_cursor_int(cursor, 2),
        .caller = pie_cursor_int(cursor, 3),
    };
    return 0;
}

static int take_node(struct pie_calltree *tree, struct pie_cursor *cursor) {
    struct pie_calltree_source *source = tree->source;
    struct pie_raw_node *nodes = pie_calltree_grow(source->nodes, source->node_count, sizeof *nodes);
    if (!nodes)
        return -ENOMEM;
    source->nodes = nodes;
    nodes[source->node_count++] = (struct pie_raw_node){
        .key = {pie_cursor_int(cursor, 0), pie_cursor_int(cursor, 1)},
        .parent = pie_cursor_int(cursor, 2),
        .location = pie_cursor_int(cursor, 3),
    };
    return 0;
}

uint32_t pie_calltree_frames_at(const struct pie_calltree *tree, int64_t process, int64_t location,
                                uint32_t *ret_frames) {
    const struct pie_calltree_source *source = tree->source;
    uint32_t count = 0;
    while (count < PIE_CALLTREE_INLINE_MAX) {
        const struct pie_raw_location *found =
            find_raw(source->locations, source->location_count, sizeof *found, process, location);
        const struct pie_raw_function *function = found ? find_raw(source->functions, source->function_count,
                                                                   sizeof *function, process, found->function)
                                                        : NULL;
        if (!function)
            break;
        ret_frames[count++] = function->frame;
        location = found->caller;
    }
    return count;
}

struct pie_raw_node *pie_calltree_raw_node(const struct pie_calltree *tree, int64_t process, int64_t id) {
    return find_raw(tree->source->nodes, tree->source->node_count, sizeof(struct pie_raw_node), process, id);
}

int pie_calltree_each_row(struct pie_reader *reader, const char *sql, int64_t run, struct pie_calltree *tree,
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

int pie_calltree_read_rows(struct pie_reader *reader, int64_t run, struct pie_calltree *tree,
                           char **ret_message) {
    int r = pie_calltree_each_row(reader, functions_sql, run, tree, take_function, ret_message);
    if (r == 0)
        r = pie_calltree_each_row(reader, locations_sql, run, tree, take_location, ret_message);
    if (r == 0)
        r = pie_calltree_each_row(reader, nodes_sql, run, tree, take_node, ret_message);
    return r;
}

void pie_calltree_finish_rows(struct pie_calltree *tree) {
    for (uint32_t i = 0; i < tree->frame_count; i++)
        free_frame(&tree->frames[i]);
    free(tree->frames);
    if (!tree->source)
        return;
    free(tree->source->functions);
    free(tree->source->locations);
    free(tree->source->nodes);
    pie_idmap_finish(&tree->source->frames);
    pie_idmap_finish(&tree->source->children);
    free(tree->source);
}
