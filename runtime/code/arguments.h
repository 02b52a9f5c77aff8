/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <patchlevel.h>

#include "profiler/ports/pystack.h"

#include <stdbool.h>
#include <stdint.h>

/* The arguments of the native call that the calling thread is in, or that has just returned to its evaluation loop:
 * they lie on the evaluation stack of the Python frame until the loop goes on. */

/* See pie_pystack_ops.call_digest. Context: signal. */
bool pie_code_arguments_digest(const struct pie_value *result, struct pie_call_digest *ret_digest);

/* See pie_pystack_ops.python_calls. Of 3.11 only. */
extern const struct pie_python_call_ops pie_code_python_calls;

/* See pie_pystack_ops.array_argument. Context: signal. */
uint64_t pie_code_arguments_array(uintptr_t address, uintptr_t result);

/* See pie_pystack_ops.call_read and .sorted_read. Context: signal. */
bool pie_code_call_read(const struct pie_pyframe *frame, struct pie_call_read *ret_read);
bool pie_code_sorted_read(struct pie_call_read *read);

/* Code ids are going to be used again for other code. Context: drain. */
void pie_code_arguments_forget(void);

/* --- between these files; Context: signal --- */

enum pie_call_shape {
    PIE_CALL_UNKNOWN = 1, /* the depth of the stack is not known, or it is no call */
    PIE_CALL_PLAIN,       /* two slots for the callable and its self, then `count` arguments */
    PIE_CALL_NAMED,       /* … and their names */
    PIE_CALL_TUPLE,       /* the callable, a tuple, and with count 1 a dict (from 3.14 on: or nothing) */
    PIE_CALL_OPERANDS,    /* no call, but an operator or a[i]: `count` operands */
    PIE_CALL_CONTAINS,    /* … `in`: an item, and where it is searched */
    PIE_CALL_PUT,         /* … a[i] = x: x, a, i; never compared */
};

/* An instruction that calls, and how many slots of the evaluation stack are in use when it begins. */
struct pie_call_site {
    uint16_t depth;
    uint8_t count, shape;
};

/* The arguments of a call at a site, whose stack ends below top. False: they cannot be found. */
bool pie_call_arguments_read(const struct pie_call_site *site, uintptr_t top,
                             struct pie_call_arguments *ret_arguments);

/* The objects of a call, by an operator too, without their digests; content is that of what is called, which is at
 * *ret_callable (0: an operator). The items of a tuple of arguments stand for it. *ret_borrowed has a bit for each
 * object of the stack whose own count does not include it. False: they cannot be found. */
bool pie_call_arguments_find(const struct pie_call_site *site, uintptr_t top,
                             struct pie_call_arguments *ret_arguments, uintptr_t *ret_callable,
                             uint32_t *ret_borrowed);

/* With the result. */
void pie_call_arguments_digest(const struct pie_call_arguments *arguments, const struct pie_value *result,
                               struct pie_call_digest *ret_digest);

/* Of a unit of an interned code object. */
struct pie_call_site pie_call_site_find(uint32_t code_id, uint32_t unit);

/* What a slot of an evaluation stack refers to; 0: nothing. False: it cannot be read. */
bool pie_call_slot_read(uintptr_t at, uintptr_t *ret_object);

/* How far below the tuple of arguments lies what is called. */
enum { PIE_CALL_BELOW_TUPLE = (PY_VERSION_HEX >= 0x030d0000 ? 2 : 1) * sizeof(uintptr_t) };

/* The site of the native call that the calling thread is in, and the address of the first slot behind those in use
 * then. False: not known. */
bool pie_call_site_current(struct pie_call_site *ret_site, uintptr_t *ret_top);
