/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/top/views.h"

/* What pieprof top shows, read from the profile under one read transaction. All texts are heap and printable
 * (launcher/text/text.h). Context: cli. */

struct pie_reader;

/* The run's figures. NaN: not known. */
struct pie_top_header {
    char *command, *state; /* "running", "ended", "ended by signal 9", "killed" */
    char *waiting;         /* "0.06 s waiting, …" of the main thread; NULL: not known */
    double wall_s, cpu_s, python_s, native_s, system_s, samples, processes, threads, overhead_share,
        peak_bytes;
    double rss_bytes; /* of the processes that run, now; of a run that ended, at its peak */
    bool is_running;
};

struct pie_top_row {
    double figures[PIE_TOP_FIGURES_MAX]; /* NaN: NULL */
    char *name, *place;                  /* "load", "app.py:42"; place: NULL where the row has none */
    char *path;                          /* of the place, whole; NULL: none */
    char *more;                          /* of PIE_TOP_TEXT_MORE, or NULL */
    bool is_library;
};

struct pie_top_frame {
    struct pie_top_header header;
    enum pie_top_view_id view;
    struct pie_top_row *rows;
    size_t count;
};

struct pie_top_source {
    const char *path;
    int64_t run;     /* 0: the last */
    int64_t process; /* of the run, its number or pid; 0: all */
    int64_t pid;     /* the run is that of this process, which runs; 0: see run */
    double last_s;   /* the rows are of this much time before now; 0: the whole run */
    double limit_s;  /* reading is given up after this time */
    bool is_checked; /* the file was read as a whole and found undamaged */
};

/* Fills `frame`, and source->run with the run that it is. Returns 0, or -errno and one line for people (heap). */
int pie_top_frame_read(struct pie_top_source *source, enum pie_top_view_id view, struct pie_top_frame *frame,
                       char **ret_message);
void pie_top_frame_finish(struct pie_top_frame *frame);

/* The part of the above that reads the run's figures. */
int pie_top_header_read(struct pie_reader *reader, int64_t run, struct pie_top_header *header,
                        char **ret_message);
void pie_top_header_finish(struct pie_top_header *header);
