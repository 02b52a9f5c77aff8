/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How the profile of a process ends: whoever claims it gives the collection thread the cause, and waits until that has
 * written everything. Apart from engine.h and collector.h, because a handler does it too. */

/* The process that is profiled; 0: none. A child of vfork() has another id and our memory. Context: engine start,
 * fork. */
void pie_ending_set_owner(int32_t pid);
/* This process is the owner. Context: any. */
bool pie_ending_is_owner(void);
/* Has the end of the profile been claimed? Context: any. */
bool pie_ending_is_claimed(void);
/* Claims the end. True for the first caller. Context: any. */
bool pie_ending_claim(void);

/* Asks the collection thread to write everything. cause: static text; as in pie_sink_ops.end_process. Context: any. */
void pie_ending_ask(const char *cause, int exit_status);
/* Has the collection thread been asked? Context: any. */
bool pie_ending_is_asked(void);
/* The arguments of pie_ending_ask(). Context: drain (after it was called). */
const char *pie_ending_cause(void);
int pie_ending_exit_status(void);
/* The collection thread has written everything. Context: drain. */
void pie_ending_done(void);
/* Sleeps until everything is written, at most timeout_ns, or shorter. True: it is written. Context: any. */
bool pie_ending_wait(uint64_t timeout_ns);

/* The collection thread sleeps until the number of wakes grows beyond `wakes`. Context: any, drain. */
uint32_t pie_ending_wakes(void);
void pie_ending_wake(void);
void pie_ending_sleep(uint32_t wakes, uint64_t timeout_ns);

/* In a forked child: there is no collection thread yet; what was claimed stays so. Context: fork child. */
void pie_ending_forget(void);
