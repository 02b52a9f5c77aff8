/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/write/line_curves.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "profiler/base/hash.h"
#include "profiler/base/own_memory.h"
#include "storage/write/curve.h"

/* Two tables from ids to records, open addressing, never more than half full. A line without a curve gets one from the
 * line whose memory was least if it has had clearly more: so lines of about the same size do not take it from each
 * other in turns.
 *
 * Memory stays what it was until a part of it reports a change, which is looked for once a second. So after a longer
 * silence the old value is noted for just before the change, or the line between the points would tell of a slow
 * climb. */

enum { FIRST_CAPACITY = 256 };
static const int64_t LOOK_NS = 1000000000;

struct part {
    uint64_t id; /* 0: free */
    uint64_t live_bytes;
};

struct line {
    uint32_t key;   /* of the line, plus 1; 0: free */
    uint32_t curve; /* index into `curves`, plus 1; 0: none */
    uint64_t live_bytes;
    uint64_t most_bytes; /* that it ever had */
};

struct pie_line_curves {
    struct pie_line_curves_out out;
    struct part *parts;
    size_t parts_capacity, parts_count;
    struct line *lines;
    size_t lines_capacity, lines_count;
    struct pie_curve *curves[PIE_LINE_CURVES];
    uint32_t curve_line[PIE_LINE_CURVES]; /* whose */
    uint32_t curves_count;
};

static size_t slot_of(uint64_t key, size_t capacity) {
    return (size_t)(pie_hash_upper(key) >> 32) & (capacity - 1);
}

static struct part *find_part(struct part *parts, size_t capacity, uint64_t id) {
    size_t i = slot_of(id, capacity);
    while (parts[i].id != 0 && parts[i].id != id)
        i = (i + 1) & (capacity - 1);
    return &parts[i];
}

static struct line *find_line(struct line *lines, size_t capacity, uint32_t key) {
    size_t i = slot_of(key, capacity);
    while (lines[i].key != 0 && lines[i].key != key)
        i = (i + 1) & (capacity - 1);
    return &lines[i];
}

static struct part *get_part(struct pie_line_curves *curves, uint64_t id) {
    if (2 * curves->parts_count >= curves->parts_capacity) {
        size_t capacity = curves->parts_capacity ? 2 * curves->parts_capacity : FIRST_CAPACITY;
        struct part *parts = pie_calloc(capacity, sizeof *parts);
        if (!parts)
            return NULL;
        for (size_t i = 0; i < curves->parts_capacity; i++) {
            if (curves->parts[i].id != 0)
                *find_part(parts, capacity, curves->parts[i].id) = curves->parts[i];
        }
        pie_free(curves->parts);
        curves->parts = parts;
        curves->parts_capacity = capacity;
    }
    struct part *part = find_part(curves->parts, curves->parts_capacity, id);
    curves->parts_count += part->id == 0;
    part->id = id;
    return part;
}

static struct line *get_line(struct pie_line_curves *curves, uint32_t key) {
    if (2 * curves->lines_count >= curves->lines_capacity) {
        size_t capacity = curves->lines_capacity ? 2 * curves->lines_capacity : FIRST_CAPACITY;
        struct line *lines = pie_calloc(capacity, sizeof *lines);
        if (!lines)
            return NULL;
        for (size_t i = 0; i < curves->lines_capacity; i++) {
            if (curves->lines[i].key != 0)
                *find_line(lines, capacity, curves->lines[i].key) = curves->lines[i];
        }
        pie_free(curves->lines);
        curves->lines = lines;
        curves->lines_capacity = capacity;
    }
    struct line *line = find_line(curves->lines, curves->lines_capacity, key);
    curves->lines_count += line->key == 0;
    line->key = key;
    return line;
}

int pie_line_curves_create(const struct pie_line_curves_out *out, struct pie_line_curves **ret_curves) {
    struct pie_line_curves *curves = pie_calloc(1, sizeof *curves);
    if (!curves)
        return -ENOMEM;
    curves->out = *out;
    *ret_curves = curves;
    return 0;
}

void pie_line_curves_destroy(struct pie_line_curves *curves) {
    if (!curves)
        return;
    for (uint32_t i = 0; i < curves->curves_count; i++)
        pie_free(curves->curves[i]);
    pie_free(curves->parts);
    pie_free(curves->lines);
    pie_free(curves);
}

/* What a curve forgets, the file forgets if it has it. */
struct forgetting {
    struct pie_line_curves *curves;
    struct pie_location_id line;
};

static int forget(void *data, const struct pie_curve_point *point) {
    const struct forgetting *of = data;
    const struct pie_line_curves_out *out = &of->curves->out;
    return point->is_written ? out->forget(out->data, of->line, point->time_ns) : 0;
}

static uint64_t most_of(const struct pie_line_curves *curves, uint32_t curve) {
    return find_line(curves->lines, curves->lines_capacity, curves->curve_line[curve] + 1)->most_bytes;
}

/* Empties the curve of the line that had least, if `line` has had more by half. */
static int take_curve(struct pie_line_curves *curves, struct line *line) {
    uint32_t least = 0;
    int r = 0;
    for (uint32_t i = 1; i < curves->curves_count; i++)
        least = most_of(curves, i) < most_of(curves, least) ? i : least;
    uint64_t least_bytes = most_of(curves, least);
    if (line->most_bytes <= least_bytes || line->most_bytes - least_bytes <= least_bytes / 2)
        return 0;
    struct pie_curve *curve = curves->curves[least];
    struct forgetting of = {.curves = curves, .line = {curves->curve_line[least]}};
    for (uint32_t i = 0; i < curve->count && r == 0; i++)
        r = forget(&of, &curve->points[i]);
    curve->count = 0;
    find_line(curves->lines, curves->lines_capacity, of.line.value + 1)->curve = 0;
    curves->curve_line[least] = line->key - 1;
    line->curve = least + 1;
    return r;
}

static int give_curve(struct pie_line_curves *curves, struct line *line) {
    if (curves->curves_count == PIE_LINE_CURVES)
        return take_curve(curves, line);
    struct pie_curve *curve = pie_calloc(1, sizeof *curve);
    if (!curve)
        return -ENOMEM;
    curves->curves[curves->curves_count] = curve;
    curves->curve_line[curves->curves_count] = line->key - 1;
    line->curve = ++curves->curves_count;
    return 0;
}

static int add_point(struct pie_line_curves *curves, const struct line *line, int64_t time_ns,
                     uint64_t before_bytes) {
    struct pie_curve *curve = curves->curves[line->curve - 1];
    struct forgetting of = {.curves = curves, .line = {line->key - 1}};
    struct pie_curve_point point = {.time_ns = time_ns, .values = {line->live_bytes}};
    int r = 0;
    if (curve->count > 0 && time_ns - curve->points[curve->count - 1].time_ns > 2 * LOOK_NS) {
        struct pie_curve_point held = {.time_ns = time_ns - LOOK_NS, .values = {before_bytes}};
        r = pie_curve_add(curve, &held, forget, &of);
    }
    int added = pie_curve_add(curve, &point, forget, &of);
    return r != 0 ? r : added;
}

int pie_line_curves_add(struct pie_line_curves *curves, uint64_t part_id, struct pie_location_id line_id,
                        int64_t time_ns, uint64_t live_bytes) {
    struct part *part = get_part(curves, part_id);
    struct line *line = part ? get_line(curves, line_id.value + 1) : NULL;
    if (!line)
        return -ENOMEM;
    uint64_t before_bytes = line->live_bytes;
    line->live_bytes = line->live_bytes - part->live_bytes + live_bytes;
    part->live_bytes = live_bytes;
    line->most_bytes = line->live_bytes > line->most_bytes ? line->live_bytes : line->most_bytes;
    int r = line->curve == 0 ? give_curve(curves, line) : 0;
    if (r == 0 && line->curve != 0)
        r = add_point(curves, line, time_ns, before_bytes);
    return r;
}

/* For this number at least, not more than half full. */
static size_t capacity_for(size_t count) {
    size_t capacity = FIRST_CAPACITY;
    while (capacity < 2 * (count + 1))
        capacity *= 2;
    return capacity;
}

static void forget_parts(struct pie_line_curves *curves, bool (*keeps)(void *data, uint64_t part),
                         void *data) {
    size_t kept = 0;
    for (size_t i = 0; i < curves->parts_capacity; i++) {
        struct part *part = &curves->parts[i];
        if (part->id != 0 && (part->live_bytes > 0 || keeps(data, part->id)))
            curves->parts[kept++] = *part; /* no further than it was */
    }
    size_t capacity = capacity_for(kept);
    struct part *parts = pie_calloc(capacity, sizeof *parts);
    for (size_t i = 0; parts && i < kept; i++)
        *find_part(parts, capacity, curves->parts[i].id) = curves->parts[i];
    pie_free(curves->parts);
    curves->parts = parts;
    curves->parts_capacity = parts ? capacity : 0;
    curves->parts_count = parts ? kept : 0;
}

static void forget_lines(struct pie_line_curves *curves) {
    size_t kept = 0;
    for (size_t i = 0; i < curves->lines_capacity; i++)
        if (curves->lines[i].key != 0 && (curves->lines[i].live_bytes > 0 || curves->lines[i].curve != 0))
            kept++;
    size_t capacity = capacity_for(kept);
    struct line *lines = pie_calloc(capacity, sizeof *lines);
    if (!lines)
        return;
    for (size_t i = 0; i < curves->lines_capacity; i++) {
        const struct line *line = &curves->lines[i];
        if (line->key != 0 && (line->live_bytes > 0 || line->curve != 0))
            *find_line(lines, capacity, line->key) = *line;
    }
    pie_free(curves->lines);
    curves->lines = lines;
    curves->lines_capacity = capacity;
    curves->lines_count = kept;
}

void pie_line_curves_forget(struct pie_line_curves *curves, bool (*keeps)(void *data, uint64_t part),
                            void *data) {
    if (curves->parts_capacity == 0)
        return;
    forget_parts(curves, keeps, data);
    forget_lines(curves);
}

int pie_line_curves_flush(struct pie_line_curves *curves) {
    const struct pie_line_curves_out *out = &curves->out;
    for (uint32_t i = 0; i < curves->curves_count; i++) {
        struct pie_curve *curve = curves->curves[i];
        for (uint32_t n = curve->count; n-- > 0;) {
            struct pie_curve_point *point = &curve->points[n];
            int r = point->is_written ? 0
                                      : out->put(out->data, (struct pie_location_id){curves->curve_line[i]},
                                                 point->time_ns, point->values[0]);
            if (r < 0)
                return r;
            point->is_written = true;
        }
    }
    return 0;
}
