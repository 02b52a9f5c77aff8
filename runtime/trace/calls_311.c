/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_interp.h>
#undef Py_BUILD_CORE
#include <opcode.h>

#include "runtime/trace/steps.h"

#include "runtime/code/pyops.h"

/* Observing an iteration on CPython 3.11: a C trace function sees each instruction of the loop's frame, as a debugger
 * that steps would. A call lasts from before its CALL to before the next instruction of the same frame, whatever is
 * called: a Python function, a native one, a class, a ufunc. sys.setprofile()'s events would miss the last two, and
 * would come for every call inside of the calls as well.
 *
 * What runs inside a call runs untraced and at full speed: every evaluation of a frame goes through the frame evaluator
 * (PEP 523), which switches tracing off until the frame has returned.
 *
 * Somebody else's trace or profile function or evaluator is never replaced: there is nothing to observe then. */

static const double SETTING_UP_NS = 500;

static struct {
    struct pie_trace_loop *loop; /* NULL: nothing is observed */
    PyThreadState *tstate;
    PyFrameObject *frame;            /* strong; NULL once the observation is over before its iteration */
    const char *why;                 /* it is lost */
    bool is_inside;                  /* of a call that evaluates a frame */
    char trace_lines, trace_opcodes; /* the frame's own settings */
    struct pie_trace_steps steps;
} now;

static PyObject *evaluate(PyThreadState *tstate, struct _PyInterpreterFrame *frame, int throwflag);
static int trace(PyObject *unused, PyFrameObject *frame, int what, PyObject *arg);

/* What the program has set meanwhile stays. */
static void switch_off(PyThreadState *tstate) {
    if (tstate->c_tracefunc == trace)
        tstate->c_tracefunc = NULL;
    tstate->cframe->use_tracing = tstate->c_tracefunc || tstate->c_profilefunc ? 255 : 0;
    if (_PyInterpreterState_GetEvalFrameFunc(tstate->interp) == evaluate)
        _PyInterpreterState_SetEvalFrameFunc(tstate->interp, _PyEval_EvalFrameDefault);
}

static void switch_on(PyThreadState *tstate) {
    tstate->c_tracefunc = trace;
    tstate->cframe->use_tracing = 255;
    _PyInterpreterState_SetEvalFrameFunc(tstate->interp, evaluate);
}

/* While we are switched off. */
static bool is_traced_by_others(PyThreadState *tstate) {
    return tstate->c_tracefunc || tstate->c_profilefunc ||
           _PyInterpreterState_GetEvalFrameFunc(tstate->interp) != _PyEval_EvalFrameDefault;
}

static unsigned opcode_at(const PyCodeObject *code, int unit) {
    return pie_pyops_deopt[_Py_OPCODE(_PyCode_CODE((PyCodeObject *)code)[unit])];
}

/* What is about to be called, on the frame's stack; see CALL and CALL_FUNCTION_EX in Python/ceval.c. */
static PyObject *callee_at(const PyFrameObject *frame, int unit) {
    _PyInterpreterFrame *inner = frame->f_frame;
    PyObject **top = inner->localsplus + inner->stacktop;
    int argument = _Py_OPARG(_PyCode_CODE(inner->f_code)[unit]);

    if (opcode_at(inner->f_code, unit) == CALL_FUNCTION_EX)
        return top[-2 - (argument & 1)];
    return top[-argument - 2] ? top[-argument - 2] : top[-argument - 1];
}

static void stop(void) {
    PyFrameObject *frame = now.frame;

    if (!frame)
        return;
    now.frame = NULL;
    switch_off(now.tstate);
    if (is_traced_by_others(now.tstate))
        now.why = PIE_TRACE_WHY_OTHERS;
    frame->f_trace_lines = now.trace_lines;
    frame->f_trace_opcodes = now.trace_opcodes;
    Py_DECREF(frame);
}

static void lose(const char *why) {
    now.why = why;
    stop();
}

/* The frame gives up control: for good, or until it is resumed, in which case others run meanwhile. */
static void frame_leaves(const PyFrameObject *frame, bool is_return) {
    int unit = _PyInterpreterFrame_LASTI(frame->f_frame);

    pie_trace_steps_end(&now.steps);
    if (!is_return || opcode_at(frame->f_frame->f_code, unit) == RETURN_VALUE)
        stop();
    else
        lose(PIE_TRACE_WHY_YIELDS);
}

static int trace(PyObject *unused, PyFrameObject *frame, int what, PyObject *arg) {
    if (frame != now.frame)
        return 0;
    if (what == PyTrace_OPCODE) {
        int unit = _PyInterpreterFrame_LASTI(frame->f_frame);
        if (pie_trace_steps_next(&now.steps, unit))
            pie_trace_steps_name(&now.steps, callee_at(frame, unit));
    } else if (what == PyTrace_RETURN) {
        frame_leaves(frame, arg);
    }
    return 0;
}

static PyObject *evaluate(PyThreadState *tstate, struct _PyInterpreterFrame *frame, int throwflag) {
    if (tstate != now.tstate || !now.frame || now.is_inside)
        return _PyEval_EvalFrameDefault(tstate, frame, throwflag);
    const PyFrameObject *observed = now.frame;
    switch_off(tstate);
    now.is_inside = true;
    PyObject *result = _PyEval_EvalFrameDefault(tstate, frame, throwflag);
    now.is_inside = false;
    if (now.frame == observed && is_traced_by_others(tstate))
        stop();
    else if (now.frame == observed)
        switch_on(tstate);
    return result;
}

bool pie_trace_observe_begin(struct pie_trace_loop *loop, const char **ret_why) {
    PyThreadState *tstate = PyThreadState_Get();
    PyFrameObject *frame = now.loop ? NULL : PyEval_GetFrame();

    if (!frame || tstate->tracing)
        return false;
    if (is_traced_by_others(tstate)) {
        *ret_why = PIE_TRACE_WHY_OTHERS;
        return false;
    }
    if (!pie_trace_steps_begin(&now.steps, loop, frame->f_frame->f_code))
        return false;
    Py_INCREF(frame);
    now.loop = loop;
    now.tstate = tstate;
    now.frame = frame;
    now.why = NULL;
    now.is_inside = false;
    now.trace_lines = frame->f_trace_lines;
    now.trace_opcodes = frame->f_trace_opcodes;
    frame->f_trace_lines = 0;
    frame->f_trace_opcodes = 1;
    switch_on(tstate);
    return true;
}

bool pie_trace_observe_end(const char **ret_why, struct pie_trace_observed *ret_observed) {
    if (now.frame)
        pie_trace_steps_end(&now.steps);
    stop();
    *ret_observed = pie_trace_steps_result(&now.steps, SETTING_UP_NS);
    *ret_why = now.why;
    now.loop = NULL;
    return !now.why;
}

void pie_trace_observe_rest(void) {
    /* switching tracing off and on again costs next to nothing here */
}
