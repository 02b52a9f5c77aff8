/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/collect/fill.h"

#include "profiler/base/region.h"
#include "profiler/ports/sink.h"

#include <stdio.h>

enum { NAME_BYTES = 64 };

static int put(struct pie_sink *sink, const char *what, enum pie_arena arena, uint64_t bytes) {
    char name[NAME_BYTES];

    snprintf(name, sizeof name, "table_%s_%s", what, pie_region_name(arena));
    return sink->ops->put_counter(sink, name, bytes, false);
}

int pie_fill_write(struct pie_sink *sink) {
    int r = 0;

    for (int i = 0; r == 0 && i < PIE_ARENA_COUNT; i++) {
        enum pie_arena arena = (enum pie_arena)i;
        size_t used = pie_region_used(arena);
        if (used)
            r = put(sink, "fill", arena, used);
        if (r == 0 && used)
            r = put(sink, "size", arena, pie_region_size(arena));
    }
    return r;
}
