/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_interp.h>
#undef Py_BUILD_CORE

#include "runtime/confirm/confirm.h"

#include <errno.h>

#include "profiler/base/clocks.h"
#include "runtime/confirm/sites.h"
#include "runtime/confirm/steps_311.h"

/* Seeing all calls of some lines on CPython 3.11. Every frame is evaluated by evaluate() (PEP 523). It switches a C
 * trace function on for frames of code that has such a line, and off for all others, which run at full speed but for
 * that call. The trace function sees each instruction of such a frame (steps_311.h).
 *
 * Somebody else's trace or profile function is never replaced: his frames are not counted, and the board says so. */

const bool pie_confirm_is_possible = true;
const bool pie_confirm_slows_functions = true;

static __thread struct {
    struct pie_confirm_activation *top; /* an evaluation of a frame; on the C stack */
    struct pie_confirm_thread thread;
} self;

static int trace(PyObject *unused, PyFrameObject *frame, int what, PyObject *arg) {
    struct pie_confirm_activation *here = self.top;

    if (!here || !here->code || frame->f_frame != here->frame || !pie_confirm_board)
        return 0;
    if (what == PyTrace_CALL) {
        frame->f_trace_lines = 0;
        frame->f_trace_opcodes = 1;
    }
    (void)pie_confirm_step(&self.thread, here, what, pie_monotonic_ns());
    return 0;
}

/* --- Frames --- */

static PyObject *evaluate(PyThreadState *tstate, struct _PyInterpreterFrame *frame, int throwflag);

/* Each evaluation takes room on the stack of C here, which calls from Python to Python do not take otherwise. A deep
 * recursion goes on as it would without us, and is not counted. */
static void give_up(PyThreadState *tstate) {
    pie_confirm_board->is_short = true;
    pie_confirm_board = NULL;
    _PyInterpreterState_SetEvalFrameFunc(tstate->interp, _PyEval_EvalFrameDefault);
}

static PyObject *evaluate_counted(PyThreadState *tstate, struct pie_confirm_activation *here, int throwflag) {
    bool was_on = tstate->c_tracefunc == trace;

    here->outer = self.top;
    self.top = here;
    pie_confirm_set_tracing(tstate, trace, here->code);
    PyObject *result = _PyEval_EvalFrameDefault(tstate, here->frame, throwflag);
    self.top = here->outer;
    if (here->ongoing.call.sums) { /* a tracer of the program's own has taken our place */
        pie_confirm_call_drop(&self.thread, &here->ongoing.call);
        if (pie_confirm_board)
            pie_confirm_board->has_others = true;
    }
    pie_confirm_set_tracing(tstate, trace, was_on && here->outer && pie_confirm_board);
    return result;
}

static PyObject *evaluate(PyThreadState *tstate, struct _PyInterpreterFrame *frame, int throwflag) {
    if (pie_confirm_board && pie_confirm_stack_is_short())
        give_up(tstate);
    struct pie_confirm_activation here = {
        .frame = frame, .code = pie_confirm_board ? pie_confirm_code_of(frame->f_code) : NULL, .unit = -1};
    bool was_on = tstate->c_tracefunc == trace;
    if (!here.code && !was_on)
        return _PyEval_EvalFrameDefault(tstate, frame, throwflag);
    if (pie_confirm_is_traced_by_others(tstate, trace)) {
        if (pie_confirm_board && here.code)
            pie_confirm_board->has_others = true;
        return _PyEval_EvalFrameDefault(tstate, frame, throwflag);
    }
    return evaluate_counted(tstate, &here, throwflag);
}

/* --- Beginning --- */

int pie_confirm_see_calls(void) {
    PyInterpreterState *interp = PyInterpreterState_Get();

    if (_PyInterpreterState_GetEvalFrameFunc(interp) != _PyEval_EvalFrameDefault)
        return -EBUSY;
    _PyInterpreterState_SetEvalFrameFunc(interp, evaluate);
    return 0;
}
