/* SPDX-License-Identifier: Apache-2.0 */

/* Words of sampled copies (profiler/heap/copy_ends.h). They take part in the reservoirs of the four registers as
 * samples do, but hold one register at most: the others stay with loads, stores and results. */

#include "profiler/watch/internal.h"

#include "profiler/base/clocks.h"
#include "profiler/base/counters.h"
#include "profiler/thread/thread.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/* So rarely at least, one in this number, does a word that nobody writes give way to a newer one. */
enum { PATIENCE = 32 };

/* Loads and stores spend all credit that there is, as soon as there is some. Copies that are to be followed are few, so
 * one in this number may go into debt by this much, for which the others then wait. */
enum { DEBT_ONE_IN = 4 };
static const int64_t DEBT_NS = 500000;

static void note(struct pie_watch_slot *slot, enum pie_watch_copy_state state) {
    uint64_t expected = slot->copy_armed;

    atomic_compare_exchange_strong_explicit(slot->copy, &expected, (expected & ~UINT64_C(3)) | state,
                                            memory_order_relaxed, memory_order_relaxed);
}

void pie_watch_copy_lost(struct pie_watch_slot *slot) {
    note(slot, PIE_WATCH_COPY_LOST);
}

void pie_watch_copy_written(struct pie_thread *thread, unsigned index) {
    note(&pie_watch_of(thread)->slots[index], PIE_WATCH_COPY_WRITTEN);
    pie_watch_free_slot(thread, index);
}

/* The traps of registers that ptrace sets are forced: they need the signal open, and a stack of their own. */
static bool can_trap(void) {
    uint64_t blocked;
    stack_t stack;

    if (!pie_debug_ptrace_is_used())
        return true;
    return syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, sizeof blocked) == 0 &&
           !(blocked >> (SIGTRAP - 1) & 1) && syscall(SYS_sigaltstack, NULL, &stack) == 0 &&
           !(stack.ss_flags & SS_DISABLE);
}

/* The slot of the thread's present word, -1: none. */
static int slot_of_copy(const struct pie_watch_thread *watch) {
    for (int i = 0; i < PIE_DEBUG_REGISTERS; i++)
        if (watch->slots[i].stage == PIE_WATCH_COPY)
            return i;
    return -1;
}

/* Has it been asked for another word since? Blocks also die on other threads. */
static bool is_over(const struct pie_watch_slot *slot) {
    return atomic_load_explicit(slot->copy, memory_order_relaxed) != slot->copy_armed;
}

static int choose_slot(struct pie_thread *thread) {
    struct pie_watch_thread *watch = pie_watch_of(thread);
    int index = slot_of_copy(watch);

    if (index < 0)
        return pie_watch_choose_slot(thread);
    struct pie_watch_slot *slot = &watch->slots[index];
    uint32_t one_in = slot->seen < PATIENCE ? slot->seen + 1 : PATIENCE;
    slot->seen++;
    return is_over(slot) || pie_watch_random(watch) % one_in == 0 ? index : -1;
}

bool pie_watch_is_on(void) {
    return pie_watch_settings() != NULL;
}

static bool arm(struct pie_thread *thread, unsigned index, uint64_t address, _Atomic uint64_t *word,
                uint64_t armed) {
    struct pie_watch_slot *slot = &pie_watch_of(thread)->slots[index];

    if (slot->stage == PIE_WATCH_COPY)
        pie_watch_copy_lost(slot);
    slot->seen = 0;
    slot->serial = ++pie_watch_of(thread)->serial & PIE_WATCH_SERIAL_MASK;
    slot->copy = word;
    slot->copy_armed = armed;
    slot->stage = PIE_WATCH_COPY;
    slot->address = address;
    slot->size = sizeof(uint64_t);
    slot->kind = PIE_WATCH_STORE;
    slot->is_call = false;
    __atomic_store_n(&slot->first_node.value, 0, __ATOMIC_RELAXED);
    atomic_store_explicit(word, armed, memory_order_relaxed);
    if (!pie_watch_try_arm(thread, index, PIE_DEBUG_STORE, address, sizeof(uint64_t))) {
        pie_watch_free_slot(thread, index);
        return false;
    }
    pie_watch_enter_stage(slot, PIE_WATCH_COPY);
    return true;
}

static bool has_credit(struct pie_thread *thread, const struct pie_watch_settings *settings) {
    struct pie_watch_thread *watch = pie_watch_of(thread);

    return pie_watch_has_credit(thread, settings) ||
           (watch->credit_ns > -DEBT_NS && pie_watch_random(watch) % DEBT_ONE_IN == 0);
}

static void charge(struct pie_thread *thread, uint64_t since_ns) {
    pie_watch_of(thread)->credit_ns -= (int64_t)pie_watch_spent_since(thread, since_ns);
}

void pie_watch_copy_give_up(struct pie_thread *thread) {
    int index = slot_of_copy(pie_watch_of(thread));

    if (index >= 0 && thread->cpu_last_ns > pie_watch_of(thread)->slots[index].copy_until_ns)
        pie_watch_free_slot(thread, (unsigned)index);
}

bool pie_watch_copy(struct pie_thread *thread, uint64_t address, _Atomic uint64_t *word, uint32_t serial,
                    uint64_t longest_ns) {
    const struct pie_watch_settings *settings = pie_watch_settings();
    uint64_t start_ns = pie_monotonic_ns();

    if (!settings || start_ns < pie_watch_of(thread)->retry_ns || !has_credit(thread, settings) ||
        !can_trap())
        return false;
    int index = choose_slot(thread);
    bool is_armed = index >= 0 &&
                    arm(thread, (unsigned)index, address, word, (uint64_t)serial << 2 | PIE_WATCH_COPY_KEPT);
    if (is_armed)
        pie_watch_of(thread)->slots[index].copy_until_ns = thread->cpu_last_ns + longest_ns;
    pie_watch_catch_up(thread);
    charge(thread, start_ns);
    return is_armed;
}

void pie_watch_copy_over(struct pie_thread *thread, const _Atomic uint64_t *word) {
    int index = slot_of_copy(pie_watch_of(thread));

    if (index < 0 || pie_watch_of(thread)->slots[index].copy != word)
        return;
    uint64_t start_ns = pie_monotonic_ns();
    pie_watch_free_slot(thread, (unsigned)index);
    pie_watch_catch_up(thread);
    charge(thread, start_ns);
}
