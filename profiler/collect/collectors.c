/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/collect/collectors.h"

#include "profiler/stacks/call_path.h"
#include "profiler/thread/part.h"

#include <string.h>

/* Written by the collection thread only. Fork child: pie_collectors_forget(). */
static const struct pie_collector *active[PIE_COLLECTORS_MAX + 1];

const struct pie_collector *const *pie_collectors_active(void) {
    return active;
}

void pie_collectors_lay_out_threads(void) {
    static struct pie_thread_part *parts[PIE_COLLECTORS_MAX + 1];
    size_t n = 0;

    parts[n++] = &pie_call_path_part;
    for (const struct pie_collector *const *each = pie_collectors(); *each; each++)
        if ((*each)->part)
            parts[n++] = (*each)->part;
    pie_thread_parts_set(parts, n);
}

int pie_collectors_reserve(void) {
    int r = 0;

    for (const struct pie_collector *const *each = pie_collectors(); r == 0 && *each; each++)
        if ((*each)->reserve)
            r = (*each)->reserve();
    return r;
}

void pie_collectors_begin(struct pie_collection *collection) {
    size_t n = 0;

    memset(active, 0, sizeof active);
    for (const struct pie_collector *const *each = pie_collectors(); *each; each++)
        if (!(*each)->begin || (*each)->begin(collection) == 0)
            active[n++] = *each;
}

void pie_collectors_forget(void) {
    memset(active, 0, sizeof active);
    PIE_EACH_COLLECTOR(pie_collectors(), forget);
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

bool pie_collectors_next_sample(struct pie_thread *thread, struct pie_record *ret_record) {
    for (size_t i = 0; active[i]; i++)
        if (active[i]->next_sample && active[i]->next_sample(thread, ret_record))
            return true;
    return false;
}

bool pie_collectors_are_still(const struct pie_thread *thread, size_t slot) {
    bool is_known = false;

    for (size_t i = 0; active[i]; i++) {
        if (active[i]->is_still && !active[i]->is_still(thread, slot))
            return false;
        is_known = is_known || active[i]->is_still;
    }
    return is_known;
}

uint64_t pie_collectors_last_cpu_ns(const struct pie_thread *thread, size_t slot) {
    for (size_t i = 0; active[i]; i++)
        if (active[i]->last_cpu_ns)
            return active[i]->last_cpu_ns(thread, slot);
    return 0;
}

bool pie_collectors_are_written(void) {
    for (size_t i = 0; active[i]; i++)
        if (active[i]->is_written && !active[i]->is_written())
            return false;
    return true;
}
