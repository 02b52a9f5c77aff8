/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/pystack.h"

/* Functions that make calls for the evaluation loop and take the arguments from the caller's evaluation stack. The last
 * one has no end. */
extern struct pie_code_range pie_takers[];

/* Finds them. Context: engine start. */
void pie_takers_find(void);
