/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/write/slices.h"

static const int64_t SECOND_NS = 1000000000;

/* Rows are not made for the sake of few: this part of a slice's must be in the one before too. */
enum { SHARED_PART = 4 };

void pie_slices_begin(struct pie_slices *slices, int64_t started_ns, int64_t keep_s) {
    pie_slices_finish(slices);
    *slices = (struct pie_slices){.started_ns = started_ns, .keep_s = keep_s, .width_s = 1};
}

void pie_slices_finish(struct pie_slices *slices) {
    pie_u64map_finish(&slices->keys);
    pie_u64map_finish(&slices->last);
}

static int64_t age_s(const struct pie_slices *slices, int64_t at_ns) {
    int64_t age = (at_ns - slices->started_ns) / SECOND_NS;

    return age < slices->at_s ? slices->at_s : age;
}

/* A row that two neighbours share is one then, as far as the last two are like the others. */
static void widen(struct pie_slices *slices, uint64_t rows, uint64_t shared) {
    slices->width_s *= 2;
    if (rows > 0)
        slices->finished_rows -=
            (uint64_t)((double)slices->finished_rows * (double)shared / (double)rows / 2);
}

static int64_t first_s(const struct pie_slices *slices, int64_t age) {
    int64_t first = slices->keep_s > 0 && age > slices->keep_s ? age - slices->keep_s : 0;

    return first - first % slices->width_s;
}

/* The one that an age lies in is the last. */
static int64_t kept_slices(const struct pie_slices *slices, int64_t age) {
    return (age - first_s(slices, age)) / slices->width_s + 1;
}

/* The present slice is over. Where contexts never come again, wider slices would only tell less. */
static void finish_slice(struct pie_slices *slices) {
    uint64_t rows = slices->keys.count, shared = slices->shared;
    bool is_costly = rows > PIE_SLICES_ROWS_PER_S * (uint64_t)slices->width_s;
    bool has_many = kept_slices(slices, slices->at_s) >= 2 * PIE_SLICES_MIN;

    slices->finished_rows += rows;
    pie_u64map_finish(&slices->last);
    slices->last = slices->keys;
    slices->keys = (struct pie_u64map){0};
    slices->shared = 0;
    if (has_many && rows > 0 && shared * SHARED_PART >= rows &&
        (is_costly || slices->finished_rows > PIE_SLICES_ROWS_MAX))
        widen(slices, rows, shared);
}

bool pie_slices_move(struct pie_slices *slices, int64_t at_ns) {
    int64_t age = age_s(slices, at_ns), width_s = slices->width_s;

    if (age - age % width_s != slices->at_s)
        finish_slice(slices);
    while (kept_slices(slices, age) > PIE_SLICES_MAX)
        widen(slices, slices->last.count, slices->last.count);
    slices->at_s = age - age % slices->width_s;
    return slices->width_s != width_s;
}

int64_t pie_slices_first_s(const struct pie_slices *slices) {
    return first_s(slices, slices->at_s);
}

void pie_slices_note(struct pie_slices *slices, uint64_t key) {
    if (pie_u64map_get(&slices->keys, key) || pie_u64map_put(&slices->keys, key, 1) < 0)
        return; /* without memory it is not counted */
    slices->shared += pie_u64map_get(&slices->last, key) != 0;
}
