/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/base/u64map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The values that each place of the program got last, by hash: a place that gets one of them again computes it again,
 * also where other values came between. Context: drain. */

enum { PIE_WATCH_SEEN_MAX = 32 };

struct pie_watch_seen {
    struct pie_u64map index; /* place -> number in places, from 1 */
    struct pie_watch_seen_place *places;
    size_t count, room;
};

/* Was this value of a key seen at this place? Remembers it, in place of another value of the key: who gets another one
 * by the same arguments goes by more than these. False also when memory is short. */
bool pie_watch_seen_again(struct pie_watch_seen *seen, uint64_t place, uint64_t key, uint64_t value);
void pie_watch_seen_finish(struct pie_watch_seen *seen);
