/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "storage/base/idmap.h"
#include "storage/base/message.h"
#include "storage/page/page_cells.h"
#include "storage/page/page_json.h"
#include "storage/page/page_part.h"
#include "storage/page/page_tree.h"
#include "storage/read/reader.h"

/* Whole data have WHOLE_CELLS_MAX. */
enum {
    CELLS_BYTES_MAX = 400000,
    CELLS_MAX = 16000,
    WHOLE_CELLS_MAX = 500000,
    SLICES_MAX = 256 /* as in slices.sql */
};

struct time_part {
    struct pie_page *page;
    const struct pie_page_tree *tree;
    struct pie_page_cells cells;
    struct pie_idmap threads; /* by process and thread: index in the page's table + 1 */
    size_t rows;              /* with costs */
    double width_s, first_t_s;
};

/* As v_slice has them. */
static const char width_sql[] = "SELECT w.width_s, (w.started_ns - r.started_ns) / 1e9 FROM x_slice_width w"
                                " JOIN run r ON r.id = w.run WHERE w.run = :run";
#define SLICE "(p.started_ns + s.slice_s * 1000000000 - w.started_ns) / 1000000000 / w.width_s + 1"
#define FROM(table)                                                                                          \
    " FROM process p JOIN x_slice_width w ON w.run = p.run JOIN " table                                      \
    " s ON s.process = p.id WHERE p.run = "                                                                  \
    ":run"

/* The third column is the thread, the fourth one the slice. */
static const struct pie_page_metrics tables[] = {
    {"SELECT s.process, s.node, s.thread, " SLICE ", s.python_ns, s.native_ns, s.system_ns, s.wait_ns,"
     " s.runnable_ns, s.throttled_ns, s.samples" FROM("sample"),
     7,
     {PIE_PAGE_PYTHON, PIE_PAGE_NATIVE, PIE_PAGE_SYSTEM, PIE_PAGE_WAIT, PIE_PAGE_RUNNABLE, PIE_PAGE_THROTTLED,
      PIE_PAGE_SAMPLES}},
    {"SELECT s.process, s.node, NULL, " SLICE ", s.python_bytes + s.native_bytes" FROM("allocated"),
     1,
     {PIE_PAGE_ALLOCATED}},
    {"SELECT s.process, s.node, NULL, " SLICE ", s.bytes" FROM("copy"), 1, {PIE_PAGE_COPIED}},
};

struct thread_key {
    json_int_t process, thread;
};

/* Threads are referred to by their place in the page's table. */
static int number_threads(struct time_part *part) {
    json_t *table = json_object_get(part->page->data, "threads");
    json_t *processes = json_object_get(table, "process"), *threads = json_object_get(table, "thread");
    for (size_t i = 0; i < json_array_size(threads); i++) {
        const struct thread_key key = {json_integer_value(json_array_get(processes, i)),
                                       json_integer_value(json_array_get(threads, i))};
        if (pie_idmap_get(&part->threads, &key, sizeof key) == 0 &&
            pie_idmap_add(&part->threads, &key, sizeof key, (uint32_t)i + 1) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int32_t find_thread(const struct time_part *part, struct pie_cursor *cursor) {
    const struct thread_key key = {pie_cursor_int(cursor, 0), pie_cursor_int(cursor, 2)};
    if (pie_cursor_type(cursor, 2) == PIE_VALUE_NULL)
        return -1;
    return (int32_t)pie_idmap_get(&part->threads, &key, sizeof key) - 1;
}

/* A damaged file may have slices before the run's begin and behind its end. */
static uint32_t slice_in_run(int64_t slice) {
    return slice < 1 ? 1 : slice > SLICES_MAX ? SLICES_MAX : (uint32_t)slice;
}

static int take_row(struct time_part *part, const struct pie_page_metrics *table, struct pie_cursor *cursor) {
    struct pie_page_cell cell = {
        .slice = slice_in_run(pie_cursor_int(cursor, 3)),
        .thread = find_thread(part, cursor),
        .process = pie_cursor_int(cursor, 0),
        .node = pie_page_tree_find(part->tree, pie_cursor_int(cursor, 0), pie_cursor_int(cursor, 1)),
    };
    bool has_costs = false;
    for (int i = 0; i < table->count; i++) {
        int64_t value = pie_cursor_int(cursor, 4 + i);
        cell.values[table->metrics[i]] = value > 0 ? value : 0;
        has_costs = has_costs || value > 0;
    }
    if (!has_costs || cell.node == PIE_PAGE_NO_NODE)
        return 0;
    part->rows++;
    return pie_page_cells_add(&part->cells, &cell);
}

static int read_table(struct time_part *part, const struct pie_page_metrics *table, char **ret_message) {
    struct pie_cursor *cursor;
    int r = pie_cursor_open_once(part->page->reader, table->sql, &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", part->page->run);
    while ((r = pie_cursor_next(cursor, ret_message)) > 0) {
        r = take_row(part, table, cursor);
        if (r < 0) {
            (void)pie_page_no_memory(ret_message);
            break;
        }
    }
    pie_cursor_close(cursor);
    return r;
}

static int compare_cells(const void *a, const void *b) {
    const struct pie_page_cell *x = a, *y = b;
    if (x->slice != y->slice)
        return x->slice < y->slice ? -1 : 1;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static json_t *column_of(const struct pie_page_cells *cells, int64_t (*of)(const struct pie_page_cell *, int),
                         int metric) {
    json_t *column = json_array();
    for (uint32_t i = 0; column && i < cells->count; i++) {
        if (json_array_append_new(column, json_integer(of(&cells->cells[i], metric))) < 0) {
            json_decref(column);
            column = NULL;
        }
    }
    return column;
}

static int64_t slice_of(const struct pie_page_cell *cell, int metric) {
    return cell->slice;
}

static int64_t thread_of(const struct pie_page_cell *cell, int metric) {
    return cell->thread;
}

static int64_t process_of(const struct pie_page_cell *cell, int metric) {
    return cell->process;
}

static int64_t node_of(const struct pie_page_cell *cell, int metric) {
    return cell->node;
}

static int64_t value_of(const struct pie_page_cell *cell, int metric) {
    return cell->values[metric];
}

static bool is_zero_everywhere(const struct pie_page_cells *cells, int metric) {
    for (uint32_t i = 0; i < cells->count; i++)
        if (cells->cells[i].values[metric] != 0)
            return false;
    return true;
}

/* The peak and what is live are of one point in time, not of slices. */
static int write_metrics(const struct pie_page_cells *cells, json_t *object) {
    for (int metric = 0; metric < PIE_PAGE_METRICS; metric++) {
        if (metric == PIE_PAGE_PEAK || metric == PIE_PAGE_LIVE || metric == PIE_PAGE_WASTED)
            continue;
        json_t *column = is_zero_everywhere(cells, metric) ? json_null() : column_of(cells, value_of, metric);
        if (json_object_set_new(object, pie_page_metric_names[metric], column) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* data.d.ts: Time. NULL without memory. */
static json_t *write_time(struct time_part *part) {
    struct pie_page_cells *cells = &part->cells;
    if (cells->count > 0)
        qsort(cells->cells, cells->count, sizeof *cells->cells, compare_cells);
    json_t *columns = json_pack("{s:o, s:o, s:o, s:o}", "slice", column_of(cells, slice_of, 0), "thread",
                                column_of(cells, thread_of, 0), "process", column_of(cells, process_of, 0),
                                "node", column_of(cells, node_of, 0));
    if (columns && write_metrics(cells, columns) < 0) {
        json_decref(columns);
        columns = NULL;
    }
    return json_pack("{s:o, s:o, s:I, s:o}", "width_s", pie_page_number(part->width_s), "first_t_s",
                     pie_page_number(part->first_t_s), "nodes", (json_int_t)cells->nodes_max, "cells",
                     columns);
}

/* With fewer cells until it fits. The fewest are one for each slice. */
static int put_time(struct time_part *part) {
    size_t room = pie_page_room(part->page), limit = pie_page_limit(part->page, CELLS_BYTES_MAX),
           bytes_max = room < limit ? room : limit;
    json_t *time;
    for (;;) {
        time = write_time(part);
        if (!time)
            return -ENOMEM;
        if (pie_page_size(time) <= bytes_max || part->cells.count <= SLICES_MAX)
            break;
        json_decref(time);
        if (pie_page_cells_coarsen(&part->cells) < 0)
            return -ENOMEM;
    }
    int r = pie_page_put(part->page, "time", time);
    return r < 0 ? r
                 : pie_page_put_cut(part->page, "cells", part->cells.nodes_max, part->tree->nodes.count,
                                    "nodes with cells of their own, in the order of the tree");
}

static int read_width(struct time_part *part, char **ret_message) {
    struct pie_cursor *cursor;
    int r = pie_cursor_open_once(part->page->reader, width_sql, &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", part->page->run);
    r = pie_cursor_next(cursor, ret_message);
    if (r > 0) {
        part->width_s = pie_cursor_real(cursor, 0);
        part->first_t_s = pie_cursor_real(cursor, 1);
    }
    pie_cursor_close(cursor);
    return r < 0 ? r : 0;
}

int pie_page_add_time(struct pie_page *page, const struct pie_page_tree *tree, char **ret_message) {
    struct time_part part = {.page = page, .tree = tree};
    pie_page_cells_init(&part.cells, &tree->nodes, page->is_whole ? WHOLE_CELLS_MAX : CELLS_MAX);
    int r = read_width(&part, ret_message);
    if (r == 0 && number_threads(&part) < 0)
        r = pie_page_no_memory(ret_message);
    for (size_t i = 0; i < sizeof tables / sizeof *tables && r == 0 && part.width_s > 0; i++)
        r = read_table(&part, &tables[i], ret_message);
    if (r == 0 && (part.width_s > 0 ? put_time(&part) : pie_page_put(page, "time", json_null())) < 0)
        r = pie_page_no_memory(ret_message);
    pie_page_cells_finish(&part.cells);
    pie_idmap_finish(&part.threads);
    return r;
}
