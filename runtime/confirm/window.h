/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "runtime/confirm/confirm.h"

#include <stdbool.h>
#include <stdint.h>

/* A counted window, between windows.c, which begins and ends it, and window_311.c or window_312.c, which sees the calls
 * of the main thread meanwhile. All but three of it are called with the GIL held. */

/* To be called once, first of all. From then on a window is closed before the program traces or profiles. False: this
 * Python has no windows. */
bool pie_window_prepare(void);

/* From now on this thread's calls are seen, those of frames that are running already, too. function_line: as in struct
 * pie_window_limits. False: somebody else sees them, or evaluates frames. */
bool pie_window_see(int32_t function_line);
/* … and not any more, also from another thread. What was changed is as before. */
void pie_window_unsee(void);
/* The same in a forked child and where the interpreter ends: it is asked for nothing. What was changed is as before
 * now or when it is next met. Context: gil, fork child. */
void pie_window_leave(void);

/* Adds a pending call of the main interpreter. False: there are too many. As below. */
bool pie_window_ask(int (*call)(void *));
/* Has the main thread look for pending calls, while the interpreter is there. Needs no GIL. Context: drain. */
void pie_window_wake(void);

/* What seeing has cost, since then. */
uint64_t pie_window_cost_ns(void);
/* Calls that were counted since then. */
uint64_t pie_window_calls(void);
/* Is a call of a counted line going on, in the frame that is at work? Its next instruction is an event. */
bool pie_window_is_in_call(void);

/* Is the window over? Ends it then. */
void pie_window_check(uint64_t now_ns);
/* Has it cost so much that it is over, though no event came? Ends it then. */
void pie_window_check_cost(void);
/* Ends it, if one is open. */
void pie_window_close(void);
