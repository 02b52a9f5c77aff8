/* SPDX-License-Identifier: Apache-2.0 */

/* The collector of copies that no memcpy() makes. */

#include "profiler/copies/collector.h"

#include "profiler/copies/loop.h"
#include "profiler/copies/loop_drain.h"
#include "profiler/ports/config.h"
#include "profiler/ports/sink.h"
#include "profiler/time/clock.h"

#include <errno.h>

static struct pie_copy_loops *loops; /* of the collection thread. Fork child: forget() */

static int begin(struct pie_collection *collection) {
    if (!collection->config->has_copies || !pie_clock_current())
        return -ENOTSUP;
    return pie_copy_loops_create(collection->naming, &loops);
}

static void end(void) {
    pie_copy_loops_end(loops);
}

static void forget(void) {
    loops = NULL;
    pie_copy_sites_set(false);
}

static void drain(struct pie_thread *thread, size_t slot) {
    pie_copy_loops_thread(loops, thread, slot);
}

static void ended(struct pie_thread *thread, size_t slot) {
    pie_copy_loops_thread_ended(loops, slot);
}

static void code_changed(void) {
    pie_copy_loops_forget(loops);
}

static void name_nodes(void) {
    size_t count;

    pie_copy_loops_rows(loops, &count);
}

static int write_copies(struct pie_sink *sink) {
    size_t count;
    const struct pie_copy_row *rows = pie_copy_loops_rows(loops, &count);
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++)
        r = sink->ops->put_copy(sink, &rows[i]);
    return r;
}

static void clear(void) {
    pie_copy_loops_clear(loops);
}

static void complete(void) {
    pie_copy_loops_complete(loops);
}

static void forget_nodes(void) {
    pie_copy_loops_forget_places(loops);
}

const struct pie_collector pie_copy_loop_collector = {
    .name = "copy loops",
    .part = &pie_copy_loop_part,
    .begin = begin,
    .end = end,
    .forget = forget,
    .sampled = pie_copy_loop_sampled,
    .drain = drain,
    .ended = ended,
    .code_changed = code_changed,
    .name_nodes = name_nodes,
    .write = write_copies,
    .clear = clear,
    .complete = complete,
    .forget_nodes = forget_nodes,
};
