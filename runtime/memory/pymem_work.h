/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Work that takes PIE_WORK_BLOCKS blocks of Python's and gives them back, by which the price of counting one is
 * measured. Context: hook (with the GIL). */

enum { PIE_WORK_BLOCKS = 512 };

void pie_work_small(void);   /* pymalloc's own */
void pie_work_large(void);   /* too large for it */
void pie_work_numbers(void); /* integers */
void pie_work_objects(void);

/* The shortest of several rounds. */
uint64_t pie_work_least_ns(void (*work)(void), int rounds);
