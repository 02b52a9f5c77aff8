/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/read/place_sums.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "profiler/base/own_memory.h"

/* Room for one more element: arrays double at powers of two. Returns the array, which may have moved, or NULL. */
static void *grow(void *array, size_t count, size_t size) {
    bool is_full = (count & (count - 1)) == 0;
    return is_full ? pie_realloc(array, (count ? 2 * count : 1) * size) : array;
}

/* The id where it is one of 32 bits, else 0. */
static uint32_t id_of(int64_t id) {
    return id > 0 && id <= UINT32_MAX ? (uint32_t)id : 0;
}

/* All kinds of elements begin with their ids. */
static int compare_ids(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

int pie_place_sums_add_function(struct pie_place_sums *places, int64_t id) {
    uint32_t *functions = grow(places->functions, places->function_count, sizeof *functions);
    if (!functions)
        return -ENOMEM;
    places->functions = functions;
    functions[places->function_count++] = id_of(id);
    return 0;
}

/* Only those of native functions are kept. */
int pie_place_sums_add_location(struct pie_place_sums *places, int64_t id, int64_t function) {
    uint32_t key = id_of(function);
    if (places->function_count == 0 ||
        !bsearch(&key, places->functions, places->function_count, sizeof key, compare_ids))
        return 0;
    struct pie_place_location *locations = grow(places->locations, places->location_count, sizeof *locations);
    if (!locations)
        return -ENOMEM;
    places->locations = locations;
    locations[places->location_count++] = (struct pie_place_location){id_of(id), key};
    return 0;
}

static uint32_t function_at(const struct pie_place_sums *places, uint32_t location) {
    const struct pie_place_location *found =
        location && places->location_count
            ? bsearch(&location, places->locations, places->location_count, sizeof *found, compare_ids)
            : NULL;
    return found ? found->function : 0;
}

int pie_place_sums_add_context(struct pie_place_sums *places, const int64_t ids[PIE_PLACE_IDS]) {
    struct pie_place_context *contexts = grow(places->contexts, places->context_count, sizeof *contexts);
    if (!contexts)
        return -ENOMEM;
    places->contexts = contexts;
    contexts[places->context_count++] =
        (struct pie_place_context){.id = id_of(ids[PIE_PLACE_CONTEXT]),
                                   .line_location = id_of(ids[PIE_PLACE_LINE_LOCATION]),
                                   .own_location = id_of(ids[PIE_PLACE_OWN_LOCATION]),
                                   .library_module = id_of(ids[PIE_PLACE_LIBRARY_MODULE]),
                                   .function = function_at(places, id_of(ids[PIE_PLACE_LOCATION])),
                                   .true_line = id_of(ids[PIE_PLACE_TRUE_LINE])};
    return 0;
}

/* Most files have all ids from 1 on. */
static const struct pie_place_context *find(const struct pie_place_sums *places, uint32_t id) {
    const struct pie_place_context *contexts = places->contexts;
    size_t count = places->context_count;
    if (id == 0 || count == 0)
        return NULL;
    if (id <= count && contexts[id - 1].id == id)
        return &contexts[id - 1];
    return bsearch(&id, contexts, count, sizeof *contexts, compare_ids);
}

/* The number from 1 on of the row of a key, which is made like `wanted` if there is none; 0: no memory. a and b: the
 * ids by which rows of the kind differ. */
static uint32_t row_of(struct pie_place_sums *places, const struct pie_place_sum *wanted, uint32_t a,
                       uint32_t b) {
    struct pie_u64map *map = &places->by_key[wanted->kind];
    uint64_t key = (uint64_t)a << 32 | b;
    uint32_t number = pie_u64map_get(map, key);
    if (number)
        return number;
    struct pie_place_sum *rows = grow(places->rows, places->row_count, sizeof *rows);
    if (!rows)
        return 0;
    places->rows = rows;
    if (places->row_count == UINT32_MAX || pie_u64map_put(map, key, (uint32_t)places->row_count + 1) < 0)
        return 0;
    rows[places->row_count++] = *wanted;
    return (uint32_t)places->row_count;
}

static int add(struct pie_place_sums *places, uint32_t number, const struct pie_place_sample *sample) {
    if (!number)
        return -ENOMEM;
    struct pie_place_sum *row = &places->rows[number - 1];
    for (int i = 0; i < PIE_PLACE_SUMS; i++)
        if (__builtin_add_overflow(row->sums[i], sample->sums[i], &row->sums[i]))
            return -EOVERFLOW;
    row->squares += sample->squares;
    return 0;
}

/* Of a pair of lines, from 1 on; 0: no memory. */
static uint32_t number_lines(struct pie_place_sums *places, uint32_t line, uint32_t own) {
    uint64_t key = (uint64_t)line << 32 | own;
    uint32_t number = pie_u64map_get(&places->lines, key);
    if (!number && pie_u64map_put(&places->lines, key, (uint32_t)places->lines.count + 1) == 0)
        number = (uint32_t)places->lines.count;
    return number;
}

static int add_to_library(struct pie_place_sums *places, const struct pie_place_context *context,
                          const struct pie_place_sample *sample) {
    const struct pie_place_sum row = {.kind = PIE_PLACE_LIBRARY,
                                      .line_location = context->true_line,
                                      .own_location = context->own_location,
                                      .library_module = context->library_module};
    uint32_t lines = number_lines(places, context->true_line, context->own_location);
    return lines ? add(places, row_of(places, &row, lines, context->library_module), sample) : -ENOMEM;
}

static int add_to_context(struct pie_place_sums *places, const struct pie_place_context *context,
                          const struct pie_place_sample *sample) {
    const struct pie_place_sum line = {.kind = PIE_PLACE_LINE,
                                       .line_location = context->line_location,
                                       .own_location = context->own_location};
    const struct pie_place_sum native = {.kind = PIE_PLACE_NATIVE, .function = context->function};
    int r = add(places, row_of(places, &line, line.line_location, line.own_location), sample);
    if (r == 0)
        r = add_to_library(places, context, sample);
    if (r < 0 || !context->function)
        return r;
    return add(places, row_of(places, &native, context->function, 0), sample);
}

int pie_place_sums_add_sample(struct pie_place_sums *places, const struct pie_place_sample *sample) {
    const struct pie_place_sum row = {.kind = PIE_PLACE_THREAD, .thread = (uint32_t)sample->thread};
    const struct pie_place_context *context = find(places, id_of(sample->context));
    int r = add(places, row_of(places, &row, row.thread, 0), sample);
    return r == 0 && context ? add_to_context(places, context, sample) : r;
}

static int compare(uint32_t a, uint32_t b) {
    return a < b ? -1 : a > b;
}

static int compare_rows(const void *a, const void *b) {
    const struct pie_place_sum *x = a, *y = b;
    int r = compare(x->kind, y->kind);
    r = r ? r : compare(x->line_location, y->line_location);
    r = r ? r : compare(x->own_location, y->own_location);
    r = r ? r : compare(x->library_module, y->library_module);
    r = r ? r : compare(x->function, y->function);
    return r ? r : compare(x->thread, y->thread);
}

static void release_contexts(struct pie_place_sums *places) {
    for (size_t i = 0; i < sizeof places->by_key / sizeof *places->by_key; i++)
        pie_u64map_finish(&places->by_key[i]);
    pie_u64map_finish(&places->lines);
    pie_free(places->functions);
    pie_free(places->locations);
    pie_free(places->contexts);
    *places = (struct pie_place_sums){.rows = places->rows, .row_count = places->row_count};
}

void pie_place_sums_end(struct pie_place_sums *places) {
    release_contexts(places);
    if (places->row_count > 0)
        qsort(places->rows, places->row_count, sizeof *places->rows, compare_rows);
}

void pie_place_sums_finish(struct pie_place_sums *places) {
    release_contexts(places);
    pie_free(places->rows);
    *places = (struct pie_place_sums){0};
}
