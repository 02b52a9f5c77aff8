/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The evaluation stack of a frame that sys.monitoring has stopped (slots_312.c, slots_314.c). Context: gil. */

struct _object;
struct PyCodeObject;
struct _PyInterpreterFrame;

/* Where the stack ends when it is so deep. The objects lie below; the last `count` of them at least may be read, and
 * NULL stands for a slot with none. Valid until the next call of this. NULL: there is no memory. */
struct _object **pie_confirm_slots(struct _PyInterpreterFrame *frame, const struct PyCodeObject *code,
                                   int depth, int count);
