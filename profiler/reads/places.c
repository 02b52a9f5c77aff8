/* SPDX-License-Identifier: Apache-2.0 */

/* A place is a line of Python in its context. Does a sample there meet what the sample before met? Time is what it
 * costs: while one value rises, calls that read all of it take longer and longer. So of equal steps of its length the
 * later ones take more of it, in proportion to the length, and three quarters of all lie above half of the last one.
 * Calls that take no longer for a long value (append, len) have half of it there. That is asked only of values that
 * have risen to four times their length. */

#include "profiler/reads/places.h"

#include "profiler/base/counters.h"
#include "profiler/base/list.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/u64map.h"
#include "profiler/symbols/naming.h"

#include <errno.h>

enum {
    STEPS = 8, /* classes of length to one that is twice as long */
    OCTAVES = 40,
    RISE = 4,
    ABOUT = 8,
    IN_TURN = 4, /* lists that are searched in turn */
};

/* How much time each length took while one value rose. */
struct rise {
    uint64_t first, last;         /* lengths */
    uint64_t ns[OCTAVES * STEPS]; /* CPU time of the samples */
};

struct place {
    struct pie_reading_row row;
    struct pie_call_read last;                  /* kind 0: none yet */
    struct pie_call_read searched[IN_TURN - 1]; /* the lists before that one, the latest first */
    struct rise *rise;                          /* NULL: nothing has risen yet */
    bool is_changed;                            /* since the last clear */
};

struct pie_reads_places {
    struct pie_naming *naming;
    struct place *list;
    size_t count, room;
    struct pie_u64map index; /* node and kind -> number, from 1 */
};

int pie_reads_places_create(struct pie_naming *naming, struct pie_reads_places **ret_places) {
    struct pie_reads_places *places = pie_calloc(1, sizeof *places);

    if (!places)
        return -ENOMEM;
    places->naming = naming;
    *ret_places = places;
    return 0;
}

void pie_reads_places_destroy(struct pie_reads_places *places) {
    if (!places)
        return;
    for (size_t i = 0; i < places->count; i++)
        pie_free(places->list[i].rise);
    pie_free(places->list);
    pie_u64map_finish(&places->index);
    pie_free(places);
}

static uint64_t key_of(struct pie_node_id line, uint8_t kind) {
    return (uint64_t)line.value << 8 | kind;
}

static struct place *place_of(struct pie_reads_places *places, struct pie_node_id line, uint8_t kind) {
    uint32_t number = pie_u64map_get(&places->index, key_of(line, kind));

    if (number)
        return &places->list[number - 1];
    struct place *list = pie_list_grown(places->list, places->count, &places->room, sizeof *list);
    if (!list)
        return NULL;
    places->list = list;
    if (pie_u64map_put(&places->index, key_of(line, kind), (uint32_t)places->count + 1) < 0)
        return NULL;
    places->list[places->count] = (struct place){.row = {.node = line, .kind = kind}};
    return &places->list[places->count++];
}

/* --- Lengths --- */

/* Classes are evenly spread over each octave. */
static size_t class_of(uint64_t size) {
    unsigned octave = size ? 63 - (unsigned)__builtin_clzll(size) : 0;
    uint64_t step = octave > 3 ? (size >> (octave - 3)) & (STEPS - 1) : (size << (3 - octave)) & (STEPS - 1);

    return octave < OCTAVES ? octave * STEPS + step : OCTAVES * STEPS - 1;
}

/* Adds the time of a value that has risen enough to the two halves. */
static void add_halves(const struct rise *rise, struct pie_reading_row *row) {
    if (!rise || rise->last < RISE * rise->first)
        return;
    size_t half = class_of(rise->last) - STEPS;
    for (size_t i = class_of(rise->first); i <= class_of(rise->last); i++)
        *(i <= half ? &row->lower_ns : &row->upper_ns) += rise->ns[i];
}

/* What had risen is over; another value begins. */
static void begin_rise(struct place *place, uint64_t size, uint64_t ns) {
    add_halves(place->rise, &place->row);
    *place->rise = (struct rise){.first = size, .last = size};
    place->rise->ns[class_of(size)] += ns;
}

static void go_on(struct place *place, uint64_t size, uint64_t ns) {
    if (!place->rise)
        return;
    if (size > place->rise->last)
        place->rise->last = size;
    place->rise->ns[class_of(size)] += ns;
}

/* --- Samples --- */

static bool begins_alike(const struct pie_call_read *shorter, const struct pie_call_read *longer) {
    if (longer->octave == shorter->octave)
        return longer->beginning == shorter->beginning;
    return longer->octave == shorter->octave + 1 && longer->beginning_up == shorter->beginning;
}

static bool is_list_at_work(uint8_t kind) {
    return kind == PIE_READ_SEARCH || kind == PIE_READ_CHOICE;
}

/* Is it the same value, perhaps longer or shorter by now? A list that only its call has is made anew each time. */
static bool is_same(const struct pie_call_read *last, const struct pie_call_read *now) {
    if (is_list_at_work(now->kind) && (now->object != last->object || now->is_temporary))
        return false;
    if (now->rest != last->rest && now->kind != PIE_READ_PATTERN && now->kind != PIE_READ_CHOICE)
        return false;
    return now->size >= last->size ? begins_alike(last, now) : begins_alike(now, last);
}

/* It rises for the first time: that is what the classes are for. */
static bool make_rise(struct place *place) {
    if (place->rise)
        return true;
    place->rise = pie_calloc(1, sizeof *place->rise);
    if (!place->rise) {
        pie_counter_add(PIE_COUNTER_OUT_OF_MEMORY, 1);
        return false;
    }
    begin_rise(place, place->last.size, 0);
    return true;
}

/* What else than a length may have changed of the same value: some of the items; the pattern that is searched in a text
 * of about this length. */
static bool is_changed(const struct pie_call_read *last, const struct pie_call_read *now) {
    return now->kind == PIE_READ_CHOICE ? now->beginning_up != last->beginning_up : now->rest != last->rest;
}

static bool is_about_as_long(uint64_t size, uint64_t other) {
    return (size > other ? size - other : other - size) <= other / ABOUT;
}

/* Of a choice: has the list only become longer, or have items gone? */
static void add_change(struct place *place, const struct pie_reads_record *record) {
    const struct pie_call_read *last = &place->last, *now = &record->read;
    bool is_longer = now->size > last->size && now->rest == last->rest;

    place->row.rises++;
    if (now->kind == PIE_READ_CHOICE)
        *(is_longer ? &place->row.lower_ns : &place->row.upper_ns) += record->cpu_ns;
}

static void compare_changes(struct place *place, const struct pie_reads_record *record) {
    const struct pie_call_read *last = &place->last, *now = &record->read;

    if (!last->kind)
        return;
    if (!is_same(last, now) || (now->kind == PIE_READ_PATTERN && !is_about_as_long(now->size, last->size)))
        place->row.others++;
    else if (is_changed(last, now))
        add_change(place, record);
    else
        place->row.same++;
}

/* A sample that is not compared. */
static void count(struct place *place, const struct pie_reads_record *record) {
    switch (record->read.saying) {
    case PIE_READ_SAYS_YES:
        place->row.rises++;
        place->row.upper_ns += record->cpu_ns;
        return;
    case PIE_READ_SAYS_NO:
        place->row.others++;
        place->row.lower_ns += record->cpu_ns;
        return;
    default:
        place->row.same++;
    }
}

static void compare(struct place *place, const struct pie_reads_record *record) {
    const struct pie_call_read *last = &place->last, *now = &record->read;
    bool is_known = last->kind && is_same(last, now);

    if (is_known && now->size > last->size) {
        place->row.rises++;
        if (make_rise(place))
            go_on(place, now->size, record->cpu_ns);
    } else if (is_known && (now->size == last->size || now->kind == PIE_READ_SEARCH)) {
        place->row.same++;
        go_on(place, now->size, record->cpu_ns);
    } else if (last->kind) {
        place->row.others++;
        if (place->rise)
            begin_rise(place, now->size, record->cpu_ns);
    }
}

/* Of lists that are searched in turn, the one that this sample met again is the last one. What had risen was another
 * list's length. */
static void turn_to(struct place *place, const struct pie_call_read *now) {
    unsigned at = 0;

    if (place->last.kind == PIE_READ_NONE || is_same(&place->last, now))
        return;
    while (at < IN_TURN - 2 && place->searched[at].kind && !is_same(&place->searched[at], now))
        at++;
    struct pie_call_read found = place->searched[at];
    bool is_known = found.kind && is_same(&found, now);
    for (; at > 0; at--)
        place->searched[at] = place->searched[at - 1];
    place->searched[0] = place->last;
    if (!is_known)
        return;
    place->last = found;
    if (place->rise)
        begin_rise(place, found.size, 0);
}

void pie_reads_places_add(struct pie_reads_places *places, struct pie_node_id line,
                          const struct pie_reads_record *record) {
    struct place *place = place_of(places, line, record->read.kind);

    if (!place) {
        pie_counter_add(PIE_COUNTER_OUT_OF_MEMORY, 1);
        return;
    }
    if (record->read.kind == PIE_READ_SEARCH)
        turn_to(place, &record->read);
    if (record->read.kind >= PIE_READ_SKIP)
        count(place, record);
    else if (record->read.kind == PIE_READ_CHOICE || record->read.kind == PIE_READ_PATTERN)
        compare_changes(place, record);
    else
        compare(place, record);
    place->last = record->read;
    place->is_changed = true;
    place->row.samples++;
    place->row.cpu_ns += record->cpu_ns;
    place->row.cpu_sq_ns2 += (double)record->cpu_ns * (double)record->cpu_ns;
    place->row.sum_size += record->read.size;
    if (record->read.size > place->row.max_size)
        place->row.max_size = record->read.size;
}

/* --- Rows --- */

bool pie_reads_places_next(const struct pie_reads_places *places, size_t *at,
                           struct pie_reading_row *ret_row) {
    while (*at < places->count && !places->list[*at].is_changed)
        ++*at;
    if (*at == places->count)
        return false;
    const struct place *place = &places->list[(*at)++];
    *ret_row = place->row;
    add_halves(place->rise, ret_row); /* of what still rises */
    return true;
}

void pie_reads_places_clear(struct pie_reads_places *places) {
    for (size_t i = 0; i < places->count; i++)
        places->list[i].is_changed = false;
}

bool pie_reads_places_hold(const struct pie_reads_places *places, struct pie_node_id node) {
    for (uint8_t kind = PIE_READ_SEARCH; kind < PIE_READ_KINDS; kind++) {
        uint32_t number = pie_u64map_get(&places->index, key_of(node, kind));
        if (number && places->list[number - 1].is_changed)
            return true;
    }
    return false;
}

void pie_reads_places_forget(struct pie_reads_places *places) {
    size_t kept = 0;

    pie_u64map_finish(&places->index);
    for (size_t i = 0; i < places->count; i++) {
        struct place *place = &places->list[i];
        if (pie_naming_keeps_node(places->naming, place->row.node) &&
            pie_u64map_put(&places->index, key_of(place->row.node, place->row.kind), (uint32_t)kept + 1) == 0)
            places->list[kept++] = *place;
        else
            pie_free(place->rise);
    }
    places->count = kept;
}
