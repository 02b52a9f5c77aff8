/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <signal.h>
#include <stdbool.h>

/* Shared by the two halves of runtime/death. */

/* A real disposition that is our handler. Context: signal. */
bool pie_death_is_our_action(const struct sigaction *action);
/* Our handler stands in for the default action of this signal just now. Context: signal. */
bool pie_death_is_ours(int signal);
/* No signal has come yet. Context: fork child. */
void pie_death_forget(void);
