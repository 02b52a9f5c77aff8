/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/pystack.h"

/* Where the tasks of an event loop that waits are suspended, read from the memory of asyncio and of coroutines without
 * the GIL. */

/* See pie_pystack_ops.awaits. Context: drain. */
size_t pie_awaits_find(uintptr_t tstate, uint64_t random, struct pie_pyframe *frames, size_t max_frames,
                       struct pie_await *awaits, size_t max);
