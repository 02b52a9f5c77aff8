/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/export/tracks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/base/u64map.h"
#include "storage/base/message.h"
#include "storage/base/utf8.h"
#include "storage/export/calltree_rows.h"
#include "storage/read/reader.h"

static char *clean_copy(const char *text) {
    size_t size = strlen(text);
    char *clean = malloc(3 * size + 1);
    if (clean)
        clean[pie_utf8_clean(clean, text, size)] = 0;
    return clean;
}

static int take_process(void *data, struct pie_cursor *cursor) {
    struct pie_tracks *tracks = data;
    struct pie_track_process *processes =
        pie_calltree_grow(tracks->processes, tracks->process_count, sizeof *processes);
    if (!processes)
        return -ENOMEM;
    tracks->processes = processes;
    const char *command = pie_cursor_text(cursor, 5);
    processes[tracks->process_count] = (struct pie_track_process){
        .id = pie_cursor_int(cursor, 0),
        .pid = pie_cursor_int(cursor, 1),
        .started_ns = pie_cursor_int(cursor, 2),
        .ended_ns = pie_cursor_int(cursor, 3),
        .slice_width_s = pie_cursor_int(cursor, 4),
        .command = clean_copy(command ? command : ""),
    };
    return processes[tracks->process_count++].command ? 0 : -ENOMEM;
}

/* Pids come again, and those of several hosts may be the same. */
static int make_unique(struct pie_tracks *tracks) {
    struct pie_u64map taken = {0};
    int r = 0;
    for (size_t i = 0; i < tracks->process_count && r == 0; i++) {
        struct pie_track_process *process = &tracks->processes[i];
        bool is_taken = pie_u64map_get(&taken, (uint64_t)process->pid) != 0;
        process->unique_pid = is_taken ? process->id << 32 | (process->pid & UINT32_MAX) : process->pid;
        if (!is_taken)
            r = pie_u64map_put(&taken, (uint64_t)process->pid, 1);
        if (i == 0 || process->started_ns < tracks->started_ns)
            tracks->started_ns = process->started_ns;
    }
    pie_u64map_finish(&taken);
    return r;
}

static int take_thread(void *data, struct pie_cursor *cursor) {
    struct pie_tracks *tracks = data;
    struct pie_track_thread *threads =
        pie_calltree_grow(tracks->threads, tracks->thread_count, sizeof *threads);
    if (!threads)
        return -ENOMEM;
    tracks->threads = threads;
    const char *name = pie_cursor_text(cursor, 6);
    threads[tracks->thread_count] = (struct pie_track_thread){
        .process = pie_cursor_int(cursor, 0),
        .id = pie_cursor_int(cursor, 1),
        .tid = pie_cursor_int(cursor, 2),
        .is_main = pie_cursor_int(cursor, 3) != 0,
        .started_ns = pie_cursor_int(cursor, 4),
        .ended_ns = pie_cursor_int(cursor, 5),
        .name = clean_copy(name ? name : "thread"),
    };
    return threads[tracks->thread_count++].name ? 0 : -ENOMEM;
}

static const char processes_sql[] =
    "SELECT p.id, p.pid, p.started_ns, coalesce(p.ended_ns, p.seen_ns), p.slice_width_s,"
    " iif(json_valid(p.argv), (SELECT group_concat(value, ' ') FROM json_each(p.argv)), p.argv)"
    " FROM process p WHERE p.run = :run ORDER BY p.id";
static const char threads_sql[] =
    "SELECT t.process, t.id, t.tid, t.is_main, coalesce(t.started_ns, p.started_ns),"
    " coalesce(t.ended_ns, p.ended_ns, p.seen_ns), t.name"
    " FROM process p JOIN thread t ON t.process = p.id WHERE p.run = :run ORDER BY t.process, t.id";

int pie_tracks_load(struct pie_reader *reader, int64_t run, struct pie_tracks *ret_tracks,
                    char **ret_message) {
    struct pie_tracks tracks = {0};
    int r = pie_calltree_each_row(reader, processes_sql, run, &tracks, take_process, ret_message);
    if (r == 0)
        r = pie_calltree_each_row(reader, threads_sql, run, &tracks, take_thread, ret_message);
    if (r == 0 && make_unique(&tracks) < 0)
        r = pie_message(-ENOMEM, ret_message, "out of memory");
    if (r == 0)
        *ret_tracks = tracks;
    else
        pie_tracks_finish(&tracks);
    return r;
}

void pie_tracks_finish(struct pie_tracks *tracks) {
    for (size_t i = 0; i < tracks->process_count; i++)
        free(tracks->processes[i].command);
    for (size_t i = 0; i < tracks->thread_count; i++)
        free(tracks->threads[i].name);
    free(tracks->processes);
    free(tracks->threads);
    *tracks = (struct pie_tracks){0};
}

static int compare_process(const void *key, const void *element) {
    int64_t a = *(const int64_t *)key, b = ((const struct pie_track_process *)element)->id;
    return a < b ? -1 : a > b;
}

const struct pie_track_process *pie_tracks_process(const struct pie_tracks *tracks, int64_t process) {
    return tracks->process_count ? bsearch(&process, tracks->processes, tracks->process_count,
                                           sizeof *tracks->processes, compare_process)
                                 : NULL;
}

static int compare_thread(const void *key, const void *element) {
    const struct pie_track_thread *a = key, *b = element;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

const struct pie_track_thread *pie_tracks_thread(const struct pie_tracks *tracks, int64_t process,
                                                 int64_t id) {
    const struct pie_track_thread key = {.process = process, .id = id};
    return tracks->thread_count
               ? bsearch(&key, tracks->threads, tracks->thread_count, sizeof *tracks->threads, compare_thread)
               : NULL;
}

int64_t pie_tracks_since(const struct pie_tracks *tracks, int64_t ns) {
    int64_t since;
    return __builtin_sub_overflow(ns, tracks->started_ns, &since) ? 0 : since;
}

int64_t pie_tracks_slice_start(const struct pie_tracks *tracks, int64_t process, int64_t slice_s) {
    const struct pie_track_process *found = pie_tracks_process(tracks, process);
    int64_t ns;
    if (!found || __builtin_mul_overflow(slice_s, 1000000000, &ns) ||
        __builtin_add_overflow(found->started_ns, ns, &ns))
        return 0;
    return pie_tracks_since(tracks, ns);
}

char *pie_tracks_process_name(const struct pie_tracks *tracks, int64_t process) {
    const struct pie_track_process *found = pie_tracks_process(tracks, process);
    char *name;
    int size = found && *found->command
                   ? asprintf(&name, "process %lld (%s)", (long long)found->pid, found->command)
                   : asprintf(&name, "process %lld", found ? (long long)found->pid : 0);
    return size < 0 ? NULL : name;
}

char *pie_tracks_thread_name(const struct pie_tracks *tracks, int64_t process, int64_t thread) {
    const struct pie_track_thread *found = pie_tracks_thread(tracks, process, thread);
    char *name;
    int size = found && found->tid ? asprintf(&name, "%s (%lld)", found->name, (long long)found->tid)
                                   : asprintf(&name, "%s", found ? found->name : "thread");
    return size < 0 ? NULL : name;
}
