/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/page/page_cells.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "profiler/base/hash.h"
#include "storage/export/calltree.h"

static uint64_t hash_cell(const struct pie_page_cell *cell) {
    uint64_t hash = pie_hash_mix(0, (uint64_t)cell->slice << 32 | cell->node);
    return pie_hash_mix(hash, (uint64_t)cell->process << 32 ^ (uint32_t)cell->thread);
}

static uint64_t hash_number(const void *owner, uint32_t number) {
    const struct pie_page_cells *cells = owner;
    return hash_cell(&cells->cells[number - 1]);
}

static bool is_cell(const void *owner, uint32_t number, const void *key) {
    const struct pie_page_cells *cells = owner;
    const struct pie_page_cell *a = &cells->cells[number - 1], *b = key;
    return a->slice == b->slice && a->node == b->node && a->process == b->process && a->thread == b->thread;
}

static const struct pie_lookup_by by_key = {hash_number, is_cell};

void pie_page_cells_init(struct pie_page_cells *cells, const struct pie_page_nodes *nodes,
                         uint32_t cells_max) {
    *cells = (struct pie_page_cells){.nodes = nodes, .nodes_max = nodes->count, .cells_max = cells_max};
}

void pie_page_cells_finish(struct pie_page_cells *cells) {
    pie_lookup_finish(&cells->by_key);
    free(cells->cells);
    cells->cells = NULL;
    cells->count = cells->room = 0;
}

/* As fine as cells are by now. */
static struct pie_page_cell coarse(const struct pie_page_cells *cells, struct pie_page_cell cell) {
    while (cell.node >= cells->nodes_max)
        cell.node = cells->nodes->nodes[cell.node].parent;
    cell.thread = cells->has_no_threads ? -1 : cell.thread;
    cell.process = cells->has_no_processes ? 0 : cell.process;
    return cell;
}

static int make_room(struct pie_page_cells *cells) {
    if (cells->count < cells->room)
        return 0;
    uint32_t room = cells->room > 0 ? 2 * cells->room : 1024;
    struct pie_page_cell *larger = reallocarray(cells->cells, room, sizeof *larger);
    if (!larger)
        return -ENOMEM;
    cells->cells = larger;
    cells->room = room;
    return 0;
}

static int add_coarse(struct pie_page_cells *cells, const struct pie_page_cell *added) {
    const struct pie_page_cell cell = coarse(cells, *added);
    uint32_t number = pie_lookup_get(&cells->by_key, &by_key, cells, hash_cell(&cell), &cell);
    if (number > 0) {
        for (int i = 0; i < PIE_PAGE_METRICS; i++)
            pie_calltree_add(&cells->cells[number - 1].values[i], cell.values[i]);
        return 0;
    }
    if (make_room(cells) < 0)
        return -ENOMEM;
    cells->cells[cells->count++] = cell;
    return pie_lookup_add(&cells->by_key, &by_key, cells, cells->count);
}

int pie_page_cells_add(struct pie_page_cells *cells, const struct pie_page_cell *cell) {
    int r = add_coarse(cells, cell);
    while (r == 0 && cells->count > cells->cells_max)
        r = pie_page_cells_coarsen(cells);
    return r;
}

int pie_page_cells_coarsen(struct pie_page_cells *cells) {
    struct pie_page_cell *before = cells->cells;
    uint32_t count = cells->count;
    int r = 0;
    if (cells->nodes_max > 1)
        cells->nodes_max = (cells->nodes_max + 1) / 2;
    else if (!cells->has_no_threads)
        cells->has_no_threads = true;
    else
        cells->has_no_processes = true;
    cells->cells = NULL;
    cells->count = cells->room = 0;
    pie_lookup_finish(&cells->by_key);
    for (uint32_t i = 0; i < count && r == 0; i++)
        r = add_coarse(cells, &before[i]);
    free(before);
    return r;
}
