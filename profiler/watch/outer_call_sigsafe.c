/* SPDX-License-Identifier: Apache-2.0 */

/* Outer calls. Time passes in Python code of a library, and it is a line of own code that called it: is that the same
 * call again? The calls that the library's code makes in turn say little about it.
 *
 * The nearest frame of own code waits for its call, so callable and arguments lie on its evaluation stack, if it was
 * native code that began the library's (a method of a C type, a type, functools). Where that call returns to, other
 * calls return as well, from much deeper evaluation loops. So there is no breakpoint there: a data breakpoint lies on
 * the return address, which nobody reads before the end of the call. From then on it is compared as the calls of native
 * functions are (result_sigsafe.c), but that the next one's return address has to be found when the interpreter comes
 * to its place: it lies where the evaluation loop's stack ends, or as far below that as in the first call if a function
 * of a fixed frame makes the call for the loop (ports/pystack.h, takers).
 *
 * Handlers walk the stack, so they read return addresses: such traps come late, and are passed over. With registers
 * that ptrace has set a trap inside a handler must not be, so there are no outer calls. */

#include "profiler/watch/internal.h"

#include "profiler/base/clocks.h"
#include "profiler/base/counters.h"
#include "profiler/base/hash.h"
#include "profiler/stacks/call_path.h"
#include "profiler/stacks/cct.h"
#include "profiler/thread/thread.h"

/* Of such samples this part, and of these for a Python call where another watch may begin instead; frames of library
 * code that are looked through; touches of the place of a return address by calls that are none of the awaited one. */
enum { ONE_IN = 8, PYTHON_ONE_IN = 8, FRAMES_MAX = 64, TOUCHES_MAX = 24 };

enum pie_code_owner pie_watch_owner_of(const struct pie_pystack_ops *ops, uintptr_t code) {
    uint32_t code_id = ops->intern(code);

    return code_id && code_id != PIE_CCT_CODE_FULL ? ops->owner(code_id) : PIE_CODE_OWNER_UNKNOWN;
}

/* The innermost frame of own code, below frames of libraries; 0: there is none. */
static size_t find_own(const struct pie_pystack_ops *ops, const struct pie_call_path *taken) {
    for (size_t i = 0; i < taken->python_count && i < FRAMES_MAX; i++) {
        enum pie_code_owner owner = pie_watch_owner_of(ops, taken->python[i].code);
        if (owner != PIE_CODE_OWNER_LIBRARY)
            return owner == PIE_CODE_OWNER_OWN ? i : 0;
    }
    return 0;
}

/* The evaluation loop that runs a frame. NULL: it was not found. */
static const struct pie_native_frame *find_loop(const struct pie_call_path *taken, size_t frame) {
    while (frame < taken->python_count && !taken->python[frame].marker)
        frame++;
    if (frame == taken->python_count)
        return NULL;
    for (size_t i = 0; i + 1 < taken->native_count; i++)
        if (taken->python[frame].marker >= taken->native[i].sp &&
            taken->python[frame].marker < taken->native[i + 1].sp)
            return &taken->native[i];
    return NULL;
}

static uint64_t return_address_at(uint64_t sp) {
    return sp - sizeof(uint64_t);
}

bool pie_watch_find_site(const struct pie_pystack_ops *ops, const struct pie_call_path *taken,
                         const struct pie_pyframe *frame, struct pie_watch_outer *outer) {
    uint64_t site =
        pie_cct_python_key(ops->intern(frame->code), ops->instr_offset(frame->code, frame->instr));
    uint32_t above = 0;

    while (above < taken->hybrid.depth && taken->path[above] != site)
        above++;
    outer->site = site;
    outer->above = above;
    return above < taken->hybrid.depth;
}

static bool find_outer(const struct pie_pystack_ops *ops, const struct pie_call_path *taken,
                       struct pie_watch_outer *ret_outer) {
    size_t own = find_own(ops, taken);
    uint64_t word;

    if (own == 0 ||
        !taken->python[own - 1].marker) /* the same loop runs both: what it keeps of a call is gone */
        return false;
    const struct pie_native_frame *loop = find_loop(taken, own);
    *ret_outer = (struct pie_watch_outer){.loop = loop};
    if (!loop)
        return false;
    ret_outer->back = pie_watch_return_of(ops, taken, loop);
    return pie_watch_find_site(ops, taken, &taken->python[own], ret_outer) &&
           pie_watch_read(return_address_at(ret_outer->back->sp), sizeof word, &word) &&
           word == ret_outer->back->ip;
}

static bool await_return_address(struct pie_thread *thread, unsigned index, enum pie_watch_stage stage) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];

    if (!pie_watch_try_arm(thread, index, PIE_DEBUG_LOAD_STORE, return_address_at(slot->return_sp),
                           sizeof slot->return_ip))
        return false;
    slot->stage = stage;
    slot->touches = 0;
    slot->site_cpu_ns = thread->cpu_last_ns;
    return true;
}

static void begin(struct pie_thread *thread, unsigned index, const struct pie_call_path *taken,
                  const struct pie_watch_outer *outer) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];

    pie_watch_begin_call(thread, index, taken);
    slot->is_outer = true;
    slot->traits = PIE_WATCH_OUTER_CALL;
    slot->above = outer->above;
    slot->site = outer->site;
    __atomic_store_n(&slot->first_node.value, taken->node.value, __ATOMIC_RELAXED);
    if (!outer->loop) {
        pie_watch_python_begin(thread, index, outer);
        return;
    }
    slot->return_ip = outer->back->ip;
    slot->return_sp = outer->back->sp;
    slot->below = outer->loop->sp - outer->back->sp;
    pie_watch_enter_stage(slot, PIE_WATCH_OUTER);
    if (!await_return_address(thread, index, PIE_WATCH_OUTER))
        pie_watch_free_slot(thread, index);
}

static struct pie_cct_id node_above(struct pie_cct_id node, uint32_t above) {
    for (; above > 0; above--)
        node = pie_cct_parent(node);
    return node;
}

struct pie_cct_id pie_watch_outer_node(const struct pie_watch_slot *slot) {
    struct pie_cct_id node = {__atomic_load_n(&slot->first_node.value, __ATOMIC_RELAXED)};

    return node_above(node, slot->above);
}

/* Python calls take more traps than others. */
static bool find(struct pie_thread *thread, const struct pie_pystack_ops *ops,
                 const struct pie_call_path *taken, struct pie_watch_outer *ret_outer) {
    bool is_alone = !taken->is_foreign && !taken->is_own_call;

    return find_outer(ops, taken, ret_outer) ||
           ((is_alone || pie_watch_random(pie_watch_of(thread)) % PYTHON_ONE_IN == 0) &&
            pie_watch_find_python_call(thread, ops, taken, ret_outer));
}

/* False: another watch may begin. */
static bool try_begin(struct pie_thread *thread, const struct pie_watch_settings *settings,
                      const struct pie_call_path *taken) {
    struct pie_watch_thread *watch = pie_watch_of(thread);
    struct pie_watch_outer outer;
    int index = -1;

    if (!find(thread, settings->ops, taken, &outer))
        return false;
    if (pie_watch_is_fruitless(watch, PIE_WATCH_AT_CALL, pie_watch_place_of_call(outer.site, true)))
        return false;
    if (!pie_watch_has_credit(thread, settings))
        pie_counter_add(PIE_COUNTER_WATCH_NO_CREDIT, 1);
    else if (pie_watch_passes_over(watch, settings, taken->node))
        pie_counter_add(PIE_COUNTER_WATCH_DECIDED, 1);
    else if ((index = pie_watch_choose_slot(thread)) < 0)
        pie_counter_add(PIE_COUNTER_WATCH_NO_SLOT, 1);
    else
        begin(thread, (unsigned)index, taken, &outer);
    return true;
}

/* Samples in foreign native code begin watches of accesses, too, which get what the budget has left there. */
static bool is_drawn(struct pie_thread *thread, const struct pie_watch_settings *settings,
                     const struct pie_call_path *taken) {
    return taken->is_foreign ? pie_watch_random(pie_watch_of(thread)) % ONE_IN == 0
                             : pie_watch_is_drawn(thread, settings, ONE_IN);
}

bool pie_watch_outer_call(struct pie_thread *thread, const ucontext_t *ucontext,
                          const struct pie_call_path *taken) {
    const struct pie_watch_settings *settings = pie_watch_settings();
    uint64_t start_ns = pie_monotonic_ns();

    if (!settings || pie_watch_calls_rest() || !settings->ops->owner || !settings->ops->call_digest ||
        pie_debug_ptrace_is_used() || start_ns < pie_watch_of(thread)->retry_ns ||
        !is_drawn(thread, settings, taken))
        return false;
    bool is_taken = try_begin(thread, settings, taken);
    pie_watch_charge(thread, pie_watch_spent_since(thread, start_ns));
    return is_taken;
}

static bool has_returned(const struct pie_watch_slot *slot, const ucontext_t *ucontext) {
    return (uint64_t)ucontext->uc_mcontext.gregs[REG_RIP] == slot->return_ip &&
           (uint64_t)ucontext->uc_mcontext.gregs[REG_RSP] == slot->return_sp;
}

void pie_watch_outer_touched(struct pie_thread *thread, unsigned index, const ucontext_t *ucontext) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];

    if (!has_returned(slot, ucontext)) {
        pie_counter_add(PIE_COUNTER_WATCH_STRAY_TRAPS, 1);
        if (++slot->touches > TOUCHES_MAX)
            pie_watch_give_up(thread, index);
        return;
    }
    pie_watch_disarm(thread, index);
    if (slot->stage == PIE_WATCH_OUTER) {
        pie_watch_call_returned(thread, index, ucontext);
        return;
    }
    slot->stage = PIE_WATCH_RESULT;
    pie_watch_another_returned(thread, index, ucontext);
}

/* The evaluation loop is about to make the call, so its stack ends here. */
void pie_watch_outer_site(struct pie_thread *thread, unsigned index, const ucontext_t *ucontext) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];

    pie_watch_disarm(thread, index);
    slot->return_sp = (uint64_t)ucontext->uc_mcontext.gregs[REG_RSP] - slot->below;
    if (!await_return_address(thread, index, PIE_WATCH_OUTER_NEXT))
        pie_watch_give_up(thread, index);
}

/* An object that was handed out is what the call was for: nothing else took the time. A number that Python keeps is not
 * enough where the arguments cannot be read: they may have changed meanwhile. */
uint64_t pie_watch_outer_value(const struct pie_call_digest *call) {
    uint64_t arguments = pie_hash_mix(call->content, call->state);

    if (!call->content)
        return 0;
    if (call->kept)
        return pie_hash_mix(arguments, call->kept) | 1;
    if (!call->is_telling || (!call->is_new && call->traits))
        return 0;
    return pie_hash_mix(arguments, call->result) | 1;
}
