/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/watch/evidence.h"

#include "profiler/base/hash.h"
#include "profiler/base/list.h"
#include "profiler/base/own_memory.h"

/* The value that most calls return is found by the majority vote of Boyer and Moore (1981): each other value takes one
 * vote from the candidate, and who comes when none are left is the next. `seen` counts the candidate's own votes, so
 * that one without a majority is none. */

static struct pie_watch_evidence_place *place_of(struct pie_watch_evidence *evidence, uint64_t place) {
    uint32_t index = pie_u64map_get(&evidence->index, place);

    if (index)
        return &evidence->places[index - 1];
    struct pie_watch_evidence_place *list =
        pie_list_grown(evidence->places, evidence->count, &evidence->room, sizeof *list);
    if (!list)
        return NULL;
    evidence->places = list;
    if (pie_u64map_put(&evidence->index, place, (uint32_t)evidence->count + 1) < 0)
        return NULL;
    evidence->places[evidence->count] = (struct pie_watch_evidence_place){.matched = 0};
    return &evidence->places[evidence->count++];
}

bool pie_watch_is_varied(uint64_t variety) {
    return __builtin_popcountll(variety) >= PIE_WATCH_VARIETY_MIN;
}

uint64_t pie_watch_variety_of(uint64_t word) {
    return UINT64_C(1) << (pie_hash_upper(word) >> 58);
}

void pie_watch_evidence_returned(struct pie_watch_evidence *evidence, uint64_t place, uint64_t value) {
    struct pie_watch_evidence_place *at = place_of(evidence, place);

    if (!at)
        return;
    at->returned++;
    if (at->lead == 0 && at->common != value) {
        at->common = value;
        at->seen = 0;
    }
    bool is_candidate = at->common == value;
    at->lead += is_candidate ? 1 : -1;
    at->seen += is_candidate;
}

static bool is_common(const struct pie_watch_evidence_place *at, uint64_t value) {
    return value == at->common && at->seen > 1 && at->seen > at->returned / 2;
}

enum pie_watch_evidence_kind pie_watch_evidence_of(struct pie_watch_evidence *evidence, uint64_t place,
                                                   uint64_t value, uint64_t variety) {
    struct pie_watch_evidence_place *at = place_of(evidence, place);

    if (at && is_common(at, value))
        return PIE_WATCH_EVIDENCE_COMMON;
    if (at && (variety & ~at->matched) == 0)
        return PIE_WATCH_EVIDENCE_NONE;
    if (at)
        at->matched |= variety;
    return PIE_WATCH_EVIDENCE_NEW;
}

void pie_watch_evidence_finish(struct pie_watch_evidence *evidence) {
    pie_u64map_finish(&evidence->index);
    pie_free(evidence->places);
    *evidence = (struct pie_watch_evidence){.count = 0};
}
