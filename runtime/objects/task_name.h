/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/pystack.h"

/* Reads a task's name, a str object. Empty: it is none, or unreadable, or "Task-" and a number, which asyncio gives to
 * tasks that have no name. Every load is fault-tolerant. Context: signal, drain. */
void pie_task_name_read(uintptr_t name, char ret_name[PIE_AWAIT_NAME_BYTES]);
