/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Loads that may fault. pie_safe_load() is a few instructions of assembly; if its load faults, the SIGSEGV/SIGBUS
 * handler (runtime/libc/signals_sigsafe.c) asks pie_safe_load_fix() where to go on, and the load returns false. The
 * idea is HotSpot's SafeFetch. SIGSEGV and SIGBUS must not be blocked while it is used. Context: signal, drain. */

/* Loads one word from any address. *ret is untouched when it returns false. */
bool pie_safe_load(const void *address, uintptr_t *ret);

/* Loads one byte and touches none beside it, which may be watched by a debug register. */
bool pie_safe_load_byte(const void *address, uint8_t *ret);

/* Copies size bytes; false if any part is unreadable (dst is then partly written). */
bool pie_safe_copy(void *dst, const void *src, size_t size);

/* Copies words; neither address need be aligned. false if any is unreadable: those before it have been written. */
bool pie_safe_words(void *dst, const void *src, size_t words);

/* Are the words at two addresses the same? False also if any is unreadable. Addresses need not be aligned. */
bool pie_safe_equal(const void *a, const void *b, size_t words);

/* If pc is the load of one of these: the address to continue at, else 0. */
uintptr_t pie_safe_load_fix(uintptr_t pc);
