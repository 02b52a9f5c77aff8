/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/base/u64map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Are equal values a coincidence? What a place of the program returns or writes may be equal by nature: a flag, a
 * status, a count that is mostly 0. So it is remembered which values were found equal at each place, and which one most
 * of its calls return. Context: drain. */

enum pie_watch_evidence_kind {
    PIE_WATCH_EVIDENCE_NONE,   /* the value was equal here before */
    PIE_WATCH_EVIDENCE_NEW,    /* another value that is equal here: several of these are evidence */
    PIE_WATCH_EVIDENCE_COMMON, /* most of the place's calls return it */
};

struct pie_watch_evidence_place {
    uint64_t matched;              /* a bit for each value that was equal, by its hash */
    uint64_t common;               /* the value that most calls return, if there is one */
    uint32_t lead, seen, returned; /* see evidence.c */
};

struct pie_watch_evidence {
    struct pie_u64map index; /* place -> number in places, from 1 */
    struct pie_watch_evidence_place *places;
    size_t count, room;
};

/* This number of different words in one value is evidence by itself. */
enum { PIE_WATCH_VARIETY_MIN = 8 };
bool pie_watch_is_varied(uint64_t variety);
/* The variety (pie_value) of a single word. */
uint64_t pie_watch_variety_of(uint64_t word);

/* A call of the place returned this value. */
void pie_watch_evidence_returned(struct pie_watch_evidence *evidence, uint64_t place, uint64_t value);
/* The value was equal: what is it worth? Remembers it. NEW also when memory is short. */
enum pie_watch_evidence_kind pie_watch_evidence_of(struct pie_watch_evidence *evidence, uint64_t place,
                                                   uint64_t value, uint64_t variety);
void pie_watch_evidence_finish(struct pie_watch_evidence *evidence);
