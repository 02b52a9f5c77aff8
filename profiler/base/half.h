/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The calling context tree and the store of code have two halves, 0 and 1, which take turns (turn.h). */

/* The half in which who enters now works. Context: any. */
unsigned pie_half_current(void);

/* From now on the calling thread works in the current half; pie_half_own(): in which one it does. To be called before
 * anything that makes a node or a code id, and after the call that shows others that this thread may be at it
 * (pie_thread_enter()). Context: signal, drain. */
void pie_half_enter(void);
unsigned pie_half_own(void);

/* Makes a half the current one. Context: drain, engine start, fork child. */
void pie_half_set(unsigned half);
