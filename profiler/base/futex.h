/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* futex(2) on a word of this process. Context: any. */

/* Sleeps while *word is `value`, at most timeout_ns; may return early. */
void pie_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns);
/* Wakes all that sleep on it. */
void pie_futex_wake(_Atomic uint32_t *word);
