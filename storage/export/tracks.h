/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pie_reader;

/* The processes and threads of a run, as exports name them. Points in time are CLOCK_REALTIME. Context: cli. */

struct pie_track_process {
    int64_t id; /* of table process */
    int64_t pid, started_ns, ended_ns, slice_width_s;
    int64_t unique_pid; /* pid, or another number where the pid is that of an earlier process, too */
    char *command;      /* clean UTF-8, never NULL */
};

struct pie_track_thread {
    int64_t process, id; /* of table thread */
    int64_t tid, started_ns, ended_ns;
    bool is_main;
    char *name; /* clean UTF-8, never NULL */
};

struct pie_tracks {
    struct pie_track_process *processes; /* by id */
    struct pie_track_thread *threads;    /* by process and id */
    size_t process_count, thread_count;
    int64_t started_ns; /* of the first process */
};

/* Returns 0, or -errno and a message. */
int pie_tracks_load(struct pie_reader *reader, int64_t run, struct pie_tracks *ret_tracks,
                    char **ret_message);
void pie_tracks_finish(struct pie_tracks *tracks);

/* NULL: the file has none. */
const struct pie_track_process *pie_tracks_process(const struct pie_tracks *tracks, int64_t process);
const struct pie_track_thread *pie_tracks_thread(const struct pie_tracks *tracks, int64_t process,
                                                 int64_t id);

/* A point in time from the start of the run on; 0 where a hostile file's would be too great. */
int64_t pie_tracks_since(const struct pie_tracks *tracks, int64_t ns);
/* The start of a time slice of a process from the start of the run on. */
int64_t pie_tracks_slice_start(const struct pie_tracks *tracks, int64_t process, int64_t slice_s);

/* "process 4001 (python3 app.py)", "MainThread (4001)": heap, or NULL. */
char *pie_tracks_process_name(const struct pie_tracks *tracks, int64_t process);
char *pie_tracks_thread_name(const struct pie_tracks *tracks, int64_t process, int64_t thread);
