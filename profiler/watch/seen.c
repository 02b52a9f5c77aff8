/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/watch/seen.h"

#include "profiler/base/list.h"
#include "profiler/base/own_memory.h"

struct pie_watch_seen_place {
    uint64_t keys[PIE_WATCH_SEEN_MAX]; /* a ring */
    uint64_t values[PIE_WATCH_SEEN_MAX];
    uint32_t next;
};

static struct pie_watch_seen_place *place_of(struct pie_watch_seen *seen, uint64_t place) {
    uint32_t index = pie_u64map_get(&seen->index, place);

    if (index)
        return &seen->places[index - 1];
    struct pie_watch_seen_place *list = pie_list_grown(seen->places, seen->count, &seen->room, sizeof *list);
    if (!list)
        return NULL;
    seen->places = list;
    if (pie_u64map_put(&seen->index, place, (uint32_t)seen->count + 1) < 0)
        return NULL;
    seen->places[seen->count] = (struct pie_watch_seen_place){.next = 0};
    return &seen->places[seen->count++];
}

bool pie_watch_seen_again(struct pie_watch_seen *seen, uint64_t place, uint64_t key, uint64_t value) {
    struct pie_watch_seen_place *at = place_of(seen, place);

    if (!at)
        return false;
    uint32_t i = 0;
    while (i < PIE_WATCH_SEEN_MAX && at->keys[i] != key)
        i++;
    bool is_same = i < PIE_WATCH_SEEN_MAX && at->values[i] == value;
    if (i == PIE_WATCH_SEEN_MAX)
        i = at->next++ % PIE_WATCH_SEEN_MAX;
    at->keys[i] = key;
    at->values[i] = value;
    return is_same;
}

void pie_watch_seen_finish(struct pie_watch_seen *seen) {
    pie_u64map_finish(&seen->index);
    pie_free(seen->places);
    *seen = (struct pie_watch_seen){0};
}
