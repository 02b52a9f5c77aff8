/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/formats/firefox_markers.h"

#include <errno.h>
#include <stdlib.h>

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

void pie_firefox_markers_finish(struct pie_firefox_markers *markers) {
    for (uint32_t i = 0; i < markers->count; i++)
        free(markers->all[i].data);
    free(markers->all);
    markers->all = NULL;
    markers->count = 0;
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

static const char peak_sql[] =
    "SELECT h.process, h.peak_ns, h.peak_python_bytes + h.peak_native_bytes"
    " FROM process p JOIN heap h ON h.process = p.id WHERE p.run = :run AND h.peak_ns IS NOT NULL";
static const char finding_sql[] = "SELECT file || ':' || line, category, advice, wasted_s FROM v_redundancy"
                                  " WHERE run = :run AND severity = 'high' ORDER BY rank";

int pie_firefox_markers_load(struct pie_firefox_markers *markers, int64_t process, bool has_findings,
                             char **ret_message) {
    markers->process = process;
    int r = pie_calltree_each_row(markers->reader, peak_sql, markers->run, markers, take_peak, ret_message);
    if (r == 0 && has_findings)
        r = pie_calltree_each_row(markers->reader, finding_sql, markers->run, markers, take_finding,
                                  ret_message);
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
