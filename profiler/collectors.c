/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/collectors.h"

#include "profiler/context.h"
#include "profiler/copy_loop.h"
#include "profiler/heap_engine.h"
#include "profiler/thread_part.h"
#include "profiler/watch.h"

static struct pie_thread_part *const thread_parts[] = {
    &pie_context_part,
    &pie_watch_part,
    &pie_heap_part,
    &pie_copy_loop_part,
};

void pie_collectors_lay_out_threads(void) {
    pie_thread_parts_set(thread_parts, sizeof thread_parts / sizeof *thread_parts);
}
