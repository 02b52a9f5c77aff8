/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "storage/export/tracks.h"
#include "storage/formats/firefox_thread.h"

/* Markers in a profile of the Firefox Profiler: findings, phases, the peak of memory, and collections of garbage.
 * Context: cli. */

struct pie_firefox_marker {
    const char *name; /* a literal */
    int phase;
    int64_t start_ns, end_ns; /* from the start of the run on */
    char *data;               /* JSON */
};

/* CPU time of collections of garbage, as a sum of a thread's slice. */
struct pie_firefox_collection {
    int64_t process, thread, slice_s, generation, ns;
};

struct pie_firefox_markers {
    struct pie_reader *reader;
    int64_t run;
    const struct pie_tracks *tracks;
    struct pie_firefox_collection *collections; /* of the run, by process and thread */
    uint32_t collection_count;
    int64_t process, thread; /* whose markers they are */
    struct pie_firefox_marker *all;
    uint32_t count;
};

/* What markers tell of. The others are on each thread's track. */
struct pie_firefox_marked {
    bool process; /* the peak of its memory */
    bool run;     /* findings and phases */
};

/* Reads what all threads' markers need. Returns 0, or -errno and a message. */
int pie_firefox_markers_init(struct pie_firefox_markers *markers, struct pie_reader *reader, int64_t run,
                             const struct pie_tracks *tracks, char **ret_message);
/* Those of a thread. Returns 0, or -errno and a message. */
int pie_firefox_markers_load(struct pie_firefox_markers *markers, int64_t process, int64_t thread,
                             struct pie_firefox_marked marked, char **ret_message);
/* Writes "markers" as a member of a thread, without a comma at either end. */
void pie_firefox_markers_write(const struct pie_firefox_markers *markers, struct pie_firefox_thread *thread,
                               FILE *out);
/* The thread has none any more. */
void pie_firefox_markers_clear(struct pie_firefox_markers *markers);
void pie_firefox_markers_finish(struct pie_firefox_markers *markers);
