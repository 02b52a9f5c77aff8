/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/base/u64map.h"

/* Into which slice of a process's time a row belongs, and when slices become wider: twice as wide when there would be
 * too many of them, or too many rows. A slice is as long as a power of two in seconds and begins at a multiple of that,
 * so a wider one is made of whole narrower ones. Context: drain. */

enum {
    PIE_SLICES_MAX = 256, /* in a process */
    PIE_SLICES_MIN = 32,  /* for the sake of rows there are never fewer, once there were */
    /* A row takes some 10 bytes of the file when it is packed: 2 kB a second. */
    PIE_SLICES_ROWS_PER_S = 200,
    /* Of all slices, about. A question about the whole run reads them all: in 0.1 s. */
    PIE_SLICES_ROWS_MAX = 25000,
};

struct pie_slices {
    int64_t started_ns; /* CLOCK_REALTIME of the process's start */
    int64_t keep_s;     /* older slices are forgotten; 0: none is */
    int64_t width_s;
    int64_t at_s;                 /* begin of the slice that rows belong to now, since the process's start */
    uint64_t finished_rows;       /* of the slices before, about */
    struct pie_u64map keys, last; /* of rows in the present slice, and in the one before */
    uint64_t shared;              /* rows that the present one has with it */
};

void pie_slices_begin(struct pie_slices *slices, int64_t started_ns, int64_t keep_s);
void pie_slices_finish(struct pie_slices *slices);

/* Rows from now on were measured around this time (CLOCK_REALTIME). Returns true if slices are wider than before: what
 * is in the file is to be put together. Never goes back, also when the clock does. */
bool pie_slices_move(struct pie_slices *slices, int64_t at_ns);

/* Begin of the first slice that is kept. */
int64_t pie_slices_first_s(const struct pie_slices *slices);

/* A row is put into the present slice. key: unique among the rows there. */
void pie_slices_note(struct pie_slices *slices, uint64_t key);
