/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "runtime/confirm/sites.h"

struct _PyInterpreterFrame;

/* A frame whose instructions are seen one by one, on CPython 3.11. A generator has one from each resumption to the next
 * yield. All of it is called with the GIL held. */
struct pie_confirm_activation {
    struct pie_confirm_activation *outer;
    struct _PyInterpreterFrame *frame;
    struct pie_confirm_code *code; /* NULL: no line of it is counted */
    int unit;                      /* of the last event */
    struct pie_confirm_ongoing ongoing;
};

/* An event of the trace function (PyTrace_…). Returns whether a call ended with it. */
bool pie_confirm_step(struct pie_confirm_thread *thread, struct pie_confirm_activation *here, int what,
                      uint64_t now_ns);
