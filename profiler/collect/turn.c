/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/collect/turn.h"

#include "profiler/base/clocks.h"
#include "profiler/base/counters.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/region.h"
#include "profiler/collect/collectors.h"
#include "profiler/ports/pystack.h"
#include "profiler/stacks/cct.h"
#include "profiler/thread/thread.h"

#include <string.h>

/* A program whose live contexts alone exceed the budget would turn all the time, and each turn inserts and names them
 * anew. */
static const uint64_t REST_NS = UINT64_C(5000000000);

enum { PATH_MAX_KEYS = 2 * 1024 + 2 };

static enum pie_arena arena_of(unsigned half) {
    return half ? PIE_ARENA_CCT_OTHER : PIE_ARENA_CCT;
}

static uint64_t used_bytes(const struct pie_turn *turn) {
    return pie_region_used(arena_of(pie_half_current())) +
           (turn->ops->code_bytes ? turn->ops->code_bytes() : 0);
}

static bool is_inside(struct pie_thread *thread) {
    enum pie_thread_state state = pie_thread_state(thread);

    /* A thread may have died inside. seq_cst: after the half has changed; see pie_thread_enter() */
    return state != PIE_THREAD_FREE && state != PIE_THREAD_ENDED && atomic_load(&thread->inside);
}

/* For the slots that there are by now. */
static bool make_room(struct pie_turn *turn) {
    size_t count = pie_thread_count();
    bool *grown = count > turn->room ? pie_realloc(turn->was_outside, count * sizeof *grown) : NULL;

    if (grown) {
        turn->was_outside = grown;
        turn->room = count;
    }
    return turn->room >= count;
}

static void begin_stage(struct pie_turn *turn, enum pie_turn_stage stage) {
    memset(turn->was_outside, 0, turn->room * sizeof *turn->was_outside);
    turn->stage = stage;
}

/* Slots that came later are of threads that knew nothing of the time before. */
static bool all_were_outside(struct pie_turn *turn) {
    bool all = true;

    for (size_t i = 0; i < turn->room; i++) {
        turn->was_outside[i] = turn->was_outside[i] || !is_inside(pie_thread_at(i));
        all = all && turn->was_outside[i];
    }
    return all;
}

static uint64_t moved_key(const struct pie_turn *turn, uint64_t key) {
    if (!pie_cct_key_is_python(key) || pie_cct_key_code(key) == PIE_CCT_CODE_FULL || !turn->ops->intern_again)
        return key;
    return pie_cct_python_key(turn->ops->intern_again(pie_cct_key_code(key)), pie_cct_key_offset(key));
}

struct pie_cct_id pie_turn_moved(void *data, struct pie_cct_id node) {
    static uint64_t keys[PATH_MAX_KEYS]; /* collection thread only */
    const struct pie_turn *turn = data;
    size_t n = 0;

    if (pie_cct_half(node) == pie_half_current())
        return node;
    if (pie_cct_is_full(node))
        return (struct pie_cct_id){node.value ^ PIE_CCT_HALF_BIT};
    for (; !pie_cct_is_root(node) && n < PATH_MAX_KEYS; node = pie_cct_parent(node))
        keys[n++] = pie_cct_key(node);
    struct pie_cct_id moved = pie_cct_root();
    while (n > 0)
        moved = pie_cct_child(moved, moved_key(turn, keys[--n]));
    return moved;
}

/* The thread may write another one meanwhile, which is of the new half. */
static void move_word(void *data, struct pie_cct_id *word) {
    struct pie_turn *turn = data;
    struct pie_cct_id node = {__atomic_load_n(&word->value, __ATOMIC_RELAXED)};

    if (node.value && pie_cct_half(node) != pie_half_current())
        __atomic_compare_exchange_n(&word->value, &node.value, pie_turn_moved(turn, node).value, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Also of slots that nobody has: nothing old may be left in them. */
static void move_slots(struct pie_turn *turn) {
    for (size_t i = 0; i < pie_thread_count(); i++) {
        struct pie_thread *thread = pie_thread_at(i);
        PIE_EACH_COLLECTOR(pie_collectors(), move_thread, thread, move_word, turn);
    }
}

static bool is_due(const struct pie_turn *turn) {
    return turn->budget_bytes && (turn->is_wanted || used_bytes(turn) >= turn->budget_bytes) &&
           pie_monotonic_ns() - turn->ended_ns >= REST_NS;
}

static void begin(struct pie_turn *turn) {
    turn->ended_ns = pie_monotonic_ns(); /* not again at once, should it fail */
    unsigned other = !pie_half_current();
    if (!make_room(turn) || pie_cct_make(other) < 0) {
        pie_region_clear(arena_of(other));
        return;
    }
    pie_half_set(other);
    pie_half_enter();
    begin_stage(turn, PIE_TURN_LEAVING);
}

bool pie_turn_tick(struct pie_turn *turn) {
    if (turn->stage == PIE_TURN_RESTING && is_due(turn))
        begin(turn);
    if (turn->stage == PIE_TURN_LEAVING && all_were_outside(turn)) {
        move_slots(turn);
        begin_stage(turn, PIE_TURN_MOVING);
    }
    if (turn->stage == PIE_TURN_MOVING && all_were_outside(turn))
        turn->stage = PIE_TURN_DRAINING;
    return turn->stage == PIE_TURN_DRAINING;
}

void pie_turn_drained(struct pie_turn *turn) {
    turn->stage = PIE_TURN_DRAINED;
}

void pie_turn_end(struct pie_turn *turn) {
    pie_region_clear(arena_of(!pie_half_current()));
    if (turn->ops->forget_code)
        turn->ops->forget_code();
    pie_counter_add(PIE_COUNTER_TURNS, 1);
    turn->ended_ns = pie_monotonic_ns();
    turn->stage = PIE_TURN_RESTING;
}
