/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/thread/thread.h"
#include "profiler/watch/debug_registers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Real debug registers. Both ways to them (debug_registers.h), as rows of a table for tests that hold for each. */

struct hardware_way {
    const char *name;
    const struct pie_debug_ops *ops;
    bool is_hidden;
};
extern const struct hardware_way hardware_ways[2];

/* Can breakpoints be had this way? If not, says so as a TAP plan of no tests. Before cmocka runs. */
bool hardware_is_there(const struct hardware_way *way);

/* A collection thread, whose table of descriptors is its own: opens events for threads that ask for them. For both
 * ways. */
void hardware_keep(void);
void hardware_stop_keeping(void);
/* Waits until it has served every thread. */
void hardware_await(void);
/* perf events among its descriptors; -1: there is no such thread. */
int hardware_kept(void);

/* perf events among the descriptors of the calling thread; their lowest number, if not NULL. */
int hardware_descriptors(int *ret_lowest);

/* arm(), with what the kernel and the keeper need of time. Returns its result. */
int hardware_arm(const struct hardware_way *way, struct pie_thread *thread, unsigned index,
                 enum pie_debug_kind kind, const volatile void *address, unsigned length, uint64_t cookie);

/* Traps of the calling process since the last call, by cookie's lowest byte. */
void hardware_take_traps(void);
unsigned hardware_traps(uint8_t cookie);
