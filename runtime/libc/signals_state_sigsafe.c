/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/libc/signals_state.h"

#include "profiler/watch/debug_registers.h"
#include "runtime/libc/signals.h"

#include <stddef.h>

/* All of it is kept in a forked child, which has the same handlers. */
static struct pie_virtual_action actions[PIE_SIGNALS_MAX + 1];
static _Atomic uint64_t ours; /* release in add_ours(), acquire in our_bits(): the virtual action is set */
static pie_sigaction_fn real_sigaction;
static const struct pie_pystack_ops *stacks;

/* A new thread gets its creator's. */
static __thread uint64_t virtual_mask __attribute__((tls_model("initial-exec")));

/* Of SIGTRAP and of the timer's signal; si_signo is 0 where none is held. A new thread has none, as in the kernel. */
static __thread siginfo_t held[2] __attribute__((tls_model("initial-exec")));

static siginfo_t *held_slot(int signal) {
    return &held[signal == SIGTRAP];
}

const siginfo_t *pie_signals_held(int signal) {
    const siginfo_t *slot = held_slot(signal);

    return slot->si_signo == signal ? slot : NULL;
}

void pie_signals_hold(int signal, const siginfo_t *info) {
    if (pie_signals_is_ours(signal) && signal < PIE_SIGNALS_QUEUED)
        *held_slot(signal) = *info;
}

void pie_signals_let_go(int signal) {
    siginfo_t *slot = held_slot(signal);

    if (slot->si_signo == signal)
        slot->si_signo = 0;
}

uint64_t pie_signals_virtual_mask(void) {
    return virtual_mask;
}

void pie_signals_set_virtual_mask(uint64_t mask) {
    virtual_mask = mask;
}

uint64_t pie_signals_bit(int signal) {
    return UINT64_C(1) << (signal - 1);
}

uint64_t pie_signals_our_bits(void) {
    return atomic_load_explicit(&ours, memory_order_acquire);
}

bool pie_signals_is_ours(int signal) {
    return signal >= 1 && signal <= PIE_SIGNALS_MAX && (pie_signals_our_bits() & pie_signals_bit(signal));
}

void pie_signals_add_ours(int signal) {
    atomic_fetch_or_explicit(&ours, pie_signals_bit(signal), memory_order_acq_rel);
}

const struct sigaction *pie_signals_virtual(int signal) {
    struct pie_virtual_action *action = &actions[signal];

    return &action->copies[atomic_load_explicit(&action->current, memory_order_acquire)];
}

void pie_signals_set_virtual(int signal, const struct sigaction *action) {
    struct pie_virtual_action *slot = &actions[signal];
    unsigned next = !atomic_load_explicit(&slot->current, memory_order_relaxed);

    slot->copies[next] = *action;
    atomic_store_explicit(&slot->current, next, memory_order_release);
}

int pie_real_sigaction(int signal, const struct sigaction *action, struct sigaction *ret_old) {
    return real_sigaction(signal, action, ret_old);
}

void pie_signals_set_real(pie_sigaction_fn real) {
    real_sigaction = real;
}

const struct pie_pystack_ops *pie_signals_stacks(void) {
    return stacks;
}

void pie_signals_set_stacks(const struct pie_pystack_ops *new_stacks) {
    stacks = new_stacks;
}

const sigset_t *pie_signals_open_traps(const sigset_t *mask, sigset_t *copy) {
    if (!mask || !pie_debug_ptrace_is_used() || !sigismember(mask, SIGTRAP))
        return mask;
    *copy = *mask;
    sigdelset(copy, SIGTRAP);
    return copy;
}
