/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Numbers for the names that a program gave its tasks. They are data of the program: the first of them keep their
 * names, and all others share one. */

enum {
    PIE_TASK_NONE = 0,     /* no task */
    PIE_TASK_UNNAMED = 1,  /* tasks without a name */
    PIE_TASK_NAMES = 256,  /* that are told apart, with the one for all others */
};

/* name may be empty. Context: signal, drain. */
uint16_t pie_task_names_intern(const char *name);

/* NULL for the first two. Valid for ever. Context: signal, drain. */
const char *pie_task_names_get(uint16_t task);

/* Context: fork child. */
void pie_task_names_forget(void);
