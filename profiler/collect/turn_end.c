/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/collect/turn_end.h"

#include "profiler/collect/flush.h"
#include "profiler/collect/turn.h"
#include "profiler/copies/loop_drain.h"
#include "profiler/heap/drain.h"
#include "profiler/symbols/naming.h"
#include "profiler/time/wall.h"
#include "profiler/watch/drain.h"

#include <stdint.h>

void pie_turn_prepare(const struct pie_turn_parts *parts) {
    if (parts->heap)
        pie_heap_drain_settle(parts->heap);
    if (parts->loops)
        pie_copy_loops_settle(parts->loops);
}

static bool is_held(void *data, uint32_t stored) {
    const struct pie_turn_parts *parts = data;

    return (parts->watches && pie_watch_drain_holds(parts->watches, stored)) ||
           (parts->heap && pie_heap_drain_holds(parts->heap, stored));
}

void pie_turn_finish(struct pie_turn *turn, const struct pie_turn_parts *parts) {
    struct pie_turn_parts own = *parts;

    for (size_t i = 0; i < parts->n_walls; i++)
        pie_wall_move(&parts->walls[i], pie_turn_moved, turn);
    if (parts->watches)
        pie_watch_drain_move(parts->watches, pie_turn_moved, turn);
    pie_naming_forget(pie_flush_naming(parts->flush), is_held, &own);
    if (parts->watches)
        pie_watch_drain_forget(parts->watches);
    if (parts->heap)
        pie_heap_drain_forget(parts->heap);
    if (parts->loops)
        pie_copy_loops_forget_places(parts->loops);
    pie_flush_forget(parts->flush);
    pie_turn_end(turn);
}
