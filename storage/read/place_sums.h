/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "profiler/base/u64map.h"

/* The samples of one process added up by place: by the innermost Python line and the line of own code that led there,
 * by these and the library whose native code ran, by native function, and by thread. The file is not trusted: samples
 * of contexts that are not there have only a thread. Context: cli. */

enum { PIE_PLACE_SUMS = 7 /* whole numbers of a sample, as x_node_sample has them */ };

enum pie_place_kind_of_sum {
    PIE_PLACE_LINE = 1,
    PIE_PLACE_LIBRARY = 2, /* the same by library, too */
    PIE_PLACE_NATIVE = 3,
    PIE_PLACE_THREAD = 4,
    PIE_PLACE_KINDS,
};

/* Ids are those of the process; 0: none, or not of this kind. */
struct pie_place_sum {
    uint32_t kind, line_location, own_location, library_module, function, thread;
    int64_t sums[PIE_PLACE_SUMS];
    double squares;
};

struct pie_place_context {
    uint32_t id, line_location, own_location, library_module;
    uint32_t function;  /* the native one that is innermost; 0: Python code is */
    uint32_t true_line; /* line_location, wherever a cut shows the context: of libraries */
};

/* Ids of a context, as they are added. */
enum {
    PIE_PLACE_CONTEXT,
    PIE_PLACE_LINE_LOCATION,
    PIE_PLACE_OWN_LOCATION,
    PIE_PLACE_LIBRARY_MODULE,
    PIE_PLACE_LOCATION, /* its own one */
    PIE_PLACE_TRUE_LINE,
    PIE_PLACE_IDS,
};

struct pie_place_location {
    uint32_t id, function;
};

/* Of a context and a thread. */
struct pie_place_sample {
    int64_t context, thread;
    int64_t sums[PIE_PLACE_SUMS];
    double squares;
};

struct pie_place_sums {
    uint32_t *functions; /* native ones, by ascending ids */
    size_t function_count;
    struct pie_place_location *locations; /* of native functions, by ascending ids, as contexts */
    size_t location_count;
    struct pie_place_context *contexts;
    size_t context_count;
    struct pie_place_sum *rows;
    size_t row_count;
    struct pie_u64map by_key[PIE_PLACE_KINDS]; /* rows by kind and ids, number + 1 */
    struct pie_u64map lines;                   /* pairs of a true line and one of own code, numbered */
};

/* In this order: native functions, all locations, all contexts (each by ascending ids), all samples, end. Each returns
 * 0, -ENOMEM, or -EOVERFLOW: a sum is too large. */
int pie_place_sums_add_function(struct pie_place_sums *places, int64_t id);
int pie_place_sums_add_location(struct pie_place_sums *places, int64_t id, int64_t function);
int pie_place_sums_add_context(struct pie_place_sums *places, const int64_t ids[PIE_PLACE_IDS]);
int pie_place_sums_add_sample(struct pie_place_sums *places, const struct pie_place_sample *sample);
/* Puts rows into the order of their kinds and ids. Only they stay. */
void pie_place_sums_end(struct pie_place_sums *places);
void pie_place_sums_finish(struct pie_place_sums *places);
