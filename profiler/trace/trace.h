/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/trace_settings.h"
#include "profiler/race/racing.h"

#include <stdbool.h>
#include <stdint.h>

/* Traced loops (Paikana §3). A newcomer's map of an iteration:
 *
 *   runtime/trace/loop.c     the iterator that a loop runs over; asks here how to treat the next iteration
 *   runtime/trace/calls_311.c, …   distinguishes the calls of an observed iteration and times them
 *   here                     the findings of each call site, and the choice of iterations to look at
 *   profiler/race/racing.c        the call sites that need no more looking at
 *   profiler/trace/estimate.c  from observed iterations to the time of all iterations
 *   profiler/trace/rows.c    shares and their intervals, for the collection thread
 *
 * There are three kinds of iterations. Most are left alone. Some are timed as a whole, which costs two readings of the
 * clock and gives the time of an iteration without observation. Some are observed, call by call. A random draw chooses
 * them, so that it does not follow a rhythm of the program, and so rarely that observing stays a small part of the
 * loop's time. The first ones are all looked at.
 *
 * An epoch is a second or so. In each one all call sites race anew; the findings of an epoch stand for its own
 * iterations.
 *
 * All functions are called with the GIL held, which protects a loop. Loops are published for the collection thread
 * behind a lock of its own. Times in ns. */

struct pie_sink;
struct pie_trace_loop;

enum { PIE_TRACE_LOOPS_MAX = 64 };

/* From then on loops are traced; NULL: not. Borrowed. Context: launcher. */
void pie_trace_configure(const struct pie_trace_settings *settings);
bool pie_trace_is_on(void);

/* Calls this before the first loop is opened: nobody else may see the instructions of a frame then. Context: hook. */
void pie_trace_before_first(void (*call)(void));

/* The loop at this place, as one struct however often it is entered. NULL: there are too many, or no memory. Strings
 * are copied. Context: hook. */
struct pie_trace_loop *pie_trace_open(const char *file, int32_t line, const char *function);

/* How often it was entered. */
uint64_t pie_trace_entries(const struct pie_trace_loop *loop);

/* From 1. */
uint32_t pie_trace_loop_id(const struct pie_trace_loop *loop);

/* The number, from 1, of the call site at this place of the loop's code; 0: there are too many. unit: its instruction.
 * callee: the function it calls at its first execution. */
unsigned pie_trace_add_call(struct pie_trace_loop *loop, uint32_t unit, int32_t line, const char *callee,
                            bool is_native);

enum pie_trace_look { PIE_TRACE_TIME = 1, PIE_TRACE_OBSERVE };

/* The iteration to look at next (1 is the next one, 2 the one after), and how. Adds `iterations` that have begun since
 * the last time. */
uint32_t pie_trace_next(struct pie_trace_loop *loop, uint64_t iterations, enum pie_trace_look *ret_look);

/* The loop is entered; it is left, with the number of iterations since the last pie_trace_next(). */
void pie_trace_enter(struct pie_trace_loop *loop);
void pie_trace_leave(struct pie_trace_loop *loop, uint64_t iterations);

/* A call in an observed iteration took so long. */
void pie_trace_call(struct pie_trace_loop *loop, unsigned call, uint64_t ns);

/* An observed iteration. */
struct pie_trace_observed {
    double
        own_ns; /* time of its instructions that call nothing, less the cost of observing them: negative, too */
    double own_steps; /* how many these were */
    double called_ns; /* time of all its calls, wanted or not */
    double calls;     /* how many these were */
    double step_ns;   /* cost of observing an instruction, about */
    double cost_ns;   /* of observing the iteration */
};

/* An iteration has ended that was looked at. */
void pie_trace_observed(struct pie_trace_loop *loop, const struct pie_trace_observed *observed);
void pie_trace_timed(struct pie_trace_loop *loop, uint64_t begun_ns, uint64_t ended_ns); /* CLOCK_MONOTONIC */

/* An iteration could not be observed to its end: its calls do not count. why: one sentence, static. */
void pie_trace_lost(struct pie_trace_loop *loop, const char *why);

/* The program is over: publishes everything measured since the last time. Context: hook (no loop runs any more). */
void pie_trace_finish(void);

/* The cost of observing and timing so far, about, ns. Context: drain. */
uint64_t pie_trace_spent_ns(void);

/* Writes everything published since the last time. Returns 0 or the sink's result. Context: drain. */
int pie_trace_drain(struct pie_sink *sink);

/* In a forked child: nothing was measured yet. Context: fork. */
void pie_trace_forget(void);
