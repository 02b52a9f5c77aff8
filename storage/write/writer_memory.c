/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "profiler/base/hash.h"
#include "storage/write/contexts.h"
#include "storage/write/writer_internal.h"

/* Rows about memory. Totals replace what the file has; curves gain points with each commit and lose some when they are
 * simplified, so a file grows by what is new and not by what has been. */

/* SQLite's integers are signed. */
static int64_t integer(uint64_t value) {
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

int pie_writer_put_allocation(struct pie_writer *writer, const struct pie_allocation_row *row) {
    const uint64_t *kept = row->kept_bytes;
    static_assert(PIE_KEPT_PARTS == 8, "as many columns");
    return pie_rowlog_add(
        &writer->rows, PIE_STATEMENT_ALLOCATION, "iiiiiididiiddiiiiiiiiiiidii", writer->process,
        (int64_t)row->node.value, (int64_t)row->size, (int64_t)row->samples,
        integer(row->allocated_bytes[PIE_HEAP_PYTHON]), integer(row->allocated_bytes[PIE_HEAP_NATIVE]),
        row->allocated_sq_bytes2, integer(row->live_bytes), row->live_sq_bytes2,
        integer(row->peak_bytes[PIE_HEAP_PYTHON]), integer(row->peak_bytes[PIE_HEAP_NATIVE]),
        row->peak_sq_bytes2, row->live_bytes_s, (int64_t)row->mallocs, (int64_t)row->frees, integer(kept[0]),
        integer(kept[1]), integer(kept[2]), integer(kept[3]), integer(kept[4]), integer(kept[5]),
        integer(kept[6]), integer(kept[7]), row->first_ns, row->blocks, (int64_t)row->rises,
        (int64_t)row->falls);
}

int pie_writer_put_allocated(struct pie_writer *writer, const struct pie_allocated_row *row) {
    pie_slices_note(&writer->slices, pie_hash_mix(PIE_STATEMENT_ALLOCATED, row->node.value));
    return pie_rowlog_add(&writer->rows, PIE_STATEMENT_ALLOCATED, "iiiiiid", writer->process,
                          writer->slices.at_s, (int64_t)row->node.value, (int64_t)row->samples,
                          integer(row->bytes[PIE_HEAP_PYTHON]), integer(row->bytes[PIE_HEAP_NATIVE]),
                          row->sq_bytes2);
}

int pie_writer_put_live(struct pie_writer *writer, const struct pie_live_row *row) {
    struct pie_context_node node = pie_contexts_get_node(writer->contexts, row->node);
    struct pie_location_id location = node.own_location.value ? node.own_location : node.line_location;
    return pie_line_curves_add(writer->line_curves, (uint64_t)row->node.value * PIE_SIZES + row->size,
                               pie_contexts_get_line(writer->contexts, location), row->time_ns,
                               row->live_bytes);
}

int pie_writer_put_line_point(void *data, struct pie_location_id location, int64_t time_ns,
                              uint64_t live_bytes) {
    struct pie_writer *writer = data;
    return pie_rowlog_add(&writer->rows, PIE_STATEMENT_LINE_FOOTPRINT, "iiii", writer->process,
                          (int64_t)location.value, time_ns, integer(live_bytes));
}

int pie_writer_forget_line_point(void *data, struct pie_location_id location, int64_t time_ns) {
    struct pie_writer *writer = data;
    return pie_rowlog_add(&writer->rows, PIE_STATEMENT_LINE_FOOTPRINT_FORGET, "iii", writer->process,
                          (int64_t)location.value, time_ns);
}

/* Values of a point of the process's curve: the peaks of these are kept to the byte. */
enum { FOOTPRINT_HEAP, FOOTPRINT_PYTHON, FOOTPRINT_RSS };

static int forget_footprint(void *data, const struct pie_curve_point *point) {
    struct pie_writer *writer = data;
    return point->is_written ? pie_rowlog_add(&writer->rows, PIE_STATEMENT_FOOTPRINT_FORGET, "ii",
                                              writer->process, point->time_ns)
                             : 0;
}

int pie_writer_put_footprint(struct pie_writer *writer, const struct pie_footprint_row *row) {
    uint64_t python_bytes = row->heap_bytes[PIE_HEAP_PYTHON];
    struct pie_curve_point point = {
        .time_ns = row->time_ns,
        .values = {[FOOTPRINT_HEAP] = python_bytes + row->heap_bytes[PIE_HEAP_NATIVE],
                   [FOOTPRINT_PYTHON] = python_bytes,
                   [FOOTPRINT_RSS] = row->rss_bytes},
        .tag = row->node.value,
    };
    return pie_curve_add(&writer->footprint, &point, forget_footprint, writer);
}

static int put_footprint_point(struct pie_writer *writer, const struct pie_curve_point *point) {
    return pie_rowlog_add(&writer->rows, PIE_STATEMENT_FOOTPRINT, "iiiizz", writer->process, point->time_ns,
                          integer(point->values[FOOTPRINT_PYTHON]),
                          integer(point->values[FOOTPRINT_HEAP] - point->values[FOOTPRINT_PYTHON]),
                          integer(point->values[FOOTPRINT_RSS]), (int64_t)point->tag);
}

int pie_writer_put_curves(struct pie_writer *writer) {
    for (uint32_t i = 0; i < writer->footprint.count; i++) {
        struct pie_curve_point *point = &writer->footprint.points[i];
        int r = point->is_written ? 0 : put_footprint_point(writer, point);
        if (r < 0)
            return r;
        point->is_written = true;
    }
    return pie_line_curves_flush(writer->line_curves);
}

int pie_writer_put_heap(struct pie_writer *writer, const struct pie_heap_row *row) {
    return pie_rowlog_add(
        &writer->rows, PIE_STATEMENT_HEAP, "iziiziiiiiitt", writer->process, row->peak_ns,
        integer(row->peak_bytes[PIE_HEAP_PYTHON]), integer(row->peak_bytes[PIE_HEAP_NATIVE]),
        integer(row->rss_peak_bytes), integer(row->allocated_bytes[PIE_HEAP_PYTHON]),
        integer(row->allocated_bytes[PIE_HEAP_NATIVE]), integer(row->freed_bytes[PIE_HEAP_PYTHON]),
        integer(row->freed_bytes[PIE_HEAP_NATIVE]), integer(row->profiler_bytes),
        integer(row->threshold_bytes), row->allocator, row->note);
}

int pie_writer_put_copy(struct pie_writer *writer, const struct pie_copy_row *row) {
    pie_slices_note(&writer->slices,
                    pie_hash_mix(PIE_STATEMENT_COPY, (uint64_t)row->estimate << 32 | row->node.value));
    return pie_rowlog_add(&writer->rows, PIE_STATEMENT_COPY, "iiiiiid", writer->process, writer->slices.at_s,
                          (int64_t)row->node.value, (int64_t)row->estimate, (int64_t)row->samples,
                          integer(row->bytes), row->sq_bytes2);
}

int pie_writer_put_copy_end(struct pie_writer *writer, const struct pie_copy_end_row *row) {
    return pie_rowlog_add(&writer->rows, PIE_STATEMENT_COPY_END, "iiiii", writer->process,
                          (int64_t)row->node.value, (int64_t)row->outcome, integer(row->copies),
                          integer(row->bytes));
}

int pie_writer_put_reading(struct pie_writer *writer, const struct pie_reading_row *row) {
    return pie_rowlog_add(&writer->rows, PIE_STATEMENT_READING, "iiiiidiiiiiii", writer->process,
                          (int64_t)row->node.value, (int64_t)row->kind, integer(row->samples),
                          integer(row->cpu_ns), row->cpu_sq_ns2, integer(row->same), integer(row->rises),
                          integer(row->others), integer(row->lower_ns), integer(row->upper_ns),
                          integer(row->sum_size), integer(row->max_size));
}

int pie_writer_put_retention_path(struct pie_writer *writer, struct pie_node_id node, uint32_t size,
                                  const char *text) {
    return pie_rowlog_add(&writer->rows, PIE_STATEMENT_RETENTION_PATH, "iiit", writer->process,
                          (int64_t)node.value, (int64_t)size, text);
}
