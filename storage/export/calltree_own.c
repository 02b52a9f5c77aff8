/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/export/calltree_own.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "storage/export/calltree_rows.h"

/* Rows are first made in the order of the outline, in which each stands behind its parent, then sorted. They are few:
 * what is looked for among them is looked for one by one. */

enum { ROWS_MAX = 2000 }; /* more are a part of the rows above them */

struct folding {
    const struct pie_calltree_outline *outline;
    struct pie_calltree_cost *covered; /* by row of the outline: what own code below it took */
    uint32_t *row_of;                  /* by row of the outline: the row that it became, or is a part of */
    struct pie_calltree_own own;
};

/* In a hostile file the parts may be more than the whole. */
static void less(int64_t *sum, int64_t value) {
    *sum = *sum > value ? *sum - value : 0;
}

static void take_off(struct pie_calltree_cost *sum, const struct pie_calltree_cost *cost) {
    less(&sum->python_ns, cost->python_ns);
    less(&sum->native_ns, cost->native_ns);
    less(&sum->system_ns, cost->system_ns);
    less(&sum->wait_ns, cost->wait_ns);
    less(&sum->runnable_ns, cost->runnable_ns);
    less(&sum->throttled_ns, cost->throttled_ns);
    less(&sum->samples, cost->samples);
}

static uint32_t frame_of(const struct pie_calltree_outline *outline, uint32_t row) {
    return outline->tree->nodes[outline->rows[row].node].frame;
}

static bool is_own(const struct pie_calltree *tree, uint32_t frame) {
    const struct pie_calltree_frame *about = &tree->frames[frame];
    return about->kind == PIE_LOCATION_PYTHON && !about->library;
}

static void cover(struct folding *folding) {
    const struct pie_calltree_outline *outline = folding->outline;
    for (uint32_t i = outline->count; i-- > 1;) {
        const struct pie_calltree_outline_row *row = &outline->rows[i];
        bool own = !row->is_rest && is_own(outline->tree, frame_of(outline, i));
        pie_calltree_add_cost(&folding->covered[row->above], own ? &row->total : &folding->covered[i]);
    }
}

/* Has a library taken a part of the run itself, and not only led to own code? */
static bool has_weight(const struct folding *folding, uint32_t i) {
    const struct pie_calltree_cost *whole = &folding->outline->rows[0].total;
    const struct pie_calltree_cost *total = &folding->outline->rows[i].total, *less = &folding->covered[i];
    double cpu = (double)(pie_calltree_cpu_ns(total) - pie_calltree_cpu_ns(less));
    double wait = (double)(total->wait_ns - less->wait_ns);
    return (cpu > 0 && cpu >= PIE_CALLTREE_PRUNE * (double)pie_calltree_cpu_ns(whole)) ||
           (wait > 0 && wait >= PIE_CALLTREE_PRUNE * (double)whole->wait_ns);
}

static bool is_shown(const struct folding *folding, uint32_t i, uint32_t above) {
    const struct pie_calltree *tree = folding->outline->tree;
    const struct pie_calltree_own_row *parent = &folding->own.rows[above];
    uint32_t frame = frame_of(folding->outline, i);
    if (folding->outline->rows[i].is_rest || folding->own.count >= ROWS_MAX ||
        (above != 0 && parent->frame == frame))
        return false;
    return is_own(tree, frame) || ((above == 0 || is_own(tree, parent->frame)) && has_weight(folding, i));
}

static int append(struct pie_calltree_own *own, const struct pie_calltree_own_row *row) {
    struct pie_calltree_own_row *rows = pie_calltree_grow(own->rows, own->count, sizeof *rows);
    if (!rows)
        return -ENOMEM;
    own->rows = rows;
    rows[own->count++] = *row;
    return 0;
}

/* The same function, or both are of one library that has no symbols. */
static bool is_same(const struct pie_calltree *tree, uint32_t one, uint32_t other) {
    const struct pie_calltree_frame *a = &tree->frames[one], *b = &tree->frames[other];
    return one == other ||
           (!a->function && !b->function && a->library && b->library && strcmp(a->library, b->library) == 0);
}

/* The row below `above` for this frame, 0: there is none. */
static uint32_t find(const struct folding *folding, uint32_t above, uint32_t frame) {
    const struct pie_calltree_own *own = &folding->own;
    for (uint32_t i = 1; i < own->count; i++)
        if (own->rows[i].above == above && is_same(folding->outline->tree, own->rows[i].frame, frame))
            return i;
    return 0;
}

/* What a row's costs are besides those of the rows below it is its own. */
static int place(struct folding *folding, uint32_t i) {
    const struct pie_calltree_outline_row *row = &folding->outline->rows[i];
    struct pie_calltree_own *own = &folding->own;
    uint32_t above = folding->row_of[row->above], frame = row->is_rest ? 0 : frame_of(folding->outline, i);
    folding->row_of[i] = above;
    if (!is_shown(folding, i, above))
        return 0;
    uint32_t at = find(folding, above, frame);
    const struct pie_calltree_own_row made = {
        .frame = frame, .above = above, .depth = own->rows[above].depth + 1};
    if (at == 0) {
        at = own->count;
        if (append(own, &made) < 0)
            return -ENOMEM;
    }
    folding->row_of[i] = at;
    pie_calltree_add_cost(&own->rows[at].total, &row->total);
    pie_calltree_add_cost(&own->rows[at].self, &row->total);
    take_off(&own->rows[above].self, &row->total);
    return 0;
}

static int64_t weight(const struct pie_calltree_own_row *row) {
    int64_t sum = pie_calltree_cpu_ns(&row->total);
    pie_calltree_add(&sum, row->total.wait_ns / 1000);
    return sum;
}

/* The costliest child of `above` that has no place yet, 0: none is left. */
static uint32_t next_child(const struct pie_calltree_own *own, uint32_t above, const bool *is_placed) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < own->count; i++)
        if (own->rows[i].above == above && !is_placed[i] &&
            (best == 0 || weight(&own->rows[i]) > weight(&own->rows[best])))
            best = i;
    return best;
}

/* In the order of reading; `above` is then the row's new number. */
static void sort(struct pie_calltree_own *own, struct pie_calltree_own_row *sorted, uint32_t *number_of,
                 bool *is_placed) {
    uint32_t at = 0, count = 1;
    sorted[0] = own->rows[0];
    while (count < own->count) {
        uint32_t child = next_child(own, at, is_placed);
        if (child == 0) {
            at = own->rows[at].above;
            continue;
        }
        is_placed[child] = true;
        sorted[count] = own->rows[child];
        sorted[count].above = number_of[at];
        number_of[child] = count++;
        at = child;
    }
}

/* A row of the same weight that stands above or before comes first. */
static void number(struct pie_calltree_own *own) {
    for (uint32_t i = 1; i < own->count; i++) {
        own->rows[i].nth = 1;
        for (uint32_t j = 1; j < own->count; j++) {
            int64_t mine = weight(&own->rows[i]), other = weight(&own->rows[j]);
            own->rows[i].nth += other > mine || (other == mine && j < i);
        }
    }
}

static int sort_rows(struct pie_calltree_own *own) {
    struct pie_calltree_own_row *sorted = calloc(own->count, sizeof *sorted);
    uint32_t *number_of = calloc(own->count, sizeof *number_of);
    bool *is_placed = calloc(own->count, sizeof *is_placed);
    int r = sorted && number_of && is_placed ? 0 : -ENOMEM;
    if (r == 0) {
        sort(own, sorted, number_of, is_placed);
        free(own->rows);
        own->rows = sorted;
        number(own);
    } else {
        free(sorted);
    }
    free(number_of);
    free(is_placed);
    return r;
}

static int fold(struct folding *folding) {
    const struct pie_calltree_outline *outline = folding->outline;
    const struct pie_calltree_own_row whole = {.total = outline->rows[0].total,
                                               .self = outline->rows[0].total};
    int r = append(&folding->own, &whole);
    cover(folding);
    for (uint32_t i = 1; i < outline->count && r == 0; i++)
        r = place(folding, i);
    return r == 0 ? sort_rows(&folding->own) : r;
}

int pie_calltree_own_make(const struct pie_calltree_outline *outline, struct pie_calltree_own *ret_own) {
    struct folding folding = {.outline = outline};
    folding.covered = calloc(outline->count, sizeof *folding.covered);
    folding.row_of = calloc(outline->count, sizeof *folding.row_of);
    int r = folding.covered && folding.row_of ? fold(&folding) : -ENOMEM;
    free(folding.covered);
    free(folding.row_of);
    if (r < 0)
        pie_calltree_own_finish(&folding.own);
    else
        *ret_own = folding.own;
    return r;
}

void pie_calltree_own_finish(struct pie_calltree_own *own) {
    free(own->rows);
    *own = (struct pie_calltree_own){0};
}
