/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "profiler/base/u64map.h"
#include "storage/export/part.h"

/* The tables of one thread in a profile of the Firefox Profiler: it has its own stacks, frames, functions and strings,
 * each only those that its samples need. Context: cli. */

struct pie_firefox_sample {
    int64_t ns; /* from the start of the run on */
    int64_t weight;
    uint32_t node; /* 0: nothing ran from here on */
};

/* Things that a thread refers to, in the order in which it did so first. */
struct pie_firefox_list {
    uint32_t *items;
    uint32_t count;
    uint32_t *index_of; /* by item: index + 1; 0: not listed */
};

/* The modules of the run, the same for all threads. */
struct pie_firefox_libs {
    const char **modules;
    uint32_t count;
    struct pie_u64map index_of; /* module -> index + 1 */
};

struct pie_firefox_thread {
    const struct pie_calltree *tree;
    struct pie_firefox_sample *samples;
    uint32_t sample_count;
    struct pie_firefox_list stacks, frames, functions; /* nodes; frames; frames of whole functions */
    const char **strings;
    uint32_t string_count;
    struct pie_u64map string_of; /* text -> index + 1 */
    const struct pie_firefox_libs *libs;
    int error;
};

/* Returns 0 or -ENOMEM. */
int pie_firefox_thread_init(struct pie_firefox_thread *thread, const struct pie_calltree *tree,
                            const struct pie_firefox_libs *libs);
void pie_firefox_thread_finish(struct pie_firefox_thread *thread);
/* It has no samples any more. */
void pie_firefox_thread_clear(struct pie_firefox_thread *thread);

/* Nodes come after those above them. */
void pie_firefox_thread_add(struct pie_firefox_thread *thread, uint32_t node, int64_t ns, int64_t weight);
/* The index of a text, which stays as long as the thread has samples. */
uint32_t pie_firefox_thread_string(struct pie_firefox_thread *thread, const char *text);

/* Writes "samples", the tables and, last, "stringArray", without a comma at either end. */
void pie_firefox_thread_write(struct pie_firefox_thread *thread, FILE *out, const struct pie_metric *metric);
/* Nanoseconds as milliseconds, to the last of them. */
void pie_firefox_write_ms(FILE *out, int64_t ns);
