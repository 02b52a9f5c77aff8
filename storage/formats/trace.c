/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "storage/base/message.h"
#include "storage/export/calltree_rows.h"
#include "storage/export/layout.h"
#include "storage/export/tracks.h"
#include "storage/formats/common.h"
#include "storage/formats/formats.h"
#include "storage/formats/json_text.h"
#include "storage/read/reader.h"

/* Trace events in JSON, which Perfetto, chrome://tracing and speedscope read ("Trace Event Format"). A profile keeps
 * sums by time slice and no single samples, so each slice of a thread shows its part of the call tree, side by side
 * from the slice's start on: how much and in which second is exact, the order within a slice is not that of the run.
 * Memory is a counter of each process. */

struct export {
    FILE *out;
    const struct pie_calltree *tree;
    const struct pie_metric *metric;
    struct pie_tracks tracks;
    char **names;
    const struct pie_part *part;
    int64_t pid, tid; /* of the part at hand */
    size_t events;
};

static void begin_event(struct export *export, const char *phase, int64_t pid, int64_t tid) {
    fprintf(export->out, "%s{\"ph\":\"%s\",\"pid\":%lld,\"tid\":%lld", export->events++ ? ",\n" : "\n", phase,
            (long long)pid, (long long)tid);
}

/* Readers add up `ts` and `dur` as doubles. Sums of thousandths are not exact, so some events ended after their caller,
 * and speedscope left those open to the end of the run. So a time is the nearest 4096th of a microsecond, whose sums
 * are exact. An event ends one of them earlier: where the next one has the same name, speedscope would begin it within
 * the first. Rounded to nanoseconds, both are the times of the profile. */
static const int64_t PARTS = 4096;
static const uint64_t PART_DIGITS = 244140625; /* 1/4096 in 12 decimals */

static int64_t in_parts(int64_t ns) {
    int64_t us = ns / 1000, rest = ns % 1000 * PARTS;

    return us * PARTS + (rest + (rest < 0 ? -500 : 500)) / 1000;
}

static void write_us(FILE *out, const char *key, int64_t parts) {
    uint64_t size = parts < 0 ? -(uint64_t)parts : (uint64_t)parts;
    fprintf(out, ",\"%s\":%s%llu.%012llu", key, parts < 0 ? "-" : "", (unsigned long long)(size / PARTS),
            (unsigned long long)(size % PARTS * PART_DIGITS));
}

static void write_time(struct export *export, int64_t ns) {
    write_us(export->out, "ts", in_parts(pie_tracks_since(&export->tracks, ns)));
}

/* Taken. */
static void write_name(struct export *export, const char *what, int64_t pid, int64_t tid, char *name) {
    begin_event(export, "M", pid, tid);
    fprintf(export->out, ",\"name\":\"%s\",\"args\":{\"name\":", what);
    pie_json_write_text(export->out, name ? name : "?");
    fputs("}}", export->out);
    free(name);
}

static void write_names(struct export *export) {
    const struct pie_tracks *tracks = &export->tracks;
    for (size_t i = 0; i < tracks->process_count; i++)
        write_name(export, "process_name", tracks->processes[i].unique_pid, 0,
                   pie_tracks_process_name(tracks, tracks->processes[i].id));
    for (size_t i = 0; i < tracks->thread_count; i++) {
        const struct pie_track_thread *thread = &tracks->threads[i];
        const struct pie_track_process *process = pie_tracks_process(tracks, thread->process);
        if (process)
            write_name(export, "thread_name", process->unique_pid, thread->tid,
                       pie_tracks_thread_name(tracks, thread->process, thread->id));
    }
}

static void take_node(void *data, uint32_t node, uint32_t depth, int64_t start_ns) {
    struct export *export = data;
    uint32_t frame = export->tree->nodes[node].frame;
    int64_t start = in_parts(start_ns), end = in_parts(start_ns + export->part->total[node]) - 1;
    if (end < start)
        return;
    begin_event(export, "X", export->pid, export->tid);
    fprintf(export->out, ",\"cat\":\"%s\",\"name\":",
            export->tree->frames[frame].kind == PIE_LOCATION_NATIVE ? "native" : "python");
    pie_json_write_text(export->out, export->names[frame]);
    write_us(export->out, "ts", start);
    write_us(export->out, "dur", end - start);
    fputc('}', export->out);
}

static int take_part(void *data, const struct pie_part *part) {
    struct export *export = data;
    const struct pie_track_process *process = pie_tracks_process(&export->tracks, part->process);
    const struct pie_track_thread *thread = pie_tracks_thread(&export->tracks, part->process, part->thread);
    if (!process)
        return 0;
    export->part = part;
    export->pid = process->unique_pid;
    export->tid = thread ? thread->tid : 0;
    return pie_layout_each(export->tree, part,
                           pie_tracks_slice_start(&export->tracks, part->process, part->slice_s), export,
                           take_node);
}

static void write_counter(struct export *export, const struct pie_track_process *process, const char *name,
                          int64_t t_ns) {
    begin_event(export, "C", process->unique_pid, 0);
    fprintf(export->out, ",\"name\":\"%s\"", name);
    write_time(export, t_ns);
    fputs(",\"args\":{", export->out);
}

/* Columns as in footprint_sql. */
static int take_footprint(void *data, struct pie_cursor *cursor) {
    struct export *export = data;
    const struct pie_track_process *process = pie_tracks_process(&export->tracks, pie_cursor_int(cursor, 0));
    int64_t t_ns = pie_cursor_int(cursor, 1);
    if (!process)
        return 0;
    write_counter(export, process, "live bytes", t_ns);
    fprintf(export->out, "\"python\":%lld,\"native\":%lld}}", (long long)pie_cursor_int(cursor, 2),
            (long long)pie_cursor_int(cursor, 3));
    if (pie_cursor_type(cursor, 4) == PIE_VALUE_NULL)
        return 0;
    write_counter(export, process, "resident bytes", t_ns);
    fprintf(export->out, "\"resident\":%lld}}", (long long)pie_cursor_int(cursor, 4));
    return 0;
}

static int take_peak(void *data, struct pie_cursor *cursor) {
    struct export *export = data;
    const struct pie_track_process *process = pie_tracks_process(&export->tracks, pie_cursor_int(cursor, 0));
    if (!process)
        return 0;
    begin_event(export, "i", process->unique_pid, 0);
    fputs(",\"s\":\"p\",\"name\":\"peak of memory\"", export->out);
    write_time(export, pie_cursor_int(cursor, 1));
    fprintf(export->out, ",\"args\":{\"live bytes\":%lld}}", (long long)pie_cursor_int(cursor, 2));
    return 0;
}

static const char footprint_sql[] =
    "SELECT f.process, f.t_ns, f.python_bytes, f.native_bytes, f.rss_bytes"
    " FROM process p JOIN footprint f ON f.process = p.id WHERE p.run = :run ORDER BY f.process, f.t_ns";
static const char peak_sql[] =
    "SELECT h.process, h.peak_ns, h.peak_python_bytes + h.peak_native_bytes"
    " FROM process p JOIN heap h ON h.process = p.id WHERE p.run = :run AND h.peak_ns IS NOT NULL";

static int write_all(struct export *export, struct pie_reader *reader, int64_t run, char **ret_message) {
    fprintf(export->out,
            "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"exporter\":\"pieprof %s\",\"run\":\"%lld\","
            "\"metric\":\"%s\"},\n\"traceEvents\":[",
            PIEPROF_VERSION, (long long)run, export->metric->name);
    write_names(export);
    int r = pie_parts_each(reader, export->tree, run, export->metric, PIE_PART_SLICE, export, take_part,
                           ret_message);
    if (r == 0)
        r = pie_calltree_each_row(reader, footprint_sql, run, export, take_footprint, ret_message);
    if (r == 0)
        r = pie_calltree_each_row(reader, peak_sql, run, export, take_peak, ret_message);
    fputs("\n]}\n", export->out);
    return r;
}

static int choose_metric(struct pie_reader *reader, const struct pie_export_choice *choice,
                         const struct pie_metric **ret_metric, char **ret_message) {
    const struct pie_metric *metric = choice->metric;
    if (metric && (metric->unit != PIE_METRIC_NS || !metric->slice))
        return pie_message(-EINVAL, ret_message,
                           "a trace shows what took time, and when: choose --metric cpu or wait, not %s",
                           metric->name);
    return pie_export_metric(reader, choice, ret_metric, ret_message);
}

int pie_export_trace(FILE *out, struct pie_reader *reader, const struct pie_export_choice *choice,
                     char **ret_message) {
    struct export export = {.out = out};
    struct pie_calltree *tree = NULL;
    int r = choose_metric(reader, choice, &export.metric, ret_message);
    if (r == 0)
        r = pie_calltree_load(reader, choice->run, choice->detail, &tree, ret_message);
    if (r < 0)
        return r;
    export.tree = tree;
    export.names = pie_export_frame_names(tree);
    r = export.names ? pie_tracks_load(reader, choice->run, &export.tracks, ret_message)
                     : pie_message(-ENOMEM, ret_message, "out of memory");
    if (r == 0)
        r = write_all(&export, reader, choice->run, ret_message);
    pie_export_free_names(tree, export.names);
    pie_tracks_finish(&export.tracks);
    pie_calltree_destroy(tree);
    return r;
}
