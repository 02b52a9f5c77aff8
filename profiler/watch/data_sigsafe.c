/* SPDX-License-Identifier: Apache-2.0 */

/* Stage 3 for memory: who touches the word next?
 *
 *   pie_watch_data_touched()   another native call's access. A load is compared at once   -> record, slot free
 *   pie_watch_next_returned()  a store when its call is over, too: both calls are compared -> record, slot free
 *                              by what they leave behind, not one's end with the other's beginning
 *
 * Accesses by the interpreter itself do not end a watch; after a few it is given up. */

#include "profiler/watch/internal.h"

#include "profiler/base/clocks.h"
#include "profiler/base/counters.h"
#include "profiler/stacks/call_path.h"
#include "profiler/stacks/cct.h"
#include "profiler/thread/thread.h"

enum { STRAYS_MAX = 4 };

void pie_watch_end(struct pie_thread *thread, unsigned index, struct pie_watch_record *record,
                   enum pie_watch_outcome outcome) {
    const struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];

    record->record = PIE_WATCH_RECORD_ENDED;
    record->outcome = (uint8_t)outcome;
    if (!record->gap_ns)
        record->gap_ns = pie_monotonic_ns() - slot->began_ns;
    uint64_t now_ns =
        slot->array_bytes ? pie_watch_program_ns(thread) : 0; /* less than before, if prices were high */
    record->round_ns = now_ns > slot->read_ns ? now_ns - slot->read_ns : 0;
    record->value_before = slot->value;
    pie_watch_push(thread, index, record);
    pie_watch_free_slot(thread, index);
}

static enum pie_watch_outcome outcome_of(const struct pie_watch_slot *slot, uint64_t value) {
    return value == slot->value ? PIE_WATCH_REDUNDANT : PIE_WATCH_CHANGED;
}

void pie_watch_give_up(struct pie_thread *thread, unsigned index) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];
    struct pie_watch_record lost = {0};

    if (slot->stage == PIE_WATCH_NEXT_RETURN)
        pie_watch_end(thread, index, &slot->touch, outcome_of(slot, slot->touch.value_after));
    else
        pie_watch_end(thread, index, &lost, pie_watch_result_so_far(slot, PIE_WATCH_LOST));
}

const struct pie_native_frame *pie_watch_return_of(const struct pie_pystack_ops *ops,
                                                   const struct pie_call_path *taken,
                                                   const struct pie_native_frame *loop) {
    if (!ops->takers || loop < taken->native + 2) /* the innermost frame has called nobody */
        return loop;
    for (const struct pie_code_range *taker = ops->takers; taker->high; taker++)
        if (loop[-1].ip > taker->low && loop[-1].ip <= taker->high)
            return &loop[-1];
    return loop;
}

/* The native call that made the access, on top of the Python frame of the context, is going to return. */
static void await_return(struct pie_thread *thread, unsigned index, const struct pie_call_path *taken) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];
    const struct pie_native_frame *back =
        pie_watch_return_of(pie_watch_ops(), taken, &taken->native[taken->hybrid.native_on_top]);

    slot->touch.gap_ns = pie_monotonic_ns() - slot->began_ns;
    slot->return_ip = back->ip;
    slot->return_sp = back->sp;
    pie_watch_enter_stage(slot, PIE_WATCH_NEXT_RETURN);
    if (!pie_watch_try_arm(thread, index, PIE_DEBUG_EXECUTE, back->ip, 1))
        pie_watch_give_up(thread, index);
}

void pie_watch_next_returned(struct pie_thread *thread, unsigned index, const ucontext_t *ucontext) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];
    uint64_t value;

    if (pie_watch_is_deeper(slot, ucontext))
        return;
    if ((uint64_t)ucontext->uc_mcontext.gregs[REG_RSP] == slot->return_sp &&
        pie_watch_read(slot->address, slot->size, &value))
        slot->touch.value_after = value;
    pie_watch_give_up(thread, index);
}

static void compare(struct pie_thread *thread, unsigned index, const ucontext_t *ucontext,
                    const struct pie_call_path *taken, uint64_t value) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];

    slot->touch = (struct pie_watch_record){
        .rip = (uint64_t)ucontext->uc_mcontext.gregs[REG_RIP],
        .second_node = taken->node,
        .value_after = value,
        .module = taken->native[0].module,
    };
    pie_access_registers(ucontext, slot->touch.registers);
    if (slot->kind == PIE_WATCH_STORE)
        await_return(thread, index, taken);
    else
        pie_watch_end(thread, index, &slot->touch, outcome_of(slot, value));
}

/* One instruction may hit several watched words, and SIGTRAP is not queued. Of the other slots these have been hit too:
 * watches for loads with a word in common (they trap at stores also), watches for stores with a word in common if
 * this was one, and any watch for stores whose word has changed. */
static void compare_others(struct pie_thread *thread, unsigned index, const ucontext_t *ucontext,
                           const struct pie_call_path *taken) {
    const struct pie_watch_slot *hit = &pie_watch_of(thread)->slots[index];

    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++) {
        const struct pie_watch_slot *other = &pie_watch_of(thread)->slots[i];
        bool overlaps =
            other->address < hit->address + hit->size && hit->address < other->address + other->size;
        bool is_hit = overlaps && (other->kind == PIE_WATCH_LOAD || hit->kind == PIE_WATCH_STORE);
        uint64_t value;
        if (i == index || other->stage != PIE_WATCH_DATA || (other->kind == PIE_WATCH_LOAD && !is_hit))
            continue;
        if (is_hit)
            pie_watch_disarm(thread, i); /* or the look at it would trap */
        if (pie_watch_read(other->address, other->size, &value) && (is_hit || value != other->value))
            compare(thread, i, ucontext, taken, value);
    }
}

void pie_watch_data_touched(struct pie_thread *thread, unsigned index, const ucontext_t *ucontext) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];
    enum pie_debug_kind kind = slot->kind == PIE_WATCH_LOAD ? PIE_DEBUG_LOAD_STORE : PIE_DEBUG_STORE;
    struct pie_call_path taken;
    uint64_t value;

    pie_watch_disarm(thread, index); /* what follows may touch the word too */
    if (!pie_watch_read(slot->address, slot->size, &value)) {
        pie_watch_give_up(thread, index);
        return;
    }
    pie_call_path_take(pie_watch_ops(), thread, ucontext, true, &taken); /* reported after the instruction */
    if (taken.is_foreign && !pie_cct_is_full(taken.node)) {
        compare_others(thread, index, ucontext, &taken);
        compare(thread, index, ucontext, &taken, value);
        return;
    }
    pie_counter_add(PIE_COUNTER_WATCH_STRAY_TRAPS, 1);
    if (value != slot->value || slot->strays++ >= STRAYS_MAX ||
        !pie_watch_try_arm(thread, index, kind, slot->address, slot->size))
        pie_watch_give_up(thread, index);
}
