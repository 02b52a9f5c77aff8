/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Counts how often machine code of the process was unloaded or changed. Facts about the code at an address are valid
 * for one generation. */

/* From 1; never 0. Context: signal. */
uint32_t pie_code_generation(void);

/* Libraries were unloaded, or changed: a new generation begins. A few nanoseconds. Context: signal. */
void pie_code_begin_generation(void);

/* A library may be unloaded from now on; or not any more, if !begins. Context: hook. */
void pie_code_unloading(bool begins);
/* May a library be unloaded at this moment? Facts found by address must not be kept then. Context: signal. */
bool pie_code_is_unloading(void);
/* Context: fork child. */
void pie_code_forget_unloading(void);
