/* SPDX-License-Identifier: Apache-2.0 */

/* The three stages of a watch, each begun by the trap that ends the one before:
 *
 *   pie_watch_sample()  choose a slot and one access of the sampled basic block      -> execute breakpoint on it
 *   access_reached()    exact registers: address, context, where the call returns to -> execute breakpoint there
 *   call_returned()     the call is over; the value as it now stands                 -> data breakpoint
 *
 * What follows is stage 3, in watch/data_sigsafe.c for memory and in watch/result_sigsafe.c for what calls return.
 *
 * Stage 2 is what makes "not within one native call" exact: an accumulator inside a call costs no trap, and an access
 * within the call never hides the one of the next. A trap whose signal came late (SIGTRAP was blocked) says nothing
 * about who touched the memory: the watch is lost. */

#include "profiler/watch/watch.h"

#include "profiler/base/clocks.h"
#include "profiler/base/counters.h"
#include "profiler/base/hash.h"
#include "profiler/base/trap_info.h"
#include "profiler/code/basic_block.h"
#include "profiler/code/modules.h"
#include "profiler/stacks/call_path.h"
#include "profiler/stacks/cct.h"
#include "profiler/thread/thread.h"
#include "profiler/watch/internal.h"
#include "profiler/watch/sampler.h"

#include <errno.h>
#include <string.h>

/* Upper half of the cookie that our breakpoints carry; the lower: serial and slot. */
#define WATCH_COOKIE (UINT64_C(0x70696577) << 32)
enum { SLOT_BITS = 2, TRIES_MAX = 3, DRAWS_MAX = 4, RETURN_STRAYS_MAX = 16, CALLS_ONE_IN = 8 };

/* After a register was refused (a debugger has them, no descriptor is free). */
static const uint64_t RETRY_NS = 1000000000;

/* Set by the collection thread (release), read by handlers (acquire). NULL in a forked child until it has its own. */
static _Atomic(const struct pie_watch_settings *) current;

/* The last settings: when watching stops in the middle of a handler, it goes on by these, and what is armed must still
 * be disarmed. NULL until there were any. */
static _Atomic(const struct pie_watch_settings *) latest;

void pie_watch_set(const struct pie_watch_settings *settings) {
    if (settings)
        atomic_store_explicit(&latest, settings, memory_order_release);
    atomic_store_explicit(&current, settings, memory_order_release);
}

static const struct pie_watch_settings *latest_settings(void) {
    return atomic_load_explicit(&latest, memory_order_acquire);
}

const struct pie_debug_ops *pie_watch_registers_in_use(void) {
    const struct pie_watch_settings *settings = latest_settings();

    return settings ? settings->registers : NULL;
}

const struct pie_pystack_ops *pie_watch_ops(void) {
    return latest_settings()->ops;
}

const struct pie_watch_settings *pie_watch_settings(void) {
    return atomic_load_explicit(&current, memory_order_acquire);
}

static void begin_thread(struct pie_thread *thread) {
    struct pie_watch_thread *watch = pie_watch_of(thread);

    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++)
        watch->fds[i] = -1;
    pie_thread_part_clear(watch->slots, sizeof watch->slots); /* PIE_WATCH_FREE */
    pie_thread_part_clear(watch->shunned, sizeof watch->shunned);
    watch->random = (pie_hash_upper(pie_monotonic_ns()) ^ (uint64_t)thread->tid << 32) | 1;
    watch->mean_interest = 0;
    watch->retry_ns = 0;
    watch->credit_ns = 0;
    watch->put_off = 0;
    watch->ptrace = (struct pie_debug_ptrace){0};
    watch->faults_seen = UINT64_MAX;
    watch->debt_is_short = false;
    watch->slow_cpu_ns = thread->cpu_last_ns;
    watch->credit_program_ns = thread->cpu_last_ns;
    atomic_store_explicit(&watch->spent_ns, 0, memory_order_relaxed);
}

static void end_thread(struct pie_thread *thread) {
    const struct pie_debug_ops *registers = pie_watch_registers_in_use();

    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++)
        if (pie_watch_of(thread)->slots[i].stage == PIE_WATCH_COPY)
            pie_watch_copy_lost(&pie_watch_of(thread)->slots[i]);
    if (registers)
        registers->release(thread);
}

/* Descriptors in the collection thread's table. */
static bool is_thread_needed(const struct pie_thread *thread) {
    const struct pie_watch_thread *watch = pie_watch_of(thread);

    for (int i = 0; i < PIE_DEBUG_REGISTERS; i++)
        if (atomic_load_explicit(&watch->fds[i], memory_order_relaxed) >= 0)
            return true;
    return false;
}

struct pie_thread_part pie_watch_part = {
    .bytes = sizeof(struct pie_watch_thread),
    .begin = begin_thread,
    .end = end_thread,
    .is_needed = is_thread_needed,
};

static uint64_t cookie_of(const struct pie_watch_slot *slot, unsigned index) {
    return WATCH_COOKIE | (uint64_t)(slot->serial & PIE_WATCH_SERIAL_MASK) << SLOT_BITS | index;
}

bool pie_watch_try_arm(struct pie_thread *thread, unsigned index, enum pie_debug_kind kind, uint64_t address,
                       unsigned length) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];
    const struct pie_watch_settings *settings = pie_watch_settings();
    uint64_t now_ns = pie_monotonic_ns();
    int r = -EAGAIN;

    if (settings && now_ns >= pie_watch_of(thread)->retry_ns)
        r = settings->registers->arm(thread, index, kind, address, length, cookie_of(slot, index));
    if (r == 0) {
        slot->is_armed = true;
        return true;
    }
    pie_counter_add(PIE_COUNTER_WATCH_NO_REGISTER, 1);
    if (r != -EAGAIN && r != -EINVAL)
        pie_watch_of(thread)->retry_ns = now_ns + RETRY_NS;
    return false;
}

static bool arm(struct pie_thread *thread, unsigned index, enum pie_debug_kind kind, uint64_t address,
                unsigned length) {
    bool is_armed = pie_watch_try_arm(thread, index, kind, address, length);

    if (!is_armed)
        pie_watch_free_slot(thread, index);
    return is_armed;
}

static void leave(struct pie_thread *thread, unsigned index, enum pie_counter why) {
    pie_counter_add(why, 1);
    pie_watch_free_slot(thread, index);
}

void pie_watch_enter_stage(struct pie_watch_slot *slot, enum pie_watch_stage stage) {
    slot->stage = stage;
    slot->strays = 0;
    slot->began_ns = pie_monotonic_ns();
}

void pie_watch_push(struct pie_thread *thread, unsigned index, struct pie_watch_record *record) {
    const struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];

    record->time_ns = pie_monotonic_ns();
    record->address = slot->address;
    record->size = slot->size;
    record->access_ip = slot->access.ip;
    record->access_bytes = slot->bytes;
    record->array_bytes = slot->array_bytes;
    record->first_node = pie_watch_outer_node(slot);
    record->serial = slot->serial;
    record->kind = slot->kind;
    record->memory = slot->memory;
    record->traits = slot->traits;
    record->slot = (uint8_t)index;
    record->cost_us = pie_watch_cost_us(slot);
    if (!pie_watch_ring_push(&pie_watch_of(thread)->ring, record))
        pie_counter_add(PIE_COUNTER_WATCH_RING_FULL, 1);
}

/* --- Stage 1 to 2 --- */

static enum pie_watch_kind kind_of(struct pie_watch_thread *watch, const struct pie_access *access) {
    unsigned both = PIE_ACCESS_LOAD | PIE_ACCESS_STORE;

    if ((access->flags & both) == both)
        return pie_watch_random(watch) % 2 ? PIE_WATCH_LOAD : PIE_WATCH_STORE;
    return access->flags & PIE_ACCESS_LOAD ? PIE_WATCH_LOAD : PIE_WATCH_STORE;
}

static uint64_t stack_end(const struct pie_call_path *taken) {
    return taken->native[taken->native_count - 1].sp + 4096;
}

/* address: 0, or where the access goes (the PMU said it). */
static bool note_word(struct pie_thread *thread, struct pie_watch_slot *slot, const ucontext_t *ucontext,
                      const struct pie_call_path *taken, uint64_t address) {
    const struct pie_pystack_ops *ops = pie_watch_ops();
    uint64_t registers[PIE_ACCESS_REGISTERS];
    struct pie_watch_word word;

    pie_access_registers(ucontext, registers);
    slot->kind = (uint8_t)kind_of(pie_watch_of(thread), &slot->access);
    if (!address)
        address = pie_access_address(&slot->access, registers);
    if (!pie_watch_choose_word(pie_watch_of(thread), &slot->access, registers, address, &word) ||
        !pie_watch_read(word.address, word.size, &slot->value))
        return false;
    uint64_t stack_high = stack_end(taken);
    if (!pie_watch_is_interesting(ops, &slot->access, registers, (enum pie_watch_kind)slot->kind,
                                  word.address, registers[PIE_ACCESS_RSP], stack_high))
        return false;
    slot->address = word.address;
    slot->size = word.size;
    slot->bytes = word.bytes;
    slot->memory = (uint8_t)pie_watch_memory_of(ops, &slot->access, registers, word.address);
    slot->traits = slot->access.flags & (PIE_ACCESS_LOOP | PIE_ACCESS_REP) ? PIE_WATCH_IN_LOOP : 0;
    if (slot->kind == PIE_WATCH_LOAD && slot->traits)
        slot->read_ns = pie_watch_program_ns(thread);
    return true;
}

static void begin(struct pie_thread *thread, unsigned index, const struct pie_call_path *taken,
                  const struct pie_basic_block *block, const struct pie_access *access) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];

    slot->access = *access;
    slot->block = block;
    slot->generation = pie_basic_block_generation();
    slot->module = taken->native[0].module;
    slot->rewrites = pie_code_modules_rewrites();
    slot->tries = 0;
    slot->is_call = slot->is_outer = slot->is_python = false;
    slot->above = 0;
    slot->array_bytes = slot->cost_ns = 0;
    slot->serial = ++pie_watch_of(thread)->serial & PIE_WATCH_SERIAL_MASK;
}

/* The access was of no interest: another one of the block, so that of those of interest each is as likely as before. */
static bool try_another(struct pie_thread *thread, unsigned index) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];

    if (!slot->block || slot->generation != pie_basic_block_generation() || slot->block->count < 2 ||
        slot->tries++ >= TRIES_MAX || pie_watch_of(thread)->credit_ns <= 0)
        return false;
    uint64_t here = slot->access.ip;
    for (uint32_t left = slot->block->count; left > 0 && slot->access.ip == here; left--)
        slot->access = slot->block->accesses[pie_watch_random(pie_watch_of(thread)) % slot->block->count];
    if (slot->access.ip == here)
        return false;
    if (arm(thread, index, PIE_DEBUG_EXECUTE, slot->access.ip, 1))
        pie_watch_enter_stage(slot, PIE_WATCH_ACCESS);
    return true;
}

/* Where the native call on top of the evaluation loop returns to. */
static void await_return(struct pie_thread *thread, unsigned index, const struct pie_call_path *taken) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];
    const struct pie_native_frame *back =
        pie_watch_return_of(pie_watch_ops(), taken, &taken->native[taken->hybrid.native_on_top]);

    __atomic_store_n(&slot->first_node.value, taken->node.value, __ATOMIC_RELAXED);
    slot->site = taken->path[taken->hybrid.top_depth];
    slot->return_ip = back->ip;
    slot->return_sp = back->sp;
    if (arm(thread, index, PIE_DEBUG_EXECUTE, back->ip, 1))
        pie_watch_enter_stage(slot, PIE_WATCH_RETURN);
}

/* The access is about to be made, in this context. */
static void access_reached(struct pie_thread *thread, unsigned index, const ucontext_t *ucontext,
                           const struct pie_call_path *taken, uint64_t address) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];

    if (!taken->is_foreign || !taken->node.value) {
        leave(thread, index, PIE_COUNTER_WATCH_NOT_NATIVE);
        return;
    }
    if (taken->native[0].module != slot->module || slot->rewrites != pie_code_modules_rewrites()) {
        leave(thread, index, PIE_COUNTER_WATCH_ACCESS_IGNORED); /* other code lies there by now */
        return;
    }
    bool is_noted = note_word(thread, slot, ucontext, taken, address);
    if (!is_noted && try_another(thread, index))
        return;
    if (slot->block)
        pie_watch_note_fruit(pie_watch_place_of_block(slot->block), is_noted);
    if (!is_noted) {
        leave(thread, index, PIE_COUNTER_WATCH_ACCESS_IGNORED);
        return;
    }
    await_return(thread, index, taken);
}

/* Each access of the block is as likely as any other, but that one whose base register now leads to what would be
 * ignored is drawn again: it would cost a trap to find out for certain. */
static const struct pie_access *choose_access(struct pie_thread *thread, const struct pie_basic_block *block,
                                              const ucontext_t *ucontext, const struct pie_call_path *taken) {
    const struct pie_pystack_ops *ops = pie_watch_ops();
    uint64_t registers[PIE_ACCESS_REGISTERS], stack_high = stack_end(taken);
    const struct pie_access *access = NULL;

    pie_access_registers(ucontext, registers);
    for (int i = 0; i < DRAWS_MAX; i++) {
        access = &block->accesses[pie_watch_random(pie_watch_of(thread)) % block->count];
        enum pie_watch_kind kind = access->flags & PIE_ACCESS_LOAD ? PIE_WATCH_LOAD : PIE_WATCH_STORE;
        if (pie_watch_is_interesting(ops, access, registers, kind, pie_access_address(access, registers),
                                     registers[PIE_ACCESS_RSP], stack_high))
            break;
    }
    return access;
}

/* Registers that ptrace has set must not fire where SIGTRAP is blocked, for which the program has found a way around
 * the exported calls; and without an alternate stack a handler cannot tell that it interrupted one of its own. */
bool pie_watch_must_yield(const ucontext_t *ucontext) {
    return pie_debug_ptrace_is_used() &&
           (sigismember(&ucontext->uc_sigmask, SIGTRAP) || (ucontext->uc_stack.ss_flags & SS_DISABLE));
}

void pie_watch_sample(struct pie_thread *thread, const ucontext_t *ucontext,
                      const struct pie_call_path *taken) {
    const struct pie_watch_settings *settings = pie_watch_settings();
    uint64_t start_ns = pie_monotonic_ns(), ip = (uint64_t)ucontext->uc_mcontext.gregs[REG_RIP];

    if (!settings)
        return;
    if (pie_watch_must_yield(ucontext)) {
        pie_counter_add(PIE_COUNTER_WATCH_NO_REGISTER, 1);
        pie_watch_rest(thread);
        return;
    }
    unsigned module = taken->native[0].module;
    const struct pie_basic_block *block = pie_basic_block_find(ip, module);
    int index = -1;
    if (start_ns < pie_watch_of(thread)->retry_ns) {
        pie_counter_add(PIE_COUNTER_WATCH_NO_REGISTER, 1);
    } else if (module == PIE_CODE_MODULE_NOWHERE) { /* made at run time, it may change at any moment */
        pie_counter_add(PIE_COUNTER_WATCH_BLOCK_EMPTY, 1);
    } else if (!block) {
        pie_watch_requests_push(&pie_watch_of(thread)->requests, &ip);
        pie_counter_add(PIE_COUNTER_WATCH_BLOCK_UNKNOWN, 1);
    } else if (block->count == 0) {
        pie_counter_add(PIE_COUNTER_WATCH_BLOCK_EMPTY, 1);
    } else if (!pie_watch_has_credit(thread, settings)) {
        pie_counter_add(PIE_COUNTER_WATCH_NO_CREDIT, 1);
    } else if (pie_watch_passes_over(pie_watch_of(thread), settings, taken->node)) {
        pie_counter_add(PIE_COUNTER_WATCH_DECIDED, 1);
    } else if (pie_watch_is_fruitless(pie_watch_of(thread), PIE_WATCH_AT_BLOCK,
                                      pie_watch_place_of_block(block))) {
        pie_counter_add(PIE_COUNTER_WATCH_FRUITLESS, 1);
    } else if ((index = pie_watch_choose_slot(thread)) < 0) {
        pie_counter_add(PIE_COUNTER_WATCH_NO_SLOT, 1);
    } else {
        const struct pie_access *access = choose_access(thread, block, ucontext, taken);
        begin(thread, (unsigned)index, taken, block, access);
        if (access->ip == ip) /* registers are exact here and now */
            access_reached(thread, (unsigned)index, ucontext, taken, 0);
        else if (arm(thread, (unsigned)index, PIE_DEBUG_EXECUTE, access->ip, 1))
            pie_watch_enter_stage(&pie_watch_of(thread)->slots[index], PIE_WATCH_ACCESS);
    }
    pie_watch_charge(thread, pie_watch_spent_since(thread, start_ns));
}

void pie_watch_begin_call(struct pie_thread *thread, unsigned index, const struct pie_call_path *taken) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];

    begin(thread, index, taken, NULL, &(struct pie_access){.ip = 0});
    slot->is_call = true;
    slot->kind = PIE_WATCH_STORE;
    slot->traits = 0;
    slot->address = slot->size = 0;
    slot->bytes = 0;
}

void pie_watch_call(struct pie_thread *thread, const ucontext_t *ucontext,
                    const struct pie_call_path *taken) {
    const struct pie_watch_settings *settings = pie_watch_settings();
    struct pie_watch_thread *watch = pie_watch_of(thread);
    uint64_t start_ns = pie_monotonic_ns(), site = taken->path[taken->hybrid.top_depth];
    int index = -1;

    if (!settings || !settings->ops->call_digest || pie_watch_must_yield(ucontext) ||
        !pie_watch_is_drawn(thread, settings, CALLS_ONE_IN))
        return;
    if (start_ns < watch->retry_ns)
        pie_counter_add(PIE_COUNTER_WATCH_NO_REGISTER, 1);
    else if (!pie_watch_has_credit(thread, settings))
        pie_counter_add(PIE_COUNTER_WATCH_NO_CREDIT, 1);
    else if (pie_watch_passes_over(watch, settings, taken->node))
        pie_counter_add(PIE_COUNTER_WATCH_DECIDED, 1);
    else if (pie_watch_is_fruitless(watch, PIE_WATCH_AT_CALL, pie_watch_place_of_call(site, false)))
        pie_counter_add(PIE_COUNTER_WATCH_FRUITLESS, 1);
    else if ((index = pie_watch_choose_slot(thread)) < 0)
        pie_counter_add(PIE_COUNTER_WATCH_NO_SLOT, 1);
    else {
        pie_watch_begin_call(thread, (unsigned)index, taken);
        await_return(thread, (unsigned)index, taken);
    }
    pie_watch_charge(thread, pie_watch_spent_since(thread, start_ns));
}

/* The hardware saw this access a few instructions ago: stage 1 is done. */
static void begin_known(struct pie_thread *thread, const ucontext_t *ucontext,
                        const struct pie_call_path *taken, const struct pie_access_sample *sample) {
    const struct pie_watch_settings *settings = latest_settings();
    struct pie_access access = {.ip = sample->ip,
                                .size_bytes = 1,
                                .base = PIE_ACCESS_NO_REGISTER,
                                .index = PIE_ACCESS_NO_REGISTER,
                                .flags = sample->kind};
    const struct pie_basic_block *block = pie_basic_block_find(sample->ip, taken->native[0].module);

    for (uint32_t i = 0; block && i < block->count; i++)
        if (block->accesses[i].ip == sample->ip && (block->accesses[i].flags & sample->kind))
            access = block->accesses[i];
    if (!block)
        pie_watch_requests_push(&pie_watch_of(thread)->requests, &sample->ip);
    if (!pie_watch_has_credit(thread, settings))
        return;
    if (pie_watch_passes_over(pie_watch_of(thread), settings, taken->node)) {
        pie_counter_add(PIE_COUNTER_WATCH_DECIDED, 1);
        return;
    }
    int index = pie_watch_choose_slot(thread);
    if (index < 0)
        return;
    begin(thread, (unsigned)index, taken, NULL, &access);
    access_reached(thread, (unsigned)index, ucontext, taken, sample->address);
}

void pie_watch_sampled(const struct pie_access_sampler_ops *sampler, struct pie_thread *thread,
                       const siginfo_t *info, const ucontext_t *ucontext) {
    const struct pie_watch_settings *settings = pie_watch_settings();
    uint64_t start_ns = pie_monotonic_ns();
    struct pie_access_sample sample;
    struct pie_call_path taken;

    if (!settings)
        return;
    pie_watch_charge_kernel(thread, settings->sample_price_ns);
    if (pie_watch_must_yield(ucontext) || !sampler->read(thread, info, ucontext, &sample))
        return;
    pie_call_path_take(pie_watch_ops(), thread, ucontext, false, &taken);
    bool is_known = sample.is_precise && sample.address;
    if (is_known && taken.is_foreign && !pie_cct_is_full(taken.node))
        begin_known(thread, ucontext, &taken, &sample);
    uint64_t spent_ns = pie_watch_spent_since(thread, start_ns);
    if (!is_known && taken.is_foreign && !pie_cct_is_full(taken.node))
        pie_watch_sample(thread, ucontext, &taken);
    pie_watch_charge(thread, spent_ns);
}

/* --- Stage 2 to 3 --- */

bool pie_watch_is_deeper(struct pie_watch_slot *slot, const ucontext_t *ucontext) {
    if ((uint64_t)ucontext->uc_mcontext.gregs[REG_RSP] >= slot->return_sp ||
        slot->strays++ >= RETURN_STRAYS_MAX)
        return false;
    pie_counter_add(PIE_COUNTER_WATCH_STRAY_TRAPS, 1);
    return true;
}

/* A loop over an array that the call got: one that was read in full, perhaps. */
static void note_array(struct pie_watch_slot *slot, uintptr_t result) {
    const struct pie_pystack_ops *ops = pie_watch_ops();

    if (slot->kind != PIE_WATCH_LOAD || !(slot->traits & PIE_WATCH_IN_LOOP) || !ops->array_argument)
        return;
    slot->array_bytes = ops->array_argument((uintptr_t)slot->address, result);
    if (slot->array_bytes)
        slot->traits |= PIE_WATCH_OF_ARGUMENT;
}

void pie_watch_call_returned(struct pie_thread *thread, unsigned index, const ucontext_t *ucontext) {
    const struct pie_watch_settings *settings = latest_settings();
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];
    uint64_t passed_ns = pie_monotonic_ns() - slot->began_ns, value = 0;

    if (pie_watch_is_deeper(slot, ucontext))
        return;
    if ((uint64_t)ucontext->uc_mcontext.gregs[REG_RSP] != slot->return_sp ||
        (!slot->is_call && !pie_watch_read(slot->address, slot->size, &value))) {
        leave(thread, index, PIE_COUNTER_WATCH_CALL_LEFT);
        return;
    }
    if (!slot->is_call && slot->kind == PIE_WATCH_LOAD && value != slot->value) {
        leave(thread, index, PIE_COUNTER_WATCH_CHANGED_IN_CALL);
        return;
    }
    pie_watch_announce_return(thread);
    struct pie_watch_record record = {.record = PIE_WATCH_RECORD_REACHED};
    record.length_ns = passed_ns > settings->trap_price_ns ? passed_ns - settings->trap_price_ns : 0;
    if (pie_watch_result(thread, index, ucontext, &record))
        return;
    if (slot->is_call) {
        leave(thread, index, PIE_COUNTER_WATCH_ACCESS_IGNORED);
        return;
    }
    slot->value = value;
    if (pie_watch_is_of_result(pie_watch_ops(), (uint64_t)ucontext->uc_mcontext.gregs[REG_RAX],
                               slot->address))
        slot->memory = PIE_WATCH_MEMORY_RESULT;
    note_array(slot, (uintptr_t)ucontext->uc_mcontext.gregs[REG_RAX]);
    enum pie_debug_kind kind = slot->kind == PIE_WATCH_LOAD ? PIE_DEBUG_LOAD_STORE : PIE_DEBUG_STORE;
    if (!arm(thread, index, kind, slot->address, slot->size))
        return;
    pie_watch_enter_stage(slot, PIE_WATCH_DATA);
    pie_counter_add(PIE_COUNTER_WATCH_REACHED, 1);
    pie_watch_push(thread, index, &record);
}

/* --- All traps --- */

bool pie_watch_is_ours(const siginfo_t *info) {
    if (pie_trap_is_hardware(info))
        return pie_debug_ptrace_is_used();
    return pie_trap_is_perf(info) && (pie_trap_data(info) & ~UINT64_C(0xffffffff)) == WATCH_COOKIE;
}

/* Does this slot wait for this instruction? */
static bool waits_for(const struct pie_watch_slot *slot, uint64_t rip) {
    switch (slot->stage) {
    case PIE_WATCH_ACCESS:
        return rip == slot->access.ip;
    case PIE_WATCH_RETURN:
    case PIE_WATCH_NEXT_RETURN:
    case PIE_WATCH_RESULT:
        return rip == slot->return_ip;
    default:
        return false;
    }
}

static void instruction_reached(struct pie_thread *thread, unsigned index, const ucontext_t *ucontext) {
    struct pie_call_path taken;

    switch (pie_watch_of(thread)->slots[index].stage) {
    case PIE_WATCH_ACCESS:
        pie_call_path_take(pie_watch_ops(), thread, ucontext, false, &taken);
        access_reached(thread, index, ucontext, &taken, 0);
        break;
    case PIE_WATCH_RETURN:
        pie_watch_call_returned(thread, index, ucontext);
        break;
    case PIE_WATCH_NEXT_RETURN:
        pie_watch_next_returned(thread, index, ucontext);
        break;
    default:
        pie_watch_another_returned(thread, index, ucontext);
    }
}

/* One instruction may be what several slots wait for, and SIGTRAP is not queued. A slot of another call's return (of
 * another stack pointer) is left alone. */
static void others_reached(struct pie_thread *thread, unsigned index, const ucontext_t *ucontext) {
    uint64_t rip = (uint64_t)ucontext->uc_mcontext.gregs[REG_RIP];
    uint64_t rsp = (uint64_t)ucontext->uc_mcontext.gregs[REG_RSP];

    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++) {
        const struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[i];
        if (i != index && waits_for(slot, rip) && (slot->stage == PIE_WATCH_ACCESS || rsp == slot->return_sp))
            instruction_reached(thread, i, ucontext);
    }
}

static void dispatch(struct pie_thread *thread, unsigned index, const ucontext_t *ucontext) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];

    if (waits_for(slot, (uint64_t)ucontext->uc_mcontext.gregs[REG_RIP])) {
        others_reached(thread, index, ucontext);
        instruction_reached(thread, index, ucontext);
    } else if (slot->stage == PIE_WATCH_DATA) {
        pie_watch_data_touched(thread, index, ucontext);
    } else if (pie_watch_waits_for_return_address(slot) && slot->is_python) {
        pie_watch_python_stored(thread, index, ucontext);
    } else if (pie_watch_waits_for_return_address(slot)) {
        pie_watch_outer_touched(thread, index, ucontext);
    } else if (pie_watch_waits_for_site(slot) && slot->is_python) {
        pie_watch_python_site(thread, index);
    } else if (slot->stage == PIE_WATCH_SITE && slot->is_outer) {
        pie_watch_outer_site(thread, index, ucontext);
    } else if (slot->stage == PIE_WATCH_SITE) {
        pie_watch_site_reached(thread, index);
    } else if (slot->stage == PIE_WATCH_COPY) {
        pie_watch_copy_written(thread, index);
    } else {
        pie_counter_add(PIE_COUNTER_WATCH_STRAY_TRAPS, 1);
        if (slot->stage != PIE_WATCH_FREE)
            return;            /* of the stage before, handled with another slot's */
        slot->is_armed = true; /* a trap that nobody waits for must not come again and again */
        pie_watch_free_slot(thread, index);
    }
}

/* The signal waited while SIGTRAP was blocked: nobody knows who touched what. A handler itself may have looked at the
 * code unit that the program is expected at, or at the return address. */
static void late(struct pie_thread *thread, unsigned index) {
    const struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];

    pie_counter_add(PIE_COUNTER_WATCH_LATE_TRAPS, 1);
    bool is_return = pie_watch_waits_for_return_address(slot);
    if (pie_watch_waits_for_site(slot) || (is_return && !slot->is_python))
        return;
    if (slot->stage < PIE_WATCH_DATA)
        pie_watch_free_slot(thread, index);
    else if (slot->stage == PIE_WATCH_COPY)
        pie_watch_copy_written(thread, index);
    else
        pie_watch_give_up(thread, index);
}

/* As bits. */
static unsigned registers_fired(struct pie_thread *thread, const siginfo_t *info,
                                const ucontext_t *ucontext) {
    if (pie_trap_is_hardware(info))
        return pie_debug_ptrace_fired(thread, (uint64_t)ucontext->uc_mcontext.gregs[REG_RIP]);
    return 1u << (pie_trap_data(info) & (PIE_DEBUG_REGISTERS - 1));
}

/* The trap of a perf event says of which watch it is. */
static void event_fired(struct pie_thread *thread, unsigned index, const siginfo_t *info,
                        const ucontext_t *ucontext) {
    if (pie_trap_data(info) != cookie_of(&pie_watch_of(thread)->slots[index], index))
        pie_counter_add(PIE_COUNTER_WATCH_STRAY_TRAPS, 1); /* of a watch that is over */
    else if (pie_trap_is_late(info))
        late(thread, index);
    else
        dispatch(thread, index, ucontext);
}

static bool waits_for_data(const struct pie_watch_slot *slot) {
    return slot->stage == PIE_WATCH_DATA || pie_watch_waits_for_site(slot) || slot->stage == PIE_WATCH_COPY ||
           pie_watch_waits_for_return_address(slot);
}

/* Debug registers themselves say all that fired. Of several the first one's handling sees to the others of the same
 * instruction, but for words of data apart. */
static void hardware_fired(struct pie_thread *thread, unsigned fired, const ucontext_t *ucontext) {
    unsigned first = (unsigned)__builtin_ctz(fired), waiting = 0;
    uint32_t serials[PIE_DEBUG_REGISTERS];

    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++) {
        const struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[i];
        serials[i] = slot->serial;
        waiting |= (unsigned)(i != first && (fired >> i & 1) && waits_for_data(slot)) << i;
    }
    dispatch(thread, first, ucontext);
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++) {
        const struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[i];
        if ((waiting >> i & 1) && waits_for_data(slot) && slot->serial == serials[i])
            dispatch(thread, i, ucontext);
    }
}

void pie_watch_trap(struct pie_thread *thread, const siginfo_t *info, const ucontext_t *ucontext) {
    const struct pie_watch_settings *settings = pie_watch_settings();
    uint64_t start_ns = pie_monotonic_ns();
    unsigned fired = registers_fired(thread, info, ucontext);

    if (!settings) { /* the profile is over, or rests */
        for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++) {
            if (!(fired >> i & 1))
                continue;
            pie_watch_of(thread)->slots[i].is_armed = true;
            pie_watch_free_slot(thread, i);
        }
        return;
    }
    pie_counter_add(PIE_COUNTER_WATCH_TRAPS, 1);
    pie_watch_note_traps(thread, fired, settings->trap_price_ns);
    if (!fired)
        pie_counter_add(PIE_COUNTER_WATCH_STRAY_TRAPS, 1);
    else if (pie_trap_is_hardware(info))
        hardware_fired(thread, fired, ucontext);
    else
        event_fired(thread, (unsigned)__builtin_ctz(fired), info, ucontext);
    pie_watch_charge(thread, pie_watch_spent_since(thread, start_ns));
    pie_watch_charge_kernel(thread, settings->trap_price_ns);
}

void pie_watch_catch_up(struct pie_thread *thread) {
    const struct pie_debug_ops *registers = pie_watch_registers_in_use();

    if (!registers || !registers->catch_up)
        return;
    uint64_t start_ns = pie_monotonic_ns();
    registers->catch_up(thread);
    if (pie_watch_of(thread)->ptrace.waited_ns)
        pie_watch_charge(thread, pie_watch_spent_since(thread, start_ns));
}

void pie_watch_yield(struct pie_thread *thread) {
    if (!thread || thread->inside || !pie_debug_ptrace_is_used())
        return;
    pie_thread_enter(thread, PIE_INSIDE_HANDLER);
    pie_watch_rest(thread);
    pie_watch_catch_up(thread);
    pie_thread_leave(thread);
}
