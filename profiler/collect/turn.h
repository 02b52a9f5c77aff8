/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/ids.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Contexts and code are added and never removed, so a program that keeps generating code would fill all memory.
 * Therefore the calling context tree and the store of code have two halves each. One half grows. When it is large, the
 * other half becomes the current one, and the program's further contexts and code fill it. The old half is cleared as
 * soon as nobody can hold one of its ids any more:
 *
 *   LEAVING   threads that enter from now on (pie_thread_enter()) work in the new half. Until each thread has been seen
 *             outside of handlers and hooks, one may still make nodes in the old half.
 *   MOVING    the ids that threads remember (the node of the last sample, of watched addresses) were moved to the new
 *             half. Until each thread has been seen outside once more, one may still have an old id in hand.
 *   DRAINING  now all records with old ids are in the rings; a tick takes them all.
 *   DRAINED   the records wait to be written. After that the collection thread moves the ids that it remembers itself,
 *             and old ids are no more.
 *
 * No thread waits for this; a thread that is held in a handler only delays it. Context of all functions: drain. */

struct pie_pystack_ops;

enum pie_turn_stage {
    PIE_TURN_RESTING,
    PIE_TURN_LEAVING,
    PIE_TURN_MOVING,
    PIE_TURN_DRAINING,
    PIE_TURN_DRAINED
};

/* Zeroed, but for ops and budget_bytes. */
struct pie_turn {
    const struct pie_pystack_ops *ops;
    uint64_t budget_bytes; /* of contexts and code in a half */
    enum pie_turn_stage stage;
    bool is_wanted;    /* sooner than the budget would have it */
    uint64_t ended_ns; /* CLOCK_MONOTONIC: of the last one */
    bool *was_outside; /* by slot, since the stage began */
    size_t room;
};

/* One look at all threads, before their rings are emptied. True: each ring is to be emptied in this tick. */
bool pie_turn_tick(struct pie_turn *turn);

/* Each ring was emptied in this tick; not: one could not be, so the next tick has to. */
void pie_turn_drained(struct pie_turn *turn);

/* The node of the current half that stands for the same as this one; a pie_moved_fn, data: the turn. */
struct pie_cct_id pie_turn_moved(void *turn, struct pie_cct_id node);

/* Nobody has an id of the old half any more: clears it. */
void pie_turn_end(struct pie_turn *turn);

struct pie_flush;
/* What was in the rings is written: collectors take ids of the new half and forget what nobody needs, and the turn
 * ends. */
void pie_turn_finish(struct pie_turn *turn, struct pie_flush *flush);
