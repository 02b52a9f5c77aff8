/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/collect/collectors.h"

#include "profiler/copies/collector.h"
#include "profiler/heap/collector.h"
#include "profiler/learn/collector.h"
#include "profiler/stacks/context.h"
#include "profiler/thread/part.h"
#include "profiler/time/collector.h"
#include "profiler/watch/collector.h"

#include <string.h>

/* In the order in which they begin: watching and copy loops need a clock. */
static const struct pie_collector *const collectors[] = {
    &pie_time_collector,      &pie_watch_collector, &pie_heap_collector,
    &pie_copy_loop_collector, &pie_learn_collector, NULL,
};
enum { COLLECTORS = sizeof collectors / sizeof *collectors - 1 };

/* Written by the collection thread only. Fork child: pie_collectors_forget(). */
static const struct pie_collector *active[COLLECTORS + 1];

const struct pie_collector *const *pie_collectors(void) {
    return collectors;
}

const struct pie_collector *const *pie_collectors_active(void) {
    return active;
}

void pie_collectors_lay_out_threads(void) {
    static struct pie_thread_part *parts[COLLECTORS + 1];
    size_t n = 0;

    parts[n++] = &pie_context_part;
    for (int i = 0; i < COLLECTORS; i++)
        if (collectors[i]->part)
            parts[n++] = collectors[i]->part;
    pie_thread_parts_set(parts, n);
}

int pie_collectors_reserve(void) {
    int r = 0;

    for (int i = 0; r == 0 && i < COLLECTORS; i++)
        if (collectors[i]->reserve)
            r = collectors[i]->reserve();
    return r;
}

void pie_collectors_begin(struct pie_collection *collection) {
    size_t n = 0;

    memset(active, 0, sizeof active);
    for (int i = 0; i < COLLECTORS; i++)
        if (!collectors[i]->begin || collectors[i]->begin(collection) == 0)
            active[n++] = collectors[i];
}

void pie_collectors_forget(void) {
    memset(active, 0, sizeof active);
    PIE_EACH_COLLECTOR(collectors, forget);
}

int pie_collectors_write(struct pie_sink *sink) {
    int r = 0;

    for (size_t i = 0; r == 0 && active[i]; i++)
        if (active[i]->write)
            r = active[i]->write(sink);
    return r;
}

int pie_collectors_write_overhead(struct pie_sink *sink) {
    int r = 0;

    for (size_t i = 0; r == 0 && active[i]; i++)
        if (active[i]->write_overhead)
            r = active[i]->write_overhead(sink);
    return r;
}

bool pie_collectors_make_room(size_t slot) {
    for (size_t i = 0; active[i]; i++)
        if (active[i]->make_room && !active[i]->make_room(slot))
            return false;
    return true;
}

bool pie_collectors_hold(struct pie_node_id node) {
    for (size_t i = 0; active[i]; i++)
        if (active[i]->holds && active[i]->holds(node))
            return true;
    return false;
}
