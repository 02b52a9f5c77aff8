/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* Is there the lock that CPython takes when its allocators are asked for or set? Where memory runs out as its runtime
 * begins, 3.12 goes on without one, and crashes where it is taken. Other versions need none. Context: engine start. */
bool pie_python_has_allocator_lock(void);
