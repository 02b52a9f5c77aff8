/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "storage/base/message.h"
#include "storage/export/calltree_rows.h"
#include "storage/export/tracks.h"
#include "storage/formats/common.h"
#include "storage/formats/firefox_markers.h"
#include "storage/formats/firefox_thread.h"
#include "storage/formats/formats.h"
#include "storage/formats/json_text.h"
#include "storage/read/reader.h"

/* The processed profile format of https://profiler.firefox.com, version 48 of docs-developer/CHANGELOG-formats.md;
 * newer front ends upgrade it. A thread is a track, with the weighted samples of one time slice after the other: how
 * much, and in which slice, is exact; the order within a slice is that of the call tree. Findings, phases,
 * collections of garbage and the peak of memory are markers, live memory is a counter. */

enum { FORMAT_VERSION = 48, GECKO_VERSION = 24 };

struct export {
    FILE *out;
    struct pie_reader *reader;
    int64_t run;
    const struct pie_calltree *tree;
    const struct pie_metric *metric;
    struct pie_tracks tracks;
    struct pie_firefox_libs libs;
    struct pie_firefox_thread thread;
    int64_t process, thread_id;         /* of the thread at hand */
    uint32_t thread_count;              /* written */
    uint32_t *first_thread;             /* by process of the tracks: index + 1 of its first thread */
    struct pie_firefox_markers markers; /* of the process at hand */
    uint32_t counters;                  /* written */
    FILE *points[2];                    /* columns of the counter at hand: time and change */
    int64_t last_bytes;
    uint32_t point_count;
    int64_t counted; /* the process of the counter at hand */
};

static void write_time(const struct export *export, const char *key, int64_t ns) {
    fprintf(export->out, ",\"%s\":", key);
    pie_firefox_write_ms(export->out, pie_tracks_since(&export->tracks, ns));
}

static void write_about(struct export *export) {
    const struct pie_track_process *process = pie_tracks_process(&export->tracks, export->process);
    const struct pie_track_thread *thread =
        pie_tracks_thread(&export->tracks, export->process, export->thread_id);
    FILE *out = export->out;
    fputs(export->thread_count ? ",\n{\"name\":" : "\n{\"name\":", out);
    pie_json_write_text(out, thread ? thread->name : "all threads");
    fputs(",\"processName\":", out);
    pie_json_write_text(out, process ? process->command : "");
    fprintf(
        out,
        ",\"processType\":\"default\",\"isMainThread\":%s,\"pid\":\"%lld\",\"tid\":%lld,\"pausedRanges\":[]",
        !thread || thread->is_main ? "true" : "false", process ? (long long)process->unique_pid : 0,
        thread ? (long long)thread->tid : 0);
    write_time(export, "processStartupTime", process ? process->started_ns : 0);
    write_time(export, "processShutdownTime", process ? process->ended_ns : 0);
    write_time(export, "registerTime", thread ? thread->started_ns : process ? process->started_ns : 0);
    write_time(export, "unregisterTime", thread ? thread->ended_ns : process ? process->ended_ns : 0);
    fputs(",\n", out);
}

/* The thread whose samples have been gathered. */
static int write_thread(struct export *export, char **ret_message) {
    const struct pie_track_process *process = pie_tracks_process(&export->tracks, export->process);
    if (export->thread.sample_count == 0)
        return 0;
    uint32_t *first = process ? &export->first_thread[process - export->tracks.processes] : NULL;
    const struct pie_firefox_marked marked = {.process = first && *first == 0,
                                              .run = export->thread_count == 0};
    int r =
        pie_firefox_markers_load(&export->markers, export->process, export->thread_id, marked, ret_message);
    if (r < 0)
        return r;
    write_about(export);
    pie_firefox_markers_write(&export->markers, &export->thread, export->out);
    fputs(",\n", export->out);
    pie_firefox_thread_write(&export->thread, export->out, export->metric);
    fputc('}', export->out);
    export->thread_count++;
    if (first && *first == 0)
        *first = export->thread_count;
    pie_firefox_markers_clear(&export->markers);
    pie_firefox_thread_clear(&export->thread);
    return export->thread.error < 0 ? pie_message(export->thread.error, ret_message, "out of memory") : 0;
}

/* A context's sample stands at the end of the time that it weighs, as the front end reads CPU times. */
static void add_samples(struct export *export, const struct pie_part *part) {
    int64_t at = pie_tracks_slice_start(&export->tracks, part->process, part->slice_s);
    bool is_time = export->metric->unit == PIE_METRIC_NS;
    for (uint32_t i = 0; i < part->count; i++) {
        int64_t weight = part->self[part->nodes[i]];
        if (is_time)
            pie_calltree_add(&at, weight);
        pie_firefox_thread_add(&export->thread, part->nodes[i], at, weight);
    }
    if (is_time)
        pie_firefox_thread_add(&export->thread, 0, at, 0);
}

struct taking {
    struct export *export;
    char **ret_message;
};

static int take_part(void *data, const struct pie_part *part) {
    struct taking *taking = data;
    struct export *export = taking->export;
    int r = 0;
    if (part->process != export->process || part->thread != export->thread_id)
        r = write_thread(export, taking->ret_message);
    export->process = part->process;
    export->thread_id = part->thread;
    add_samples(export, part);
    return r;
}

static int write_threads(struct export *export, char **ret_message) {
    struct taking taking = {.export = export, .ret_message = ret_message};
    fputs("\"threads\":[", export->out);
    int r = pie_parts_each(export->reader, export->tree, export->run, export->metric, PIE_PART_SLICE, &taking,
                           take_part, ret_message);
    if (r == 0)
        r = write_thread(export, ret_message);
    fputs("],\n", export->out);
    return r;
}

/* Counters hold changes, and refer to a thread that was written. */
static int end_counter(struct export *export, char *columns[2]) {
    const struct pie_track_process *process = pie_tracks_process(&export->tracks, export->counted);
    uint32_t first = process ? export->first_thread[process - export->tracks.processes] : 0;
    bool is_short = fclose(export->points[0]) != 0;
    is_short = fclose(export->points[1]) != 0 || is_short;
    if (first && export->point_count && !is_short)
        fprintf(export->out,
                "%s\n{\"name\":\"malloc\",\"category\":\"Memory\",\"description\":\"live "
                "bytes\",\"pid\":\"%lld\","
                "\"mainThreadIndex\":%u,\"samples\":{\"length\":%u,\"time\":[%s],\"count\":[%s]}}",
                export->counters++ ? "," : "", (long long)process->unique_pid, first - 1, export->point_count,
                columns[0], columns[1]);
    free(columns[0]);
    free(columns[1]);
    return is_short ? -ENOMEM : 0;
}

static int begin_counter(struct export *export, int64_t process, char *columns[2], size_t sizes[2]) {
    export->counted = process;
    export->last_bytes = 0;
    export->point_count = 0;
    export->points[0] = open_memstream(&columns[0], &sizes[0]);
    export->points[1] = export->points[0] ? open_memstream(&columns[1], &sizes[1]) : NULL;
    if (export->points[0] && !export->points[1]) {
        fclose(export->points[0]);
        free(columns[0]);
    }
    return export->points[1] ? 0 : -ENOMEM;
}

static const char footprint_sql[] =
    "SELECT f.t_ns, f.python_bytes + f.native_bytes FROM footprint f"
    " JOIN process p ON p.id = f.process WHERE p.run = :run AND f.process = :process ORDER BY f.t_ns";

static int write_counter(struct export *export, int64_t process, char **ret_message) {
    char *columns[2];
    size_t sizes[2];
    struct pie_cursor *cursor;
    int r = pie_cursor_open(export->reader, footprint_sql, &cursor, ret_message);
    if (r < 0)
        return r;
    pie_cursor_bind_int(cursor, ":run", export->run);
    pie_cursor_bind_int(cursor, ":process", process);
    if (begin_counter(export, process, columns, sizes) < 0) {
        pie_cursor_close(cursor);
        return pie_message(-ENOMEM, ret_message, "out of memory");
    }
    while ((r = pie_cursor_next(cursor, ret_message)) > 0) {
        int64_t bytes = pie_cursor_int(cursor, 1), change;
        if (__builtin_sub_overflow(bytes, export->last_bytes, &change))
            continue;
        fputs(export->point_count ? "," : "", export->points[0]);
        pie_firefox_write_ms(export->points[0], pie_tracks_since(&export->tracks, pie_cursor_int(cursor, 0)));
        fprintf(export->points[1], "%s%lld", export->point_count++ ? "," : "", (long long)change);
        export->last_bytes = bytes;
    }
    pie_cursor_close(cursor);
    if (end_counter(export, columns) < 0 && r == 0)
        r = pie_message(-ENOMEM, ret_message, "out of memory");
    return r;
}

static int write_counters(struct export *export, char **ret_message) {
    int r = 0;
    fputs("\"counters\":[", export->out);
    for (size_t i = 0; i < export->tracks.process_count && r == 0; i++)
        r = write_counter(export, export->tracks.processes[i].id, ret_message);
    fputs("]\n", export->out);
    return r;
}

static void write_meta(const struct export *export) {
    fprintf(
        export->out,
        "{\"meta\":{\"version\":%d,\"preprocessedProfileVersion\":%d,\"product\":\"pieprof run %lld: %s\","
        "\"importedFrom\":\"pieprof %s\",\"interval\":1,\"stackwalk\":1,\"debug\":false,\"processType\":0,"
        "\"symbolicated\":true,\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,"
        "\"extensions\":{\"length\":0,\"baseURL\":[],\"id\":[],\"name\":[]},"
        "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},\"startTime\":",
        GECKO_VERSION, FORMAT_VERSION, (long long)export->run, export->metric->what, PIEPROF_VERSION);
    pie_firefox_write_ms(export->out, export->tracks.started_ns);
    fputs(
        ",\n\"categories\":[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
        "{\"name\":\"Own Python code\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
        "{\"name\":\"Libraries' Python code\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
        "{\"name\":\"Native code\",\"color\":\"blue\",\"subcategories\":[\"Other\"]}],\n\"markerSchema\":["
        "{\"name\":\"finding\",\"tooltipLabel\":\"{marker.data.category}\","
        "\"tableLabel\":\"{marker.data.place}: "
        "{marker.data.category}\",\"chartLabel\":\"{marker.data.place}\","
        "\"display\":[\"marker-chart\",\"marker-table\"],\"data\":["
        "{\"key\":\"place\",\"label\":\"Line\",\"format\":\"string\",\"searchable\":true},"
        "{\"key\":\"category\",\"label\":\"Finding\",\"format\":\"string\",\"searchable\":true},"
        "{\"key\":\"advice\",\"label\":\"Advice\",\"format\":\"string\"},"
        "{\"key\":\"wasted\",\"label\":\"Wasted CPU time\",\"format\":\"duration\"}]},"
        "{\"name\":\"peak\",\"tooltipLabel\":\"Peak of "
        "memory\",\"display\":[\"marker-chart\",\"marker-table\","
        "\"timeline-memory\"],\"data\":[{\"key\":\"bytes\",\"label\":\"Live\",\"format\":\"bytes\"}]},"
        "{\"name\":\"phase\",\"tooltipLabel\":\"{marker.data.place}\",\"tableLabel\":\"{marker.data.place}\","
        "\"chartLabel\":\"{marker.data.place}\",\"display\":[\"marker-chart\",\"marker-table\"],\"data\":["
        "{\"key\":\"place\",\"label\":\"Line with most CPU time\",\"format\":\"string\","
        "\"searchable\":true}]},"
        "{\"name\":\"gc\",\"tooltipLabel\":\"Garbage of generation {marker.data.generation}\","
        "\"tableLabel\":\"Generation {marker.data.generation}\","
        "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],\"data\":["
        "{\"key\":\"generation\",\"label\":\"Generation\",\"format\":\"integer\"}]}]},\n",
        export->out);
}

static int make_libs(struct export *export) {
    struct pie_firefox_libs *libs = &export->libs;
    for (uint32_t i = 0; i < export->tree->frame_count; i++) {
        const char *module = export->tree->frames[i].module;
        if (!module || pie_u64map_get(&libs->index_of, (uintptr_t)module))
            continue;
        const char **modules = pie_calltree_grow(libs->modules, libs->count, sizeof *modules);
        if (!modules || pie_u64map_put(&libs->index_of, (uintptr_t)module, libs->count + 1) < 0)
            return -ENOMEM;
        libs->modules = modules;
        modules[libs->count++] = module;
    }
    return 0;
}

static void write_libs(const struct export *export) {
    fputs("\"libs\":[", export->out);
    for (uint32_t i = 0; i < export->libs.count; i++) {
        const char *path = export->libs.modules[i], *slash = strrchr(path, '/');
        fputs(i ? ",\n{\"arch\":\"x86_64\",\"name\":" : "\n{\"arch\":\"x86_64\",\"name\":", export->out);
        pie_json_write_text(export->out, slash ? slash + 1 : path);
        fputs(",\"path\":", export->out);
        pie_json_write_text(export->out, path);
        fputs(",\"debugName\":", export->out);
        pie_json_write_text(export->out, slash ? slash + 1 : path);
        fputs(",\"debugPath\":", export->out);
        pie_json_write_text(export->out, path);
        fputs(",\"breakpadId\":\"\",\"codeId\":null}", export->out);
    }
    fputs("],\n", export->out);
}

static int prepare(struct export *export, char **ret_message) {
    int r = pie_tracks_load(export->reader, export->run, &export->tracks, ret_message);
    if (r < 0)
        return r;
    r = pie_firefox_markers_init(&export->markers, export->reader, export->run, &export->tracks, ret_message);
    if (r < 0)
        return r;
    export->first_thread = calloc(export->tracks.process_count + 1, sizeof *export->first_thread);
    if (!export->first_thread || make_libs(export) < 0 ||
        pie_firefox_thread_init(&export->thread, export->tree, &export->libs) < 0)
        return pie_message(-ENOMEM, ret_message, "out of memory");
    return 0;
}

static void finish(struct export *export) {
    pie_firefox_thread_finish(&export->thread);
    pie_firefox_markers_finish(&export->markers);
    pie_u64map_finish(&export->libs.index_of);
    free(export->libs.modules);
    free(export->first_thread);
    pie_tracks_finish(&export->tracks);
}

int pie_export_firefox(FILE *out, struct pie_reader *reader, const struct pie_export_choice *choice,
                       char **ret_message) {
    struct export export = {.out = out, .reader = reader, .run = choice->run};
    struct pie_calltree *tree = NULL;
    int r = pie_export_load_tree(reader, choice, PIE_CALLTREE_LINES, &export.metric, &tree, ret_message);
    if (r < 0)
        return r;
    export.tree = tree;
    r = prepare(&export, ret_message);
    if (r == 0) {
        write_meta(&export);
        write_libs(&export);
        r = write_threads(&export, ret_message);
    }
    if (r == 0)
        r = write_counters(&export, ret_message);
    fputs("}\n", out);
    finish(&export);
    pie_calltree_destroy(tree);
    return r;
}
