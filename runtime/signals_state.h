/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Shared by the two halves of runtime/signals: what the program set for signals that are ours, and the originals. */

enum { PIE_SIGNALS_MAX = 64 };

/* A virtual disposition is replaced whole: writers fill the other copy and publish it (release); handlers read the
 * published one (acquire). Writers are serialised by a lock that no handler takes. */
struct pie_virtual_action {
    struct sigaction copies[2];
    _Atomic unsigned current;
};

extern struct pie_virtual_action pie_virtual_actions[PIE_SIGNALS_MAX + 1];

/* Context: signal. */
bool pie_signals_is_ours(int signal);
const struct sigaction *pie_signals_virtual(int signal);

/* The original sigaction(). Context: signal. */
int pie_real_sigaction(int signal, const struct sigaction *action, struct sigaction *ret_old);

/* Sets the virtual disposition. Context: any but signal, except for SA_RESETHAND. */
void pie_signals_set_virtual(int signal, const struct sigaction *action);
