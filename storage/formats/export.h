/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "storage/export/calltree.h"
#include "storage/export/metric.h"

struct pie_reader;

/* Selects the part of a profile to write. */
struct pie_export_choice {
    int64_t run;
    bool is_one_run; /* it was asked for; else formats that can have all */
    enum pie_calltree_detail detail;
    const struct pie_metric *metric; /* NULL: the format's own choice */
    bool has_threads;                /* processes and threads are frames above the stacks */
};

/* Profiles in the formats of other tools: each is one file and one line of the table in export.c. Context: cli. */
struct pie_export_format {
    const char *name;       /* as given to -f */
    const char *others;     /* other names of it, separated by blanks */
    const char *extensions; /* of file names that mean it, separated by blanks */
    const char *summary;    /* for the help */
    const char *missing;    /* what this build lacks for it; NULL: nothing */
    bool takes_metric;      /* else --metric means nothing to it */
    bool takes_threads;     /* else --threads means nothing to it */
    /* Writes one run, or all. Returns 0, or -errno and one line for people (heap); an error of `out` is left to the
     * caller. */
    int (*write)(FILE *out, struct pie_reader *reader, const struct pie_export_choice *choice,
                 char **ret_message);
};

const struct pie_export_format *pie_export_find(const char *name);
/* By the ending of a file name, or NULL. */
const struct pie_export_format *pie_export_find_for_file(const char *file);
/* The format whose name is most like this one, or NULL. */
const struct pie_export_format *pie_export_find_nearest(const char *name);
/* "collapsed, speedscope" (heap), or NULL. */
char *pie_export_names(void);
