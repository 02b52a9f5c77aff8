/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "storage/export/tracks.h"
#include "storage/formats/firefox_thread.h"

/* Markers in a profile of the Firefox Profiler: findings, and the peak of memory. Context: cli. */

struct pie_firefox_marker {
    const char *name; /* a literal */
    int phase;
    int64_t start_ns, end_ns; /* from the start of the run on */
    char *data;               /* JSON */
};

struct pie_firefox_markers {
    struct pie_reader *reader;
    int64_t run;
    const struct pie_tracks *tracks;
    int64_t process; /* whose markers they are */
    struct pie_firefox_marker *all;
    uint32_t count;
};

/* Those of a process; findings are of the run, so one process has them. Returns 0, or -errno and a message. */
int pie_firefox_markers_load(struct pie_firefox_markers *markers, int64_t process, bool has_findings,
                             char **ret_message);
/* Writes "markers" as a member of a thread, without a comma at either end. */
void pie_firefox_markers_write(const struct pie_firefox_markers *markers, struct pie_firefox_thread *thread,
                               FILE *out);
/* There are none any more. */
void pie_firefox_markers_finish(struct pie_firefox_markers *markers);
