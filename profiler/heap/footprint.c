/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/heap/footprint.h"

#include "profiler/base/own_memory.h"
#include "profiler/base/proc_file.h"
#include "profiler/base/region.h"
#include "profiler/heap/engine.h"
#include "profiler/heap/pauses.h"
#include "profiler/stacks/cct.h"
#include "profiler/symbols/naming.h"
#include "profiler/thread/thread.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const uint64_t LOOK_NS = 100000000;     /* distance of points when nothing crosses the threshold */
static const int64_t SAME_POINT_NS = 10000000; /* crossings closer than this leave one point, the highest */

static uint64_t total_of(const uint64_t bytes[PIE_HEAP_DOMAINS]) {
    return bytes[PIE_HEAP_NATIVE] + bytes[PIE_HEAP_PYTHON];
}

/* Frees of what was allocated before the profile began can make a sum negative. */
static void set_bytes(uint64_t ret_bytes[PIE_HEAP_DOMAINS], const int64_t bytes[PIE_HEAP_DOMAINS]) {
    for (int i = 0; i < PIE_HEAP_DOMAINS; i++)
        ret_bytes[i] = bytes[i] > 0 ? (uint64_t)bytes[i] : 0;
}

/* Until a pause ends, its footprint is that of its beginning, while blocks that are followed may be gone: only native
 * memory makes a peak then. */
static int64_t least_peak(const struct pie_heap_footprint *footprint) {
    return footprint->peak_bytes + (pie_heap_pauses_is_on() ? (int64_t)pie_heap_threshold() : 0);
}

static bool note_peak(struct pie_heap_footprint *footprint, const struct pie_footprint_row *row) {
    if ((int64_t)total_of(row->heap_bytes) < least_peak(footprint))
        return false; /* one as high counts: its thread knows the live memory better than a look from outside */
    footprint->peak_bytes = (int64_t)total_of(row->heap_bytes);
    footprint->heap.peak_ns = row->time_ns;
    footprint->heap.threshold_bytes = pie_heap_threshold();
    memcpy(footprint->heap.peak_bytes, row->heap_bytes, sizeof row->heap_bytes);
    return true;
}

static void append(struct pie_heap_footprint *footprint, const struct pie_footprint_point *point) {
    if (footprint->count < PIE_FOOTPRINT_ROWS_MAX)
        footprint->points[footprint->count++] = *point;
}

/* What came after the highest of a thinned point: where the memory stayed if nothing crosses the threshold soon. */
static void append_waiting(struct pie_heap_footprint *footprint) {
    if (footprint->is_waiting)
        append(footprint, &footprint->waiting);
    footprint->is_waiting = false;
}

static bool is_same_point(const struct pie_footprint_point *last, const struct pie_footprint_point *point) {
    return last->is_crossing && point->is_crossing && point->row.time_ns - last->row.time_ns < SAME_POINT_NS;
}

static void add_point(struct pie_heap_footprint *footprint, const struct pie_footprint_point *point) {
    struct pie_footprint_point *last = footprint->count ? &footprint->points[footprint->count - 1] : NULL;

    footprint->last_bytes = total_of(point->row.heap_bytes);
    if (footprint->count == PIE_FOOTPRINT_ROWS_MAX || (last && is_same_point(last, point))) {
        bool is_higher = total_of(point->row.heap_bytes) > total_of(last->row.heap_bytes);
        *(is_higher ? last : &footprint->waiting) = *point;
        footprint->is_waiting = !is_higher;
        return;
    }
    append_waiting(footprint);
    append(footprint, point);
}

bool pie_heap_footprint_crossed(struct pie_heap_footprint *footprint, const struct pie_heap_record *record,
                                int64_t real_ns) {
    struct pie_footprint_point point = {
        .row = {.time_ns = real_ns, .rss_bytes = footprint->rss_bytes},
        .context = record->node,
        .is_crossing = record->node.value && !pie_cct_is_root(record->node),
    };

    set_bytes(point.row.heap_bytes, record->heap_bytes);
    add_point(footprint, &point);
    return note_peak(footprint, &point.row);
}

static void name(struct pie_footprint_point *point, struct pie_naming *naming) {
    if (point->context.value)
        point->row.node = pie_naming_node(naming, point->context);
    point->context.value = 0;
}

void pie_heap_footprint_name(struct pie_heap_footprint *footprint, struct pie_naming *naming) {
    for (size_t i = 0; i < footprint->count; i++)
        name(&footprint->points[i], naming);
    if (footprint->is_waiting)
        name(&footprint->waiting, naming);
}

static uint64_t read_rss(void) {
    char text[128], *pages;

    if (pie_proc_read("/proc/self/statm", text, sizeof text) <= 0 || !(pages = strchr(text, ' ')))
        return 0;
    return strtoull(pages + 1, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void look_at_rss(struct pie_heap_footprint *footprint, uint64_t now_ns) {
    footprint->looked_ns = now_ns;
    footprint->rss_bytes = read_rss();
    if (footprint->rss_bytes > footprint->heap.rss_peak_bytes)
        footprint->heap.rss_peak_bytes = footprint->rss_bytes;
}

/* What came and went while counting paused: the one is estimated, the difference is known. */
static void add_uncounted(const struct pie_heap_footprint *footprint, uint64_t *allocated_bytes,
                          uint64_t *freed_bytes) {
    int64_t moved_bytes = pie_heap_pauses_moved_bytes();
    int64_t freed = (int64_t)(*freed_bytes + footprint->uncounted_bytes) - moved_bytes;

    *allocated_bytes += footprint->uncounted_bytes + (freed < 0 ? (uint64_t)-freed : 0);
    *freed_bytes = freed < 0 ? 0 : (uint64_t)freed;
}

/* Sums over the threads that were, and those that are: a slot's counts go on with its next thread. */
static void sum_up(struct pie_heap_footprint *footprint, int64_t ret_heap[PIE_HEAP_DOMAINS]) {
    struct pie_heap_row *heap = &footprint->heap;

    memset(heap->allocated_bytes, 0, sizeof heap->allocated_bytes);
    memset(heap->freed_bytes, 0, sizeof heap->freed_bytes);
    for (size_t i = 0; i < pie_thread_count(); i++) {
        const struct pie_thread *thread = pie_thread_at(i);
        for (int j = 0; j < PIE_HEAP_DOMAINS; j++) {
            const struct pie_heap_count *count = &pie_heap_of(thread)->counts.counts[j];
            heap->freed_bytes[j] += __atomic_load_n(&count->freed_bytes, __ATOMIC_RELAXED);
            heap->allocated_bytes[j] += __atomic_load_n(&count->allocated_bytes, __ATOMIC_RELAXED);
        }
    }
    add_uncounted(footprint, &heap->allocated_bytes[PIE_HEAP_PYTHON], &heap->freed_bytes[PIE_HEAP_PYTHON]);
    for (int j = 0; j < PIE_HEAP_DOMAINS; j++)
        ret_heap[j] = (int64_t)(heap->allocated_bytes[j] - heap->freed_bytes[j]);
}

/* Crossings have a budget: a fall may be over before a thread may note one again. */
static bool has_moved(const struct pie_heap_footprint *footprint, const struct pie_footprint_row *row) {
    uint64_t now = total_of(row->heap_bytes), last = footprint->last_bytes;

    return (now > last ? now - last : last - now) >= pie_heap_threshold();
}

bool pie_heap_footprint_tick(struct pie_heap_footprint *footprint, uint64_t now_ns, int64_t real_ns,
                             bool is_over) {
    struct pie_footprint_point point = {.row = {.time_ns = real_ns}};
    int64_t heap[PIE_HEAP_DOMAINS];

    sum_up(footprint, heap);
    if (is_over)
        return false;
    set_bytes(point.row.heap_bytes, heap);
    bool is_peak = note_peak(footprint, &point.row);
    bool is_due = !footprint->looked_ns || now_ns - footprint->looked_ns >= LOOK_NS;
    if (!is_due && !has_moved(footprint, &point.row))
        return is_peak;
    if (is_due)
        look_at_rss(footprint, now_ns);
    point.row.rss_bytes = footprint->rss_bytes;
    add_point(footprint, &point);
    return is_peak;
}

/* Of what is used of an arena most pages are never touched: stacks are seldom deep. */
static uint64_t resident_bytes(void *base, size_t used) {
    uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE), bytes = 0;
    unsigned char pages[1024];

    char *low = (char *)((uintptr_t)base & ~(uintptr_t)(page_bytes - 1)), *high = (char *)base + used;
    while (low < high) {
        size_t size = (size_t)(high - low) < sizeof pages * page_bytes ? (size_t)(high - low)
                                                                       : sizeof pages * page_bytes;
        if (mincore(low, size, pages) < 0)
            return bytes + (uint64_t)(high - low);
        for (size_t i = 0; i < (size + page_bytes - 1) / page_bytes; i++)
            bytes += (pages[i] & 1) * page_bytes;
        low += size;
    }
    return bytes;
}

static uint64_t own_bytes(void) {
    int64_t heap = pie_heap_own_bytes() + (int64_t)pie_own_mapped_bytes();
    uint64_t bytes = heap > 0 ? (uint64_t)heap : 0;

    for (int arena = 0; arena < PIE_ARENA_COUNT; arena++)
        bytes += resident_bytes(pie_region_base(arena), pie_region_used(arena));
    return bytes;
}

/* The kernel's own high-water mark: a short peak between two looks is in it. */
static uint64_t read_rss_peak(void) {
    char text[4096], value[64];

    if (pie_proc_read("/proc/self/status", text, sizeof text) <= 0 ||
        pie_proc_field(text, "VmHWM", value, sizeof value) < 0)
        return 0;
    return strtoull(value, NULL, 10) * 1024;
}

int pie_heap_footprint_write(struct pie_heap_footprint *footprint, struct pie_sink *sink,
                             const char *allocator, const char *note) {
    struct pie_heap_row *heap = &footprint->heap;
    uint64_t rss_peak_bytes = read_rss_peak();
    int r = 0;

    append_waiting(footprint);
    for (size_t i = 0; r == 0 && i < footprint->count; i++)
        r = sink->ops->put_footprint(sink, &footprint->points[i].row);
    if (rss_peak_bytes > heap->rss_peak_bytes)
        heap->rss_peak_bytes = rss_peak_bytes;
    heap->profiler_bytes = own_bytes();
    heap->allocator = allocator;
    heap->note = note;
    return r == 0 ? sink->ops->put_heap(sink, heap) : r;
}

void pie_heap_footprint_clear(struct pie_heap_footprint *footprint) {
    footprint->count = 0;
}
