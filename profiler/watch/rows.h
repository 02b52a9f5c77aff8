/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/base/u64map.h"
#include "profiler/ports/sink.h"

#include <stddef.h>

/* Sums of watches that ended alike. Context: drain. */
struct pie_watch_rows {
    struct pie_watch_row *rows;
    size_t count, room;
    struct pie_u64map index; /* hash of the key -> number of the row, from 1 */
};

/* Adds one watch. Returns 0 or -ENOMEM. */
int pie_watch_rows_add(struct pie_watch_rows *rows, const struct pie_watch_row *one);
void pie_watch_rows_clear(struct pie_watch_rows *rows);
