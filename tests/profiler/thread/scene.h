/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/collect/collectors.h"
#include "profiler/thread/part.h"
#include "profiler/thread/thread.h"

#include <stdlib.h>

/* A thread's slot with all its parts, zeroed, that is in no region. To be freed. */
static inline struct pie_thread *thread_scene_new(void) {
    pie_collectors_lay_out_threads();
    return calloc(1, pie_thread_slot_bytes());
}
