/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "runtime/code/arguments.h"

#include <stdbool.h>
#include <stdint.h>

/* Between call_read_sigsafe.c and call_work_sigsafe.c. Context: signal. */

/* Notes the length and the beginning of text, bytes, an array, a list or a tuple. False: it is none, or shorter than
 * bytes_min. */
bool pie_read_note_value(uintptr_t object, uint64_t bytes_min, struct pie_call_read *read);

/* What the interpreter's own types and modules are doing for a call: enum pie_read_kind, from CHOICE on. False: nothing
 * of that. */
bool pie_read_note_work(const struct pie_call_arguments *arguments, uintptr_t callable, bool is_borrowed,
                        struct pie_call_read *read);

/* A list or tuple that + copies. instr is the instruction. */
bool pie_read_note_join(const struct pie_call_arguments *operands, uintptr_t instr,
                        struct pie_call_read *read);

/* a[i] or a[i] = x of this container, whose first operand lies at `at` of the evaluation stack; 0: another
 * instruction. */
void pie_read_note_fold(uintptr_t container, uintptr_t at, struct pie_call_read *read);
