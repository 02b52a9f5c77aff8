/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE

#include "runtime/confirm/steps_311.h"

/* The trace function sees each instruction: operands lie on the frame's stack before it, the result before the next
 * one. */

static PyObject **top_of(const struct pie_confirm_activation *here) {
    return here->frame->localsplus + here->frame->stacktop;
}

static void end_call(struct pie_confirm_thread *thread, struct pie_confirm_activation *here, int what,
                     uint64_t now_ns) {
    const struct pie_confirm_site *site = here->ongoing.site;
    bool is_over =
        site->kind == PIE_CONFIRM_NEXT && _PyInterpreterFrame_LASTI(here->frame) != site->next_unit;
    bool has_result = what == PyTrace_OPCODE && !is_over;

    pie_confirm_event_end(thread, &here->ongoing, has_result ? top_of(here) : NULL, now_ns);
}

bool pie_confirm_step(struct pie_confirm_thread *thread, struct pie_confirm_activation *here, int what,
                      uint64_t now_ns) {
    bool has_ended = here->ongoing.call.sums;

    if (has_ended)
        end_call(thread, here, what, now_ns);
    else if (what == PyTrace_OPCODE && pie_confirm_is_idle(here->code, here->unit))
        pie_confirm_event_idle(thread, now_ns);
    here->unit = what == PyTrace_OPCODE ? _PyInterpreterFrame_LASTI(here->frame) : -1;
    (void)pie_confirm_event_begin(thread, &here->ongoing, pie_confirm_site_at(here->code, here->unit),
                                  top_of(here), now_ns);
    return has_ended;
}

void pie_confirm_set_tracing(PyThreadState *tstate, Py_tracefunc trace, bool is_on) {
    if (tstate->c_tracefunc && tstate->c_tracefunc != trace)
        return;
    tstate->c_tracefunc = is_on ? trace : NULL;
    if (tstate->tracing == 0)
        tstate->cframe->use_tracing = is_on || tstate->c_profilefunc ? 255 : 0;
}

bool pie_confirm_is_traced_by_others(const PyThreadState *tstate, Py_tracefunc trace) {
    return tstate->tracing || tstate->c_profilefunc || (tstate->c_tracefunc && tstate->c_tracefunc != trace);
}
