/* SPDX-License-Identifier: Apache-2.0 */

/* Stage 3 of the other question: what does the same place in the program get from its next calls? The execute breakpoint
 * at the return stays armed; calls of other places return there too, and are waited out. */

#include "profiler/watch_internal.h"

#include "profiler/cct.h"
#include "profiler/context.h"
#include "profiler/counters.h"
#include "profiler/thread.h"

/* Returns to other places that are waited out; results of the place itself that are compared, since several callers may
 * take turns at it; words that make "half of them" mean something. */
enum { STRAYS_MAX = 200, TRIES_MAX = 4, PARTLY_WORDS_MIN = 24 };

/* Waiting may overdraw the budget by so much; it is paid back before the next watch. */
static const int64_t CREDIT_NS = 1500000;

/* Perhaps the question is what the next call returns here: the breakpoint stays where it is. */
bool pie_watch_result(struct pie_thread *thread, unsigned index, const ucontext_t *context,
                      struct pie_watch_record *reached) {
    const struct pie_pystack_ops *ops = pie_watch_ops();
    struct pie_watch_slot *slot = &thread->watch.slots[index];
    uint64_t hash = 0;

    if (ops->value_hash && pie_watch_random(&thread->watch) % 2)
        hash = ops->value_hash((uintptr_t)context->uc_mcontext.gregs[REG_RAX]);
    if (!hash)
        return false;
    slot->kind = PIE_WATCH_STORE;
    slot->memory = PIE_WATCH_MEMORY_RETURNED;
    slot->value = hash;
    slot->tries = 0;
    slot->words = (struct pie_value_words){0};
    if (ops->value_words)
        ops->value_words((uintptr_t)context->uc_mcontext.gregs[REG_RAX], &slot->words);
    slot->address = slot->site;
    slot->size = 0;
    slot->bytes = slot->words.bytes;
    reached->value_before = hash;
    pie_watch_enter_stage(slot, PIE_WATCH_RESULT);
    pie_counter_add(PIE_COUNTER_WATCH_REACHED, 1);
    pie_watch_push(thread, index, reached);
    return true;
}

/* A call returned to the loop; was it made by the same place in the program? */
static bool is_same_site(struct pie_thread *thread, const struct pie_watch_slot *slot,
                         const ucontext_t *context) {
    const struct pie_pystack_ops *ops = pie_watch_ops();
    struct pie_pyframe *frame = thread->python;
    unsigned flags;

    if ((uint64_t)context->uc_mcontext.gregs[REG_RSP] != slot->return_sp || ops->walk(frame, 1, &flags) == 0)
        return false;
    return pie_cct_python_key(ops->intern(frame->code), ops->instr_offset(frame->code, frame->instr)) ==
           slot->site;
}

/* Half of the words at least, at the same distances from the beginning: an array that grew, or of which a part was
 * computed anew. */
static bool is_partly_same(const struct pie_pystack_ops *ops, const struct pie_watch_slot *slot,
                           const ucontext_t *context) {
    struct pie_value_words now = {.step_bytes = slot->words.step_bytes};
    uint32_t same = 0;

    if (!ops->value_words || slot->words.count < PARTLY_WORDS_MIN)
        return false;
    ops->value_words((uintptr_t)context->uc_mcontext.gregs[REG_RAX], &now);
    for (uint32_t i = 0; i < now.count && i < slot->words.count; i++)
        same += now.words[i] == slot->words.words[i] && now.words[i] != 0;
    return same * 2 >= slot->words.count;
}

void pie_watch_another_returned(struct pie_thread *thread, unsigned index, const ucontext_t *context) {
    const struct pie_pystack_ops *ops = pie_watch_ops();
    struct pie_watch_slot *slot = &thread->watch.slots[index];
    struct pie_watch_record record = {0};
    struct pie_context taken;

    if (!is_same_site(thread, slot, context)) {
        pie_counter_add(PIE_COUNTER_WATCH_STRAY_TRAPS, 1);
        if (slot->strays++ >= STRAYS_MAX || thread->watch.credit_ns < -CREDIT_NS)
            pie_watch_end(thread, index, &record, PIE_WATCH_LOST);
        return;
    }
    record.value_after = ops->value_hash((uintptr_t)context->uc_mcontext.gregs[REG_RAX]);
    if (record.value_after != slot->value) {
        if (is_partly_same(ops, slot, context))
            slot->traits |= PIE_WATCH_PARTLY;
        else if (++slot->tries < TRIES_MAX) /* several callers may take turns at one place */
            return;
    }
    pie_context_take(ops, thread, context, false, &taken);
    record.second_node = taken.node;
    pie_watch_end(thread, index, &record,
                  record.value_after == slot->value ? PIE_WATCH_REDUNDANT : PIE_WATCH_CHANGED);
}
