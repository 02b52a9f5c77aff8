/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/read/cost_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/base/hash.h"
#include "profiler/base/list.h"
#include "profiler/base/own_memory.h"

/* Of the sums, as sums.h orders them. */
enum { SAMPLES, PYTHON_NS, NATIVE_NS, SYSTEM_NS, WAIT_NS };

static bool is_same_number(struct pie_cost_number a, struct pie_cost_number b) {
    return a.is_known == b.is_known && (!a.is_known || a.value == b.value);
}

static uint64_t hash_row(const struct pie_cost_sums *costs, const struct pie_cost_row *row) {
    uint64_t hash =
        pie_hash_mix((uintptr_t)row->file, row->line.is_known ? (uint64_t)row->line.value + 1 : 0);

    return costs->by_function ? pie_hash_mix(hash, (uintptr_t)row->function) : hash;
}

static uint64_t hash_of(const void *owner, uint32_t number) {
    const struct pie_cost_sums *costs = owner;

    return hash_row(costs, &costs->rows[number - 1]);
}

static bool is_it(const void *owner, uint32_t number, const void *key) {
    const struct pie_cost_sums *costs = owner;
    const struct pie_cost_row *row = &costs->rows[number - 1], *wanted = key;

    return row->file == wanted->file && is_same_number(row->line, wanted->line) &&
           (!costs->by_function || row->function == wanted->function);
}

static const struct pie_lookup_by by = {.hash = hash_of, .is_it = is_it};

/* A row of the part's place, without any cost; NULL: no memory. */
static struct pie_cost_row *add_row(struct pie_cost_sums *costs, const struct pie_cost_row *part) {
    struct pie_cost_row *list = pie_list_grown(costs->rows, costs->count, &costs->capacity, sizeof *list);
    if (!list)
        return NULL;
    costs->rows = list;
    struct pie_cost_row *row = &costs->rows[costs->count++];
    *row = *part;
    memset(row->sums, 0, sizeof row->sums);
    row->has_cpu = false;
    row->squares = 0;
    row->weight = INT64_MIN;
    row->nth = 0;
    return pie_lookup_add(&costs->by_place, &by, costs, (uint32_t)costs->count) == 0 ? row : NULL;
}

int64_t pie_cost_cpu_ns(const struct pie_cost_row *row) {
    return row->sums[PYTHON_NS] + row->sums[NATIVE_NS] + row->sums[SYSTEM_NS];
}

/* Returns whether a sum that is made of others is too large, now or later. */
static bool is_too_large(const struct pie_cost_row *row) {
    int64_t sum = row->sums[PYTHON_NS];

    return __builtin_add_overflow(sum, row->sums[NATIVE_NS], &sum) ||
           __builtin_add_overflow(sum, row->sums[SYSTEM_NS], &sum) ||
           __builtin_add_overflow(sum, row->sums[WAIT_NS], &sum);
}

int pie_cost_sums_add(struct pie_cost_sums *costs, const struct pie_cost_row *part) {
    uint32_t number = pie_lookup_get(&costs->by_place, &by, costs, hash_row(costs, part), part);
    struct pie_cost_row *row = number ? &costs->rows[number - 1] : add_row(costs, part);

    if (!row)
        return -ENOMEM;
    for (int i = 0; i < PIE_COST_SUM_COUNT; i++)
        if (__builtin_add_overflow(row->sums[i], part->sums[i], &row->sums[i]))
            return -EOVERFLOW;
    if (is_too_large(part) || is_too_large(row))
        return -EOVERFLOW;
    row->has_cpu = row->has_cpu || part->has_cpu;
    row->squares += part->squares;
    int64_t weight = pie_cost_cpu_ns(part) + part->sums[WAIT_NS];
    if (weight < row->weight)
        return 0;
    row->weight = weight;
    row->function = part->function;
    row->library = part->library;
    row->user_file = part->user_file;
    row->user_line = part->user_line;
    return 0;
}

static int compare_texts(const char *a, const char *b) {
    return a == b ? 0 : !a ? -1 : !b ? 1 : strcmp(a, b);
}

static int compare_numbers(int64_t a, int64_t b) {
    return a < b ? -1 : a > b;
}

/* As "cpu_s DESC, wait_s DESC, file, line, function" is sorted: NULL is less than anything. */
static int compare_rows(const void *a, const void *b) {
    const struct pie_cost_row *x = a, *y = b;
    int r = compare_numbers(y->has_cpu, x->has_cpu);

    r = r ? r : compare_numbers(pie_cost_cpu_ns(y), pie_cost_cpu_ns(x));
    r = r ? r : compare_numbers(y->sums[WAIT_NS], x->sums[WAIT_NS]);
    r = r ? r : compare_texts(x->file, y->file);
    r = r ? r : compare_numbers(x->line.is_known, y->line.is_known);
    r = r ? r : compare_numbers(x->line.value, y->line.value);
    return r ? r : compare_texts(x->function, y->function);
}

void pie_cost_sums_end(struct pie_cost_sums *costs) {
    int64_t nth = 0;

    pie_lookup_finish(&costs->by_place);
    if (costs->count > 0)
        qsort(costs->rows, costs->count, sizeof *costs->rows, compare_rows);
    for (size_t i = 0; i < costs->count; i++)
        costs->rows[i].nth = costs->rows[i].file ? ++nth : 0;
}

void pie_cost_sums_finish(struct pie_cost_sums *costs) {
    pie_lookup_finish(&costs->by_place);
    pie_free(costs->rows);
    *costs = (struct pie_cost_sums){.by_function = costs->by_function};
}
