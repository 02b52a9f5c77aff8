/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/base/counters.h"
#include "profiler/ports/pystack.h"
#include "profiler/ports/sink.h"
#include "profiler/thread/thread.h"
#include "profiler/watch/drain.h"
#include "profiler/watch/watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A stage for what the collection thread makes of watches: one thread's rings, made-up Python code whose offset n is
 * line n / 10 and operation n % 10, real names and real machine code to decode. */

/* Instructions that touch (%rdi); the label stands behind each. */
extern char drain_loaded[], drain_stored[], drain_counted[], drain_both[], drain_float_loaded[], drain_end[];

extern struct pie_thread *drain_thread;
extern struct pie_watch_drain *drain;

int drain_set_up(void **tolerance); /* the initial state: a double, or NULL for 0 */
int drain_tear_down(void **state);
#define DRAIN(test) cmocka_unit_test_setup_teardown(test, drain_set_up, drain_tear_down)
/* As text, for cmocka's initial state. */
#define DRAIN_CLOSE(test, tolerance)                                                                         \
    {                                                                                                        \
        #test, test, drain_set_up, drain_tear_down, &(double) {                                              \
            tolerance                                                                                        \
        }                                                                                                    \
    }

/* The context of a native instruction called by a line of a function: main() -> function(): line -> native. */
struct pie_cct_id drain_context(uint32_t code, uint32_t offset, const void *native);

/* A record as the handler leaves it, put into the thread's ring; drain_now() takes all. */
struct pie_watch_record drain_begin(uint32_t serial, enum pie_watch_kind kind, struct pie_cct_id node);
struct pie_watch_record drain_end_of(const struct pie_watch_record *begin, enum pie_watch_outcome outcome);
/* … by a trap behind an instruction, in a context of line 9. */
struct pie_watch_record drain_trap_of(const struct pie_watch_record *begin, enum pie_watch_outcome outcome,
                                      const char *behind);
void drain_push(const struct pie_watch_record *record);
void drain_now(void);

/* The only row; there must be just one. */
const struct pie_watch_row *drain_row(void);
size_t drain_rows(void);
