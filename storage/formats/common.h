/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "storage/export/calltree.h"
#include "storage/export/graph.h"
#include "storage/export/metric.h"
#include "storage/formats/export.h"

/* What several formats need. Context: cli. */

/* Makes a text (heap, taken) printable: clean UTF-8 without control characters and ';'. Heap, or NULL. */
char *pie_export_clean(char *text);
/* The text for a frame: "work (app.py:3)", "sort (libfast.so)"; as pie_export_clean() leaves it. Heap, or NULL. */
char *pie_export_frame_name(const struct pie_calltree *tree, uint32_t frame);
/* Those of all frames; NULL: no memory. */
char **pie_export_frame_names(const struct pie_calltree *tree);
void pie_export_free_names(const struct pie_calltree *tree, char **names);

/* What the frame's code was read from: the source, or else the module; NULL: not known. */
const char *pie_export_file(const struct pie_calltree_frame *frame);
/* Its function's name, "?" if that is not known. */
const char *pie_export_function(const struct pie_calltree_frame *frame);

/* The metric of a format that shows one: the chosen one, or CPU time. Returns 0, or -ENODATA and a message if the run
 * has nothing of it. */
int pie_export_metric(struct pie_reader *reader, const struct pie_export_choice *choice,
                      const struct pie_metric **ret_metric, char **ret_message);
/* The metrics of a format that shows several: the chosen one, or all that have anything. Returns their number, or
 * -ENODATA and a message if there is none. */
int pie_export_metrics(struct pie_reader *reader, const struct pie_export_choice *choice,
                       const struct pie_metric *ret_metrics[PIE_GRAPH_METRICS_MAX], char **ret_message);

/* The call tree, with more flags of its detail, and pie_export_metric(). Returns 0, or -errno and a message. */
int pie_export_load_tree(struct pie_reader *reader, const struct pie_export_choice *choice,
                         enum pie_calltree_detail more, const struct pie_metric **ret_metric,
                         struct pie_calltree **ret_tree, char **ret_message);

/* The call tree, with more flags of its detail, and its graph for pie_export_metrics(). Returns 0, or -errno and a
 * message. */
int pie_export_load_graph(struct pie_reader *reader, const struct pie_export_choice *choice,
                          enum pie_calltree_detail more, struct pie_calltree **ret_tree,
                          struct pie_graph *ret_graph, char **ret_message);

/* The frames of a node, the innermost first; path has room for the deepest one. Returns their number. */
uint32_t pie_export_path(const struct pie_calltree *tree, uint32_t node, uint32_t *path);

/* Nanoseconds as seconds, to the last of them. */
void pie_export_write_seconds(FILE *out, int64_t ns);
/* A cost in seconds, bytes or a number. */
void pie_export_write_cost(FILE *out, const struct pie_metric *metric, int64_t value);
/* "s", "bytes" or "": of pie_export_write_cost(). */
const char *pie_export_unit(const struct pie_metric *metric);
