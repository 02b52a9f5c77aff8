/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/export/calltree_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "storage/base/message.h"
#include "storage/read/reader.h"

void *pie_calltree_grow(void *array, size_t count, size_t size) {
    if (count != 0 && (count & (count - 1)) != 0)
        return array;
    return reallocarray(array, count ? count * 2 : 1, size);
}

/* Adds one to a column whose rows so far are `count`. */
static int add(uint32_t **column, uint32_t count, uint32_t value) {
    uint32_t *grown = pie_calltree_grow(*column, count, sizeof *grown);
    if (!grown)
        return -ENOMEM;
    *column = grown;
    grown[count] = value;
    return 0;
}

/* Columns as in functions_sql. */
static int take_function(void *data, struct pie_cursor *cursor) {
    struct pie_calltree *tree = data;
    struct pie_calltree_source *source = tree->source;
    const struct pie_calltree_frame frame = {
        .kind = pie_cursor_int(cursor, 2) == PIE_LOCATION_NATIVE ? PIE_LOCATION_NATIVE : PIE_LOCATION_PYTHON,
        .function = pie_cursor_text(cursor, 3),
        .file = pie_cursor_text(cursor, 4),
        .library = pie_cursor_text(cursor, 5),
        .module = pie_cursor_text(cursor, 6),
        .first_line = pie_cursor_int(cursor, 7),
    };
    uint32_t id = pie_calltree_id(pie_cursor_int(cursor, 1)), found;
    if (id == 0)
        return 0;
    int r = pie_calltree_get_frame(tree, &frame, &found);
    if (r == 0)
        r = add(&source->function_frames, source->functions.count, found);
    return r == 0 ? pie_calltree_ids_add(&source->functions, pie_cursor_int(cursor, 0), id) : r;
}

/* The frame of a function at a line. */
static int get_line_frame(struct pie_calltree *tree, int64_t line, uint32_t *frame) {
    struct pie_calltree_frame wanted = tree->frames[*frame];
    if (!(tree->source->detail & PIE_CALLTREE_LINES) || line <= 0)
        return 0;
    wanted.line = line;
    return pie_calltree_get_frame(tree, &wanted, frame);
}

static int take_location(void *data, struct pie_cursor *cursor) {
    struct pie_calltree *tree = data;
    struct pie_calltree_source *source = tree->source;
    struct pie_raw_locations *locations = &source->locations;
    int64_t process = pie_cursor_int(cursor, 0);
    uint32_t id = pie_calltree_id(pie_cursor_int(cursor, 1));
    uint32_t function = pie_calltree_ids_find(&source->functions, process, pie_cursor_int(cursor, 2));
    if (id == 0)
        return 0;
    uint32_t frame = function ? source->function_frames[function - 1] : 0;
    int r = function ? get_line_frame(tree, pie_cursor_int(cursor, 4), &frame) : 0;
    if (r == 0)
        r = add(&locations->frames, locations->ids.count, function ? frame + 1 : 0);
    if (r == 0)
        r = add(&locations->callers, locations->ids.count, pie_calltree_id(pie_cursor_int(cursor, 3)));
    return r == 0 ? pie_calltree_ids_add(&locations->ids, process, id) : r;
}

static int take_node(void *data, struct pie_cursor *cursor) {
    const struct pie_calltree *tree = data;
    struct pie_calltree_source *source = tree->source;
    struct pie_raw_nodes *nodes = &source->nodes;
    int64_t process = pie_cursor_int(cursor, 0);
    uint32_t id = pie_calltree_id(pie_cursor_int(cursor, 1));
    if (id == 0)
        return 0;
    int r = add(&nodes->parents, nodes->ids.count, pie_calltree_id(pie_cursor_int(cursor, 2)));
    if (r == 0)
        r = add(&nodes->locations, nodes->ids.count,
                pie_calltree_ids_find(&source->locations.ids, process, pie_cursor_int(cursor, 3)));
    return r == 0 ? pie_calltree_ids_add(&nodes->ids, process, id) : r;
}

uint32_t pie_calltree_frames_at(const struct pie_calltree *tree, uint32_t location, uint32_t *ret_frames) {
    const struct pie_raw_locations *locations = &tree->source->locations;
    uint32_t count = 0;
    while (count < PIE_CALLTREE_INLINE_MAX && location != 0 && locations->frames[location - 1] != 0) {
        ret_frames[count++] = locations->frames[location - 1] - 1;
        location = locations->callers[location - 1];
    }
    return count;
}

int pie_calltree_each_row(struct pie_reader *reader, const char *sql, int64_t run, void *data,
                          int (*take)(void *data, struct pie_cursor *), char **ret_message) {
    struct pie_cursor *cursor;
    int r = pie_cursor_open(reader, sql, &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", run);
    while ((r = pie_cursor_next(cursor, ret_message)) > 0) {
        r = take(data, cursor);
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
    "SELECT l.process, l.id, l.function, l.caller, l.line FROM process p JOIN location l ON l.process = p.id"
    " WHERE p.run = :run ORDER BY l.process, l.id";
static const char nodes_sql[] =
    "SELECT n.process, n.id, n.parent, n.location FROM process p JOIN node n ON n.process = p.id"
    " WHERE p.run = :run ORDER BY n.process, n.id";

static void end_functions(struct pie_calltree *tree) {
    struct pie_calltree_source *source = tree->source;
    pie_calltree_ids_finish(&source->functions);
    free(source->function_frames);
    source->function_frames = NULL;
}

static int prepare_nodes(struct pie_raw_nodes *nodes, char **ret_message) {
    pie_calltree_ids_resolve(&nodes->ids, &nodes->ids, nodes->parents);
    nodes->nodes = calloc((size_t)nodes->ids.count + 1, sizeof *nodes->nodes);
    nodes->flags = calloc((size_t)nodes->ids.count + 1, sizeof *nodes->flags);
    return nodes->nodes && nodes->flags ? 0 : pie_message(-ENOMEM, ret_message, "out of memory");
}

int pie_calltree_read_rows(struct pie_reader *reader, int64_t run, struct pie_calltree *tree,
                           char **ret_message) {
    struct pie_raw_locations *locations = &tree->source->locations;
    int r = pie_calltree_each_row(reader, functions_sql, run, tree, take_function, ret_message);
    if (!(tree->source->detail & PIE_CALLTREE_LINES))
        pie_calltree_end_frames(tree);
    if (r == 0)
        r = pie_calltree_each_row(reader, locations_sql, run, tree, take_location, ret_message);
    pie_calltree_end_frames(tree);
    end_functions(tree);
    pie_calltree_ids_resolve(&locations->ids, &locations->ids, locations->callers);
    if (r == 0)
        r = pie_calltree_each_row(reader, nodes_sql, run, tree, take_node, ret_message);
    return r == 0 ? prepare_nodes(&tree->source->nodes, ret_message) : r;
}

void pie_calltree_end_rows(struct pie_calltree *tree) {
    struct pie_calltree_source *source = tree->source;
    end_functions(tree);
    pie_calltree_ids_finish(&source->locations.ids);
    free(source->locations.frames);
    free(source->locations.callers);
    free(source->nodes.parents);
    free(source->nodes.locations);
    free(source->nodes.flags);
    pie_lookup_finish(&source->children);
    source->locations = (struct pie_raw_locations){0};
    source->nodes = (struct pie_raw_nodes){.ids = source->nodes.ids, .nodes = source->nodes.nodes};
}

void pie_calltree_finish_rows(struct pie_calltree *tree) {
    if (!tree->source)
        return;
    pie_calltree_end_rows(tree);
    pie_calltree_ids_finish(&tree->source->nodes.ids);
    free(tree->source->nodes.nodes);
    pie_calltree_finish_frames(tree);
    free(tree->source);
}
