/* SPDX-License-Identifier: Apache-2.0 */

/* Stage 3 of the other question: what does the same place in the program get from its next calls? The execute
 * breakpoint at the return stays armed; calls of other places return there too, and are waited out. */

#include "profiler/watch/internal.h"

#include "profiler/base/counters.h"
#include "profiler/stacks/call_path.h"
#include "profiler/stacks/cct.h"
#include "profiler/thread/thread.h"

/* Returns to other places that are waited out at a time and in all; results of the place itself that are compared,
 * since several callers may take turns at it: numbers may come again by chance, arrays hardly; words that make "half of
 * them" mean something. */
enum {
    STRAYS_NEAR = 4,
    STRAYS_MAX = 200,
    TRIES_MAX = 4,
    ARRAY_TRIES_MAX = 12,
    ARRAY_BYTES_MIN = 64,
    PARTLY_WORDS_MIN = 24,
    UNIT_BYTES = 2,
};

/* Waiting may overdraw the budget by so much; it is paid back before the next watch. */
static const int64_t CREDIT_NS = 1500000;

/* A call returned to the loop. The code unit that made it, if that is the slot's place in the program; else 0. */
static uintptr_t unit_of_call(struct pie_thread *thread, const struct pie_watch_slot *slot,
                              const ucontext_t *ucontext) {
    const struct pie_pystack_ops *ops = pie_watch_ops();
    struct pie_pyframe frame;
    unsigned flags;

    if ((uint64_t)ucontext->uc_mcontext.gregs[REG_RSP] != slot->return_sp ||
        ops->walk(&frame, 1, &flags) == 0)
        return 0;
    uint64_t key = pie_cct_python_key(ops->intern(frame.code), ops->instr_offset(frame.code, frame.instr));
    return key == slot->site ? frame.instr : 0;
}

bool pie_watch_result(struct pie_thread *thread, unsigned index, const ucontext_t *ucontext,
                      struct pie_watch_record *reached) {
    const struct pie_pystack_ops *ops = pie_watch_ops();
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];
    uint64_t hash = 0;

    if (ops->value_hash && pie_watch_random(pie_watch_of(thread)) % 2)
        hash = ops->value_hash((uintptr_t)ucontext->uc_mcontext.gregs[REG_RAX]);
    if (!hash)
        return false;
    slot->kind = PIE_WATCH_STORE;
    slot->memory = PIE_WATCH_MEMORY_RETURNED;
    slot->value = hash;
    slot->tries = 0;
    slot->is_far = false;
    slot->words = (struct pie_value_words){0};
    if (ops->value_words)
        ops->value_words((uintptr_t)ucontext->uc_mcontext.gregs[REG_RAX], &slot->words);
    slot->unit = unit_of_call(thread, slot, ucontext);
    slot->address = slot->site;
    slot->size = 0;
    slot->bytes = slot->words.bytes;
    reached->value_before = hash;
    pie_watch_enter_stage(slot, PIE_WATCH_RESULT);
    pie_counter_add(PIE_COUNTER_WATCH_REACHED, 1);
    pie_watch_push(thread, index, reached);
    return true;
}

/* Half of the words at least, at the same distances from the beginning: an array that grew, or of which a part was
 * computed anew. */
static bool is_partly_same(const struct pie_watch_slot *slot, const struct pie_value_words *now) {
    uint32_t same = 0;

    for (uint32_t i = 0; i < now->count && i < slot->words.count; i++)
        same += now->words[i] == slot->words.words[i] && now->words[i] != 0;
    return slot->words.count >= PARTLY_WORDS_MIN && same * 2 >= slot->words.count;
}

/* The place got another value. Is it to be told now? Else the next one may be the same: that of the same caller. Arrays
 * of another size are hardly worth a try. */
static bool is_change(struct pie_watch_slot *slot, const ucontext_t *ucontext) {
    struct pie_value_words now = {.step_bytes = slot->words.step_bytes};
    uint32_t tries = slot->bytes >= ARRAY_BYTES_MIN ? ARRAY_TRIES_MAX : TRIES_MAX;

    if (pie_watch_ops()->value_words)
        pie_watch_ops()->value_words((uintptr_t)ucontext->uc_mcontext.gregs[REG_RAX], &now);
    if (is_partly_same(slot, &now)) {
        slot->traits |= PIE_WATCH_PARTLY;
        return true;
    }
    if (now.bytes != slot->words.bytes)
        return ++slot->strays >= STRAYS_MAX;
    return ++slot->tries >= tries;
}

/* That several results differed is known, although more were to be tried. Else what changes, which takes many tries,
 * would be found less often than what stays the same, which takes one. */
enum pie_watch_outcome pie_watch_result_so_far(const struct pie_watch_slot *slot,
                                               enum pie_watch_outcome otherwise) {
    bool is_result = slot->stage == PIE_WATCH_RESULT || slot->stage == PIE_WATCH_SITE;

    return is_result && slot->tries >= TRIES_MAX ? PIE_WATCH_CHANGED : otherwise;
}

/* Until the interpreter comes to the place again. */
static void leave_for_site(struct pie_thread *thread, unsigned index) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];

    if (slot->strays >= STRAYS_MAX || pie_watch_of(thread)->credit_ns < -CREDIT_NS || !slot->unit ||
        !pie_watch_try_arm(thread, index, PIE_DEBUG_LOAD_STORE, slot->unit, UNIT_BYTES)) {
        pie_watch_give_up(thread, index);
        return;
    }
    slot->stage = PIE_WATCH_SITE;
    slot->is_far = true;
}

void pie_watch_site_reached(struct pie_thread *thread, unsigned index) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];

    if (pie_watch_try_arm(thread, index, PIE_DEBUG_EXECUTE, slot->return_ip, 1))
        slot->stage = PIE_WATCH_RESULT;
    else
        pie_watch_give_up(thread, index);
}

static void another_place(struct pie_thread *thread, unsigned index) {
    pie_counter_add(PIE_COUNTER_WATCH_STRAY_TRAPS, 1);
    if (++pie_watch_of(thread)->slots[index].strays % STRAYS_NEAR == 0)
        leave_for_site(thread, index);
}

void pie_watch_another_returned(struct pie_thread *thread, unsigned index, const ucontext_t *ucontext) {
    const struct pie_pystack_ops *ops = pie_watch_ops();
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];
    struct pie_watch_record record = {0};
    struct pie_call_path taken;

    if (!unit_of_call(thread, slot, ucontext)) {
        another_place(thread, index);
        return;
    }
    record.value_after = ops->value_hash((uintptr_t)ucontext->uc_mcontext.gregs[REG_RAX]);
    if (record.value_after != slot->value && !is_change(slot, ucontext)) {
        if (slot->is_far)
            leave_for_site(thread, index);
        return;
    }
    pie_call_path_take(ops, thread, ucontext, false, &taken);
    record.second_node = taken.node;
    pie_watch_end(thread, index, &record,
                  record.value_after == slot->value ? PIE_WATCH_REDUNDANT : PIE_WATCH_CHANGED);
}
