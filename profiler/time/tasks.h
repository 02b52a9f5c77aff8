/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

struct pie_call_path;
struct pie_pystack_ops;

/* Tasks of event loops: numbers for the names that a program gave them, and whose step a sample is of. Names are data
 * of the program: the first of them keep theirs, and all others share one. */

enum {
    PIE_TASK_NONE = 0,    /* no task */
    PIE_TASK_UNNAMED = 1, /* tasks without a name */
    PIE_TASK_NAMES = 256, /* different ones, with the one for all others */
};

/* name may be empty. Context: signal, drain. */
uint16_t pie_task_names_intern(const char *name);

/* NULL for the first two. Valid until pie_task_names_forget(). Context: signal, drain. */
const char *pie_task_names_get(uint16_t task);

/* Context: fork child. */
void pie_task_names_forget(void);

/* The task that a sample of CPU time belongs to. */
struct pie_sample_task {
    uint16_t name; /* pie_task_names_intern(); PIE_TASK_NONE: it belongs to none */
    uint8_t up;    /* steps from the sample's node up to the one where the task's own coroutine begins */
};
enum { PIE_SAMPLE_TASK_UP_UNKNOWN = UINT8_MAX }; /* it is not on the stack, or cannot be read */

/* Finds the task of the calling thread, whose path has just been taken. Context: signal. */
struct pie_sample_task pie_sample_task_find(const struct pie_pystack_ops *ops, uintptr_t tstate,
                                            const struct pie_call_path *path);
