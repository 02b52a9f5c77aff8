/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

struct pie_call_path;
struct pie_pystack_ops;

/* The task of an event loop that a sample of CPU time belongs to. */
struct pie_sample_task {
    uint16_t name; /* pie_task_names_intern(); PIE_TASK_NONE: it belongs to none */
    uint8_t up;    /* so many steps above the sample's node the task's own coroutine begins; … */
};

enum { PIE_SAMPLE_TASK_UP_UNKNOWN = UINT8_MAX }; /* … it is not on the stack, or cannot be read */

/* Finds the task of the calling thread, whose path has just been taken. Context: signal. */
struct pie_sample_task pie_running_task_find(const struct pie_pystack_ops *ops, uintptr_t tstate,
                                             const struct pie_call_path *path);
