/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/base/sort.h"

#include "profiler/base/own_memory.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

struct sort {
    size_t size;
    int (*compare)(const void *, const void *);
};

/* Merges the sorted runs [low, middle) and [middle, high) of from into to. */
static void merge(const struct sort *sort, const char *from, char *to, size_t low, size_t middle,
                  size_t high) {
    size_t a = low, b = middle;

    for (size_t k = low; k < high; k++) {
        bool first =
            b == high || (a < middle && sort->compare(from + a * sort->size, from + b * sort->size) <= 0);
        memcpy(to + k * sort->size, from + (first ? a++ : b++) * sort->size, sort->size);
    }
}

int pie_sort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *)) {
    const struct sort sort = {size, compare};
    char *scratch = count > 1 ? pie_malloc(count * size) : NULL;
    char *from = base, *to = scratch;

    if (count <= 1)
        return 0;
    if (!scratch)
        return -ENOMEM;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t low = 0; low < count; low += 2 * width) {
            size_t middle = low + width < count ? low + width : count;
            size_t high = low + 2 * width < count ? low + 2 * width : count;
            merge(&sort, from, to, low, middle, high);
        }
        char *swap = from;
        from = to;
        to = swap;
    }
    if (from != base)
        memcpy(base, from, count * size);
    pie_free(scratch);
    return 0;
}

/* --- By key: least significant digit first --- */

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* Moves from to to, in the order of one digit of key - least. */
static void distribute(const struct pie_sort_key *from, struct pie_sort_key *to, size_t count, uint64_t least,
                       unsigned shift) {
    size_t places[DIGITS] = {0}, place = 0;

    for (size_t i = 0; i < count; i++)
        places[(from[i].key - least) >> shift & (DIGITS - 1)]++;
    for (size_t digit = 0; digit < DIGITS; digit++) {
        size_t n = places[digit];
        places[digit] = place;
        place += n;
    }
    for (size_t i = 0; i < count; i++)
        to[places[(from[i].key - least) >> shift & (DIGITS - 1)]++] = from[i];
}

int pie_sort_keys(struct pie_sort_key *keys, size_t count) {
    struct pie_sort_key *scratch = count > 1 ? pie_malloc(count * sizeof *keys) : NULL;
    struct pie_sort_key *from = keys, *to = scratch;
    uint64_t least = UINT64_MAX, greatest = 0;

    if (count <= 1)
        return 0;
    if (!scratch)
        return -ENOMEM;
    pie_populate(scratch, count * sizeof *scratch);
    for (size_t i = 0; i < count; i++) {
        least = keys[i].key < least ? keys[i].key : least;
        greatest = keys[i].key > greatest ? keys[i].key : greatest;
    }
    for (unsigned shift = 0; shift < 64 && (greatest - least) >> shift; shift += DIGIT_BITS) {
        distribute(from, to, count, least, shift);
        struct pie_sort_key *swap = from;
        from = to;
        to = swap;
    }
    if (from != keys)
        memcpy(keys, from, count * sizeof *keys);
    pie_free(scratch);
    return 0;
}
