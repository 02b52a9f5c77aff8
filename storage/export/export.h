/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "storage/export/calltree.h"

struct pie_reader;

/* Selects the part of a profile to write. */
struct pie_export_choice {
    int64_t run;
    bool is_one_run; /* it was asked for; else formats that can have all */
    enum pie_calltree_detail detail;
};

/* Profiles in the formats of other tools: each is one file and one line of the table in export.c. Context: cli. */
struct pie_export_format {
    const char *name;       /* as given to -f */
    const char *extensions; /* of file names that mean it, separated by blanks */
    const char *summary;    /* for the help */
    /* Writes one run, or all. Returns 0, or -errno and one line for people (heap); an error of `out` is left to the
     * caller. */
    int (*write)(FILE *out, struct pie_reader *reader, const struct pie_export_choice *choice,
                 char **ret_message);
};

const struct pie_export_format *pie_export_find(const char *name);
/* By the ending of a file name, or NULL. */
const struct pie_export_format *pie_export_find_for_file(const char *file);
/* "collapsed, speedscope" (heap), or NULL. */
char *pie_export_names(void);

int pie_export_collapsed(FILE *out, struct pie_reader *reader, const struct pie_export_choice *choice,
                         char **ret_message);
int pie_export_speedscope(FILE *out, struct pie_reader *reader, const struct pie_export_choice *choice,
                          char **ret_message);
/* All of the file, with the views of the questions. */
int pie_export_sqlite(FILE *out, struct pie_reader *reader, const struct pie_export_choice *choice,
                      char **ret_message);

/* The text for a frame: "work (app.py:3)", "sort (libfast.so)"; printable, without ';'. Heap, or NULL. */
char *pie_export_frame_name(const struct pie_calltree *tree, uint32_t frame);
/* Loads the call tree of a run that has CPU samples; a run without is -ENODATA and a message. */
int pie_export_load(struct pie_reader *reader, const struct pie_export_choice *choice,
                    struct pie_calltree **ret_tree, char **ret_message);
/* The node after `node` in the order in which each comes before its children; 0: there is none. Begin with 0. */
uint32_t pie_export_next(const struct pie_calltree *tree, uint32_t node);
