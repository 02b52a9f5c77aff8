/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/ids.h"
#include "profiler/ports/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pie_heap_record;
struct pie_naming;

/* The process's memory over time: what its threads have allocated and not freed, counted, and what the kernel says is
 * resident. Points come from threads that cross the threshold and from the collection thread's own looks: now and then,
 * and where the memory has changed by the threshold. Context: drain. */

enum { PIE_FOOTPRINT_ROWS_MAX = 256 }; /* between two writes */

struct pie_footprint_point {
    struct pie_footprint_row row;
    struct pie_cct_id context; /* of a crossing that has no name yet; 0: of none */
    bool is_crossing;
};

struct pie_heap_footprint {
    struct pie_footprint_point points[PIE_FOOTPRINT_ROWS_MAX];
    size_t count;
    struct pie_footprint_point
        waiting; /* follows points[count - 1] too closely to be one, unless nothing comes after it */
    bool is_waiting;
    struct pie_heap_row heap;
    int64_t peak_bytes;
    uint64_t last_bytes;      /* of the last point, also one that waits */
    uint64_t looked_ns;       /* CLOCK_MONOTONIC of the last look at what is resident */
    uint64_t rss_bytes;       /* at that time */
    uint64_t uncounted_bytes; /* an estimate of what was allocated while counting paused (pauses.h) */
};

/* A thread crossed the threshold in record->node. True: it is a new peak. */
bool pie_heap_footprint_crossed(struct pie_heap_footprint *footprint, const struct pie_heap_record *record,
                                int64_t real_ns);
/* Names the contexts of points that have stayed: of some hundred crossings while a program grows, few do. Before the
 * tree may turn. */
void pie_heap_footprint_name(struct pie_heap_footprint *footprint, struct pie_naming *naming);
/* Looks at all threads. is_over: Python is finalizing; only sums are taken. True: it is a new peak. */
bool pie_heap_footprint_tick(struct pie_heap_footprint *footprint, uint64_t now_ns, int64_t real_ns,
                             bool is_over);
int pie_heap_footprint_write(struct pie_heap_footprint *footprint, struct pie_sink *sink,
                             const char *allocator, const char *note);
void pie_heap_footprint_clear(struct pie_heap_footprint *footprint);
