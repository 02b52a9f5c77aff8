/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/ids.h"
#include "profiler/ports/sink.h"

#include <stddef.h>
#include <stdint.h>

struct pie_pystack_ops;
struct pie_wait_await;

/* Whose time is it when an event loop waits? If the innermost frames of a stopped thread, whose CCT keys are given, are
 * those of asyncio's loop with nothing to run, or the thread waits as an event loop in native code does: writes where
 * and why its tasks are suspended (at most PIE_WAIT_AWAITS_MAX of them), and returns their number. 0: it is something
 * else that waits, or no task is known. Context: drain. */
uint32_t pie_wait_awaits_find(const struct pie_pystack_ops *ops, uintptr_t tstate, enum pie_wait_cause cause,
                              const uint64_t *keys, size_t n, struct pie_wait_await *ret_awaits);
