/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/formats/firefox_markers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "storage/base/message.h"
#include "storage/export/calltree_rows.h"
#include "storage/formats/json_text.h"
#include "storage/read/reader.h"

enum { INSTANT = 0, INTERVAL = 1 }; /* phases of the format */

static int add_marker(struct pie_firefox_markers *markers, const struct pie_firefox_marker *marker) {
    struct pie_firefox_marker *all = pie_calltree_grow(markers->all, markers->count, sizeof *all);
    if (all)
        markers->all = all;
    if (!all || !marker->data) {
        free(marker->data);
        return -ENOMEM;
    }
    all[markers->count++] = *marker;
    return 0;
}

void pie_firefox_markers_clear(struct pie_firefox_markers *markers) {
    for (uint32_t i = 0; i < markers->count; i++)
        free(markers->all[i].data);
    free(markers->all);
    markers->all = NULL;
    markers->count = 0;
}

void pie_firefox_markers_finish(struct pie_firefox_markers *markers) {
    pie_firefox_markers_clear(markers);
    free(markers->collections);
    markers->collections = NULL;
    markers->collection_count = 0;
}

static int take_peak(void *data, struct pie_cursor *cursor) {
    struct pie_firefox_markers *markers = data;
    int64_t at = pie_tracks_since(markers->tracks, pie_cursor_int(cursor, 1));
    struct pie_firefox_marker marker = {
        .name = "Peak of memory", .phase = INSTANT, .start_ns = at, .end_ns = at};
    if (pie_cursor_int(cursor, 0) != markers->process)
        return 0;
    if (asprintf(&marker.data, "{\"type\":\"peak\",\"bytes\":%lld}", (long long)pie_cursor_int(cursor, 2)) <
        0)
        marker.data = NULL;
    return add_marker(markers, &marker);
}

/* A finding is about all of the run. */
static int take_finding(void *data, struct pie_cursor *cursor) {
    struct pie_firefox_markers *markers = data;
    const struct pie_track_process *process = pie_tracks_process(markers->tracks, markers->process);
    struct pie_firefox_marker marker = {.name = "Finding", .phase = INTERVAL};
    size_t size;
    FILE *text = open_memstream(&marker.data, &size);
    if (!text)
        return -ENOMEM;
    fputs("{\"type\":\"finding\",\"place\":", text);
    pie_json_write_text(text, pie_cursor_text(cursor, 0));
    fputs(",\"category\":", text);
    pie_json_write_text(text, pie_cursor_text(cursor, 1));
    fputs(",\"advice\":", text);
    pie_json_write_text(text, pie_cursor_text(cursor, 2));
    fprintf(text, ",\"wasted\":%.6f}", pie_cursor_real(cursor, 3) * 1e3);
    if (fclose(text) != 0)
        return -ENOMEM;
    marker.start_ns = process ? pie_tracks_since(markers->tracks, process->started_ns) : 0;
    marker.end_ns = process ? pie_tracks_since(markers->tracks, process->ended_ns) : 0;
    return add_marker(markers, &marker);
}

/* Slices that follow each other belong to one phase while the same line of own code takes most of their CPU time. */
struct phase {
    struct pie_firefox_markers *markers;
    char *place; /* heap; NULL: there is none yet */
    int64_t start_ns, end_ns;
};

static int add_phase(struct phase *phase) {
    struct pie_firefox_marker marker = {
        .name = "Phase", .phase = INTERVAL, .start_ns = phase->start_ns, .end_ns = phase->end_ns};
    size_t size;
    FILE *text = phase->place ? open_memstream(&marker.data, &size) : NULL;
    if (!text)
        return phase->place ? -ENOMEM : 0;
    fputs("{\"type\":\"phase\",\"place\":", text);
    pie_json_write_text(text, phase->place);
    fputc('}', text);
    free(phase->place);
    phase->place = NULL;
    return fclose(text) == 0 ? add_marker(phase->markers, &marker) : -ENOMEM;
}

static int take_slice(void *data, struct pie_cursor *cursor) {
    struct phase *phase = data;
    const char *place = pie_cursor_text(cursor, 0);
    int64_t start_ns = pie_tracks_since(phase->markers->tracks, pie_cursor_int(cursor, 1));
    int64_t end_ns = pie_tracks_since(phase->markers->tracks, pie_cursor_int(cursor, 2));
    if (phase->place && place && strcmp(phase->place, place) == 0 && phase->end_ns == start_ns) {
        phase->end_ns = end_ns;
        return 0;
    }
    int r = add_phase(phase);
    phase->place = place ? strdup(place) : NULL;
    phase->start_ns = start_ns;
    phase->end_ns = end_ns;
    return r < 0 || (place && !phase->place) ? -ENOMEM : 0;
}

static const char slice_sql[] =
    "SELECT v.file || ':' || v.line, w.started_ns + CAST(v.t_s AS INTEGER) * 1000000000,"
    " min(w.started_ns + (CAST(v.t_s AS INTEGER) + w.width_s) * 1000000000, w.seen_ns)"
    " FROM v_slice v JOIN x_slice_width w ON w.run = v.run WHERE v.run = :run ORDER BY v.slice";

static int load_phases(struct pie_firefox_markers *markers, char **ret_message) {
    struct phase phase = {.markers = markers};
    int r = pie_calltree_each_row(markers->reader, slice_sql, markers->run, &phase, take_slice, ret_message);
    if (r == 0 && add_phase(&phase) < 0)
        r = pie_message(-ENOMEM, ret_message, "out of memory");
    free(phase.place);
    return r;
}

/* Columns as in collection_sql. */
static int take_collection(void *data, struct pie_cursor *cursor) {
    struct pie_firefox_markers *markers = data;
    struct pie_firefox_collection *all =
        pie_calltree_grow(markers->collections, markers->collection_count, sizeof *all);
    if (!all)
        return -ENOMEM;
    markers->collections = all;
    all[markers->collection_count++] = (struct pie_firefox_collection){
        .process = pie_cursor_int(cursor, 0),
        .thread = pie_cursor_int(cursor, 1),
        .slice_s = pie_cursor_int(cursor, 2),
        .generation = pie_cursor_int(cursor, 3),
        .ns = pie_cursor_int(cursor, 4),
    };
    return 0;
}

static_assert(PIE_RELATED_GC_YOUNG == 2 && PIE_RELATED_GC_OLD == 4, "as in collection_sql");
static const char collection_sql[] =
    "SELECT e.process, e.thread, e.slice_s, e.kind - 2, sum(e.time_ns) FROM process p"
    " JOIN related e ON e.process = p.id WHERE p.run = :run AND e.kind BETWEEN 2 AND 4"
    " GROUP BY 1, 2, 3, 4 HAVING sum(e.time_ns) > 0 ORDER BY 1, 2, 3, 4";

static bool is_before(const struct pie_firefox_collection *one, int64_t process, int64_t thread) {
    return one->process != process ? one->process < process : one->thread < thread;
}

static uint32_t first_collection(const struct pie_firefox_markers *markers) {
    uint32_t low = 0, high = markers->collection_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (is_before(&markers->collections[middle], markers->process, markers->thread))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* How long is exact. It stands at its slice's start, the generations one after the other. */
static int load_collections(struct pie_firefox_markers *markers) {
    int64_t slice_s = -1, at_ns = 0;
    int r = 0;
    for (uint32_t i = first_collection(markers); i < markers->collection_count && r == 0; i++) {
        const struct pie_firefox_collection *one = &markers->collections[i];
        struct pie_firefox_marker marker = {.name = "GC", .phase = INTERVAL};
        if (one->process != markers->process || one->thread != markers->thread)
            break;
        if (one->slice_s != slice_s)
            at_ns = pie_tracks_slice_start(markers->tracks, one->process, one->slice_s);
        slice_s = one->slice_s;
        marker.start_ns = at_ns;
        pie_calltree_add(&at_ns, one->ns);
        marker.end_ns = at_ns;
        if (asprintf(&marker.data, "{\"type\":\"gc\",\"generation\":%lld}", (long long)one->generation) < 0)
            marker.data = NULL;
        r = add_marker(markers, &marker);
    }
    return r;
}

static const char peak_sql[] =
    "SELECT h.process, h.peak_ns, h.peak_python_bytes + h.peak_native_bytes"
    " FROM process p JOIN heap h ON h.process = p.id WHERE p.run = :run AND h.peak_ns IS NOT NULL";
static const char finding_sql[] = "SELECT file || ':' || line, category, advice, wasted_s FROM v_redundancy"
                                  " WHERE run = :run AND severity = 'high' ORDER BY rank";

int pie_firefox_markers_init(struct pie_firefox_markers *markers, struct pie_reader *reader, int64_t run,
                             const struct pie_tracks *tracks, char **ret_message) {
    *markers = (struct pie_firefox_markers){.reader = reader, .run = run, .tracks = tracks};
    return pie_calltree_each_row(reader, collection_sql, run, markers, take_collection, ret_message);
}

int pie_firefox_markers_load(struct pie_firefox_markers *markers, int64_t process, int64_t thread,
                             struct pie_firefox_marked marked, char **ret_message) {
    int r = 0;
    markers->process = process;
    markers->thread = thread;
    if (marked.process)
        r = pie_calltree_each_row(markers->reader, peak_sql, markers->run, markers, take_peak, ret_message);
    if (r == 0 && marked.run)
        r = pie_calltree_each_row(markers->reader, finding_sql, markers->run, markers, take_finding,
                                  ret_message);
    if (r == 0 && marked.run)
        r = load_phases(markers, ret_message);
    if (r == 0 && load_collections(markers) < 0)
        r = pie_message(-ENOMEM, ret_message, "out of memory");
    return r;
}

void pie_firefox_markers_write(const struct pie_firefox_markers *markers, struct pie_firefox_thread *thread,
                               FILE *out) {
    fprintf(out, "\"markers\":{\"length\":%u,\"data\":[", markers->count);
    for (uint32_t i = 0; i < markers->count; i++)
        fprintf(out, "%s%s", i ? "," : "", markers->all[i].data);
    fputs("],\"name\":[", out);
    for (uint32_t i = 0; i < markers->count; i++)
        fprintf(out, "%s%u", i ? "," : "", pie_firefox_thread_string(thread, markers->all[i].name));
    fputs("],\"startTime\":[", out);
    for (uint32_t i = 0; i < markers->count; i++) {
        fputs(i ? "," : "", out);
        pie_firefox_write_ms(out, markers->all[i].start_ns);
    }
    fputs("],\"endTime\":[", out);
    for (uint32_t i = 0; i < markers->count; i++) {
        fputs(i ? "," : "", out);
        markers->all[i].phase == INTERVAL ? pie_firefox_write_ms(out, markers->all[i].end_ns)
                                          : (void)fputs("null", out);
    }
    fputs("],\"phase\":[", out);
    for (uint32_t i = 0; i < markers->count; i++)
        fprintf(out, "%s%d", i ? "," : "", markers->all[i].phase);
    fputs("],\"category\":[", out);
    for (uint32_t i = 0; i < markers->count; i++)
        fputs(i ? ",0" : "0", out);
    fputs("]}", out);
}
