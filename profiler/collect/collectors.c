/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/collect/collectors.h"

#include "profiler/copies/loop.h"
#include "profiler/heap/engine.h"
#include "profiler/stacks/context.h"
#include "profiler/thread/part.h"
#include "profiler/watch/watch.h"

static struct pie_thread_part *const thread_parts[] = {
    &pie_context_part,
    &pie_watch_part,
    &pie_heap_part,
    &pie_copy_loop_part,
};

void pie_collectors_lay_out_threads(void) {
    pie_thread_parts_set(thread_parts, sizeof thread_parts / sizeof *thread_parts);
}
