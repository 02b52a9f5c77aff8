/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <signal.h>
#include <stdint.h>

struct pie_pystack_ops;

/* The program's signals and ours. We take the signal of the clock in use (SIGTRAP, a real-time signal or SIGPROF),
 * SIGSEGV and SIGBUS (loads that may fault). For these the exported sigaction() and signal() keep a virtual
 * disposition: the program sees its own setting, and its handler is called for every delivery that is not ours. Such
 * signals are never really blocked; the exported pthread_sigmask() and sigprocmask() remember that the program believes
 * so. All other signals pass through untouched. */

/* Resolves the originals and installs the handler of faults; stacks: how samples read them. Returns 0 or -errno.
 * Context: launcher (before Python starts, on the main thread). */
int pie_signals_install(const struct pie_pystack_ops *stacks);

/* Installs the clock's handler for this signal too. Returns 0 or -errno. Context: drain. */
int pie_signals_take(int signal);

/* A bit for each of our signals that the calling thread believes to have blocked. Context: any. */
uint64_t pie_signals_virtual_mask(void);
/* On a new thread: it inherits its creator's virtual mask, and ours must really be open. Context: hook. */
void pie_signals_thread_started(uint64_t virtual_mask);
/* In a forked child. Context: fork child. */
void pie_signals_fork_child(void);

/* The handlers. Context: signal. */
void pie_signals_on_clock(int signal, siginfo_t *info, void *context);
void pie_signals_on_fault(int signal, siginfo_t *info, void *context);
