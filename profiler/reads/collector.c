/* SPDX-License-Identifier: Apache-2.0 */

/* The collector of what calls read. */

#include "profiler/reads/collector.h"

#include "profiler/ports/config.h"
#include "profiler/reads/places.h"
#include "profiler/reads/reads.h"
#include "profiler/stacks/cct.h"
#include "profiler/symbols/naming.h"
#include "profiler/time/clock.h"
#include "profiler/watch/watch.h"

#include <errno.h>

/* Of the collection thread. Fork child: forget(). */
static struct {
    const struct pie_pystack_ops *ops;
    struct pie_naming *naming;
    struct pie_reads_places *places;
} state;

static int begin(struct pie_collection *collection) {
    if (!collection->config->has_redundancy || !pie_clock_current())
        return -ENOTSUP;
    int r = pie_reads_places_create(collection->naming, &state.places);
    if (r < 0)
        return r;
    state.naming = collection->naming;
    state.ops = collection->ops;
    pie_reads_set(collection->ops);
    pie_watch_set_returned(pie_reads_returned);
    return 0;
}

static void stop(void) {
    pie_reads_set(NULL);
    pie_watch_set_returned(NULL);
}

static void forget(void) {
    state.places = NULL;
    stop();
}

/* Handlers leave a record of each instruction that such a loop may have; few have one. */
static uint8_t kind_of_loop(struct pie_cct_id line) {
    if (pie_cct_is_root(line) || !pie_cct_key_is_python(pie_cct_key(line)))
        return PIE_READ_NONE;
    uint64_t key = pie_cct_key(line);
    uint8_t operation = state.ops->operation(pie_cct_key_code(key), pie_cct_key_offset(key));
    if (operation & PIE_OPERATION_IN_FILL)
        return PIE_READ_FILL;
    return operation & PIE_OPERATION_IN_FOLD ? PIE_READ_FOLD : PIE_READ_NONE;
}

static void drain(struct pie_thread *thread, size_t slot) {
    struct pie_reads_record record;

    while (pie_reads_ring_pop(&pie_reads_of(thread)->ring, &record)) {
        struct pie_cct_id leaf = pie_watch_line_node(record.node);
        if (record.read.kind == PIE_READ_FOLD && !(record.read.kind = kind_of_loop(leaf)))
            continue;
        struct pie_node_id line = pie_naming_node(state.naming, leaf);
        if (line.value)
            pie_reads_places_add(state.places, line, &record);
    }
}

static int write_readings(struct pie_sink *sink) {
    struct pie_reading_row row;
    int r = 0;

    for (size_t at = 0; r == 0 && pie_reads_places_next(state.places, &at, &row);)
        r = sink->ops->put_reading(sink, &row);
    return r;
}

static void clear(void) {
    pie_reads_places_clear(state.places);
}

static void move_thread(struct pie_thread *thread, pie_move_word_fn move, void *data) {
    move(data, &pie_reads_of(thread)->sort.node);
}

static bool holds(struct pie_node_id node) {
    return pie_reads_places_hold(state.places, node);
}

static void forget_nodes(void) {
    pie_reads_places_forget(state.places);
}

const struct pie_collector pie_reads_collector = {
    .name = "reads",
    .part = &pie_reads_part,
    .begin = begin,
    .stop = stop,
    .forget = forget,
    .sampled = pie_reads_sampled,
    .drain = drain,
    .write = write_readings,
    .clear = clear,
    .move_thread = move_thread,
    .holds = holds,
    .forget_nodes = forget_nodes,
};
