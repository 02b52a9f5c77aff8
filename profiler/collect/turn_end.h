/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* The end of a turn (turn.h), on the collection thread, which has nodes of its own. Context: drain. */

struct pie_copy_loops;
struct pie_flush;
struct pie_heap_drain;
struct pie_turn;
struct pie_wall;
struct pie_watch_drain;

/* Those who remember nodes, of the CCT or stored ones. NULL: there are none. */
struct pie_turn_parts {
    struct pie_wall *walls;
    size_t n_walls;
    struct pie_watch_drain *watches;
    struct pie_heap_drain *heap;
    struct pie_copy_loops *loops;
    struct pie_flush *flush;
};

/* Before what was put into the rings with ids of the old half is written. */
void pie_turn_prepare(const struct pie_turn_parts *parts);

/* It was written: they take ids of the new half, and forget what nobody needs. */
void pie_turn_finish(struct pie_turn *turn, const struct pie_turn_parts *parts);
