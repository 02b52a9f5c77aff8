/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct pie_pystack_ops;

/* Shared by the two halves of runtime/signals: the program's settings for signals that are ours, and the originals. */

enum { PIE_SIGNALS_MAX = 64, PIE_SIGNALS_QUEUED = 32 /* this one and later ones: SIGRTMIN of the kernel */ };

/* A virtual disposition is replaced whole: writers fill the other copy and publish it (release); handlers read the
 * published one (acquire). Writers are serialised by a lock that no handler takes. */
struct pie_virtual_action {
    struct sigaction copies[2];
    _Atomic unsigned current;
};

typedef int (*pie_sigaction_fn)(int, const struct sigaction *, struct sigaction *);

/* Bits as in the kernel's signal sets. Context: signal. */
uint64_t pie_signals_bit(int signal);
uint64_t pie_signals_our_bits(void);
bool pie_signals_is_ours(int signal);
/* From now on ours: its virtual disposition has been set. Context: any (not signal). */
void pie_signals_add_ours(int signal);

/* The program's settings. Context: signal. */
const struct sigaction *pie_signals_virtual(int signal);
/* See pie_signals_virtual_mask() in signals.h. */
void pie_signals_set_virtual_mask(uint64_t mask);
/* Context: any (not signal, but for SA_RESETHAND). */
void pie_signals_set_virtual(int signal, const struct sigaction *action);

/* Whether there is a virtual state: not before the handlers are in place, nor in a child of vfork(). Context: any. */
bool pie_signals_are_virtual(void);
/* Whether this delivery of one of our signals is the profiler's own doing. Context: signal. */
bool pie_signals_sent_by_us(const siginfo_t *info);

/* The profiler's own signals that wait on this thread behind one that is held for the program are taken. Context: any
 * (not signal). */
void pie_signals_open_ours(void);
/* The program's signal that was sent to this thread and is held for it, NULL if there is none. A signal below the
 * real-time ones is not queued: where one of the profiler's waits already, the kernel drops the program's. So it is
 * kept here too, until it has been handled or taken by a wait. Context: signal. */
const siginfo_t *pie_signals_held(int signal);
void pie_signals_hold(int signal, const siginfo_t *info);
void pie_signals_let_go(int signal);

/* Finds the originals of the exported sigtimedwait() and sigpending(). Context: any (not signal). */
void pie_signals_resolve_waits(void);
/* … sigsuspend(), ppoll(), pselect() and epoll_pwait(). Context: any (not signal). */
void pie_signals_resolve_suspends(void);

/* Debug registers are set by ptrace, whose traps end the process where SIGTRAP is blocked
 * (profiler/watch/debug_registers.h): *mask without it, in *copy, else mask itself. Context: signal. */
const sigset_t *pie_signals_open_traps(const sigset_t *mask, sigset_t *copy);

/* The original sigaction(), once it is set. Context: signal. */
int pie_real_sigaction(int signal, const struct sigaction *action, struct sigaction *ret_old);
void pie_signals_set_real(pie_sigaction_fn real);

/* How handlers read Python stacks; set before they are installed. Context: signal. */
const struct pie_pystack_ops *pie_signals_stacks(void);
void pie_signals_set_stacks(const struct pie_pystack_ops *stacks);
