/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <Python.h>

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

/* Switches the trace function of a thread on or off. What the program has set meanwhile stays. */
void pie_confirm_set_tracing(PyThreadState *tstate, Py_tracefunc trace, bool is_on);
/* Does anybody but this function see the thread's frames? */
bool pie_confirm_is_traced_by_others(const PyThreadState *tstate, Py_tracefunc trace);
