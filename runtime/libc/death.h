/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <signal.h>
#include <stdbool.h>

/* Death by a signal whose default action is to end the process without a core: SIGTERM, SIGHUP and their like. Where
 * the program has the default, our handler stands: it has the profile written, for a bounded time, and then lets the
 * signal take its default action. The program sees the default. Masks, waits and pending signals are the kernel's as
 * always, since nothing but the disposition is ours. Where the program has anything else, ignored or a handler, that
 * stands.
 *
 * Signals that leave a core keep the kernel's default: the core must show the culprit. SIGKILL cannot be handled. */

/* Signals of this kind that have the default get our handler. Not in process 1 of a container, which the kernel spares.
 * Context: launcher (before Python starts, on the main thread). */
void pie_death_install(void);
/* The program has the dispositions for itself from now on: one of its threads may make few system calls.
 * Context: hook. */
void pie_death_release(void);
/* In a forked child. Context: fork child. */
void pie_death_fork_child(void);

/* Is the default action of this signal shown and not set? Not in a child of vfork(). Context: any. */
bool pie_death_is_shown(int signal);
/* sigaction() for such a signal. Context: any. */
int pie_death_sigaction(int signal, const struct sigaction *action, struct sigaction *ret_old);
/* The disposition that the program may see, from the one that the C library returned. Context: any. */
__sighandler_t pie_death_handler_seen(__sighandler_t handler);

/* The process has been asked to end by a signal of this kind, on another thread: waits until it does, one second at
 * most. Called where the program would end in another way first. Keeps errno. Context: any (not the dying thread). */
void pie_death_await(void);
/* A thread other than the main one has sent the signal to its own process, which the kernel would not let it survive:
 * waits until the main thread has taken it. Keeps errno. Context: any. */
void pie_death_sent(int signal);

/* The handler. Context: signal. */
void pie_death_on_signal(int signal, siginfo_t *info, void *context);
