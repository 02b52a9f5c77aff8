/* SPDX-License-Identifier: Apache-2.0 */

/* Calls of Python functions. A line of own code calls one, of a library or of own code, and time passes in it: is that
 * the same call again?
 *
 * An evaluation loop runs such a function by itself: there is no native call and no return address, and the arguments
 * are the function's own by now, which may have changed them. So the sampled call is let go, and the next ones of its
 * place are compared as outer calls are:
 *
 *   FIRST       the interpreter fetches the code unit that calls: the arguments lie on the stack  -> digest of them
 *   OUTER       the result is stored into the caller's stack                                       -> record
 *   SITE        the code unit again                                                                -> digest
 *   OUTER_NEXT  the result again                                                                   -> compare
 *
 * An exception stores no result. By the frame it is known whether something is one. */

#include "profiler/watch/internal.h"

#include "profiler/base/counters.h"
#include "profiler/base/hash.h"
#include "profiler/stacks/call_path.h"
#include "profiler/stacks/cct.h"
#include "profiler/thread/thread.h"

/* Frames that are looked through; callers of own code among which one is chosen, the nearest one three times in four;
 * touches of a code unit by others than its interpreter. */
enum { FRAMES_MAX = 64, CALLERS_MAX = 3, NEXT_ONE_IN = 4, TOUCHES_MAX = 24, UNIT_BYTES = 2 };

/* A caller's frame, of own code, whose loop runs the function that it called. */
static bool is_caller(const struct pie_pystack_ops *ops, const struct pie_call_path *taken, size_t frame) {
    return !taken->python[frame - 1].marker &&
           pie_watch_owner_of(ops, taken->python[frame].code) == PIE_CODE_OWNER_OWN;
}

/* Mostly the innermost one; 0: there is none. */
static size_t choose_caller(struct pie_thread *thread, const struct pie_pystack_ops *ops,
                            const struct pie_call_path *taken) {
    size_t chosen = 0;
    unsigned callers = 0;

    for (size_t i = 1; i < taken->python_count && i < FRAMES_MAX && callers < CALLERS_MAX; i++) {
        if (!is_caller(ops, taken, i))
            continue;
        chosen = i;
        callers++;
        if (pie_watch_random(pie_watch_of(thread)) % NEXT_ONE_IN != 0)
            break;
    }
    return chosen;
}

/* Most calls of a program's outer functions take as long as the program, and all that time a data breakpoint would slow
 * down string instructions. So a place where a wait came to nothing is left alone, for this number times as
 * long. */
static const uint64_t SHUN_TIMES = 32;

static unsigned shunned_index(uint64_t site) {
    return (unsigned)(pie_hash_upper(site) >> (64 - PIE_WATCH_SHUNNED_BITS));
}

void pie_watch_python_shun(struct pie_thread *thread, const struct pie_watch_slot *slot) {
    struct pie_watch_thread *watch = pie_watch_of(thread);
    unsigned index = shunned_index(slot->site);
    bool is_waiting = pie_watch_waits_for_site(slot) || pie_watch_waits_for_return_address(slot);

    if (!slot->is_python || !is_waiting || pie_watch_calls_rest() || thread->cpu_last_ns < slot->site_cpu_ns)
        return;
    watch->shunned[index].site = slot->site;
    watch->shunned[index].again_cpu_ns =
        thread->cpu_last_ns + SHUN_TIMES * (thread->cpu_last_ns - slot->site_cpu_ns);
}

static bool is_shunned(struct pie_thread *thread, uint64_t site) {
    const struct pie_watch_thread *watch = pie_watch_of(thread);
    unsigned index = shunned_index(site);

    return watch->shunned[index].site == site && thread->cpu_last_ns < watch->shunned[index].again_cpu_ns;
}

bool pie_watch_find_python_call(struct pie_thread *thread, const struct pie_pystack_ops *ops,
                                const struct pie_call_path *taken, struct pie_watch_outer *ret_outer) {
    size_t caller = ops->python_calls ? choose_caller(thread, ops, taken) : 0;

    if (caller == 0)
        return false;
    const struct pie_pyframe *frame = &taken->python[caller];
    *ret_outer = (struct pie_watch_outer){
        .unit = ops->python_calls->find_unit(frame->code, frame->instr),
        .is_of_own = pie_watch_owner_of(ops, taken->python[caller - 1].code) != PIE_CODE_OWNER_LIBRARY,
    };
    return ret_outer->unit && pie_watch_find_site(ops, taken, frame, ret_outer) &&
           !is_shunned(thread, ret_outer->site);
}

/* False: refused. */
static bool await_site(struct pie_thread *thread, unsigned index) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];

    slot->site_cpu_ns = thread->cpu_last_ns;
    return pie_watch_try_arm(thread, index, PIE_DEBUG_LOAD_STORE, slot->unit, UNIT_BYTES);
}

void pie_watch_python_begin(struct pie_thread *thread, unsigned index, const struct pie_watch_outer *outer) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];

    slot->is_python = true;
    slot->traits |= outer->is_of_own ? PIE_WATCH_OWN_CALL : 0;
    slot->unit = outer->unit;
    slot->touches = 0;
    pie_watch_enter_stage(slot, PIE_WATCH_FIRST);
    if (!await_site(thread, index))
        pie_watch_free_slot(thread, index);
}

/* Is it the slot's place in the program, and does it call a function of the same owner? Code may lie where other code
 * lay. */
static bool is_call_of(const struct pie_watch_slot *slot, const struct pie_python_call *call) {
    const struct pie_pystack_ops *ops = pie_watch_ops();
    bool is_of_own = pie_watch_owner_of(ops, call->callee) != PIE_CODE_OWNER_LIBRARY;

    return pie_cct_key_code(slot->site) == ops->intern(call->code) &&
           is_of_own == !!(slot->traits & PIE_WATCH_OWN_CALL);
}

/* A function of own code that changes more than it returns goes by more than its arguments. */
static bool begin_call(struct pie_watch_slot *slot) {
    const struct pie_python_call_ops *calls = pie_watch_ops()->python_calls;

    if (!calls->begin(slot->unit, &slot->python) || !is_call_of(slot, &slot->python))
        return false;
    if ((slot->traits & PIE_WATCH_OWN_CALL) && calls->acts(slot->python.callee))
        slot->python.arguments.traits |= PIE_DIGEST_OPAQUE;
    return true;
}

static bool await_result(struct pie_thread *thread, unsigned index) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];

    slot->site_cpu_ns = thread->cpu_last_ns;
    return pie_watch_try_arm(thread, index, PIE_DEBUG_STORE, slot->python.result_at, sizeof(uintptr_t));
}

void pie_watch_python_site(struct pie_thread *thread, unsigned index) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];

    if (!begin_call(slot)) {
        pie_counter_add(PIE_COUNTER_WATCH_STRAY_TRAPS, 1);
        if (++slot->touches > TOUCHES_MAX)
            pie_watch_give_up(thread, index);
        return;
    }
    enum pie_watch_stage next = slot->stage == PIE_WATCH_FIRST ? PIE_WATCH_OUTER : PIE_WATCH_OUTER_NEXT;
    if (!await_result(thread, index)) {
        pie_watch_give_up(thread, index);
        return;
    }
    if (next == PIE_WATCH_OUTER)
        pie_watch_enter_stage(slot, next);
    else
        slot->stage = next;
}

void pie_watch_python_stored(struct pie_thread *thread, unsigned index, const ucontext_t *ucontext) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];

    pie_watch_disarm(thread, index);
    if (!pie_watch_ops()->python_calls->end(&slot->python)) {
        pie_counter_add(PIE_COUNTER_WATCH_STRAY_TRAPS, 1);
        pie_watch_give_up(thread, index);
        return;
    }
    slot->return_sp = (uint64_t)ucontext->uc_mcontext.gregs[REG_RSP];
    if (slot->stage == PIE_WATCH_OUTER) {
        pie_watch_call_returned(thread, index, ucontext);
        return;
    }
    slot->stage = PIE_WATCH_RESULT;
    pie_watch_another_returned(thread, index, ucontext);
}

/* Own functions often act on what is no argument, so only what such a one makes is evidence, and only if it can be
 * read. A library's may have found what others keep, if nothing that it went by can have changed unseen. */
uint64_t pie_watch_python_value(const struct pie_watch_slot *slot, const struct pie_call_digest *call) {
    bool is_of_own = slot->traits & PIE_WATCH_OWN_CALL;

    if (is_of_own && !(call->is_new && call->result))
        return 0;
    if (call->kept && call->traits)
        return 0;
    return pie_watch_outer_value(call);
}
