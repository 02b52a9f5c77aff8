/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <internal/pycore_ceval.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_interp.h>
#undef Py_BUILD_CORE

#include "runtime/confirm/window.h"

#include <stdatomic.h>

#include "profiler/base/clocks.h"
#include "runtime/confirm/steps_311.h"
#include "runtime/interpreter/methods.h"

/* Seeing the calls of one thread for some milliseconds on CPython 3.11. As in calls_311.c a frame evaluator (PEP 523)
 * switches a C trace function on for frames of code that has a counted line, and off for those that they call. Frames
 * that are running when the window begins are adopted: the trace function finds them by their address. That is no
 * frame's of later on, because each of those is evaluated by evaluate() and found first.
 *
 * What is changed in a frame, its f_trace_lines and f_trace_opcodes, is put back when it is left and when the window
 * ends. A frame in which somebody else has set these is left alone.
 *
 * Activations lie in a pool and not on the C stack, which libraries for coroutines may exchange under us. */

enum { POOL = 256, ADOPTED = 8, WALK = 200 };

/* Frames that are running already have events, too, until they return to one of ours. After this number of them the
 * window has come at a bad moment: it is long until they return. */
enum { STRANGE_MAX = 1000 };

/* One event with what it costs the interpreter to make it, and one evaluation of a frame beside its usual cost. */
enum { EVENT_NS = 60, EVALUATION_NS = 60 };

struct entry {
    struct pie_confirm_activation activation;
    bool is_changed; /* its frame's settings */
};

static struct {
    PyThreadState *tstate; /* NULL: nothing is seen */
    unsigned number;       /* of windows so far; an evaluation that outlasts its window knows it by that */
    unsigned depth, n_adopted;
    int function_line; /* other functions are not seen; 0: all are */
    struct entry pool[POOL], adopted[ADOPTED];
    struct pie_confirm_thread thread;
    uint64_t cost_ns, calls;
    unsigned strange; /* events of other frames, before the first one of ours */
} now;

static PyObject *evaluate(PyThreadState *tstate, struct _PyInterpreterFrame *frame, int throwflag);
static int trace(PyObject *unused, PyFrameObject *frame, int what, PyObject *arg);

/* --- The trace function --- */

static bool is_of(const struct entry *entry, const _PyInterpreterFrame *frame) {
    return entry->activation.frame == frame && entry->activation.code &&
           entry->activation.code->code == frame->f_code;
}

static struct entry *find(const _PyInterpreterFrame *frame) {
    struct entry *top = now.depth > 0 ? &now.pool[now.depth - 1] : NULL;

    if (top && top->activation.frame == frame)
        return is_of(top, frame) ? top : NULL;
    for (unsigned i = 0; i < now.n_adopted; i++)
        if (is_of(&now.adopted[i], frame))
            return &now.adopted[i];
    return NULL;
}

static bool change(struct entry *entry, PyFrameObject *frame) {
    if (entry->is_changed)
        return true;
    if (frame->f_trace || frame->f_trace_opcodes || !frame->f_trace_lines)
        return false;
    frame->f_trace_lines = 0;
    frame->f_trace_opcodes = 1;
    entry->is_changed = true;
    return true;
}

static void change_back(struct entry *entry, PyFrameObject *frame) {
    if (!entry->is_changed)
        return;
    frame->f_trace_lines = 1;
    frame->f_trace_opcodes = 0;
    entry->is_changed = false;
}

static int trace(PyObject *unused, PyFrameObject *frame, int what, PyObject *arg) {
    uint64_t begun_ns = pie_monotonic_ns();

    if (!now.tstate)
        return 0;
    struct entry *entry = find(frame->f_frame);
    if (entry && change(entry, frame)) {
        now.strange = 0;
        now.calls += pie_confirm_step(&now.thread, &entry->activation, what, begun_ns);
        if (what == PyTrace_RETURN)
            change_back(entry, frame);
    }
    uint64_t ended_ns = pie_monotonic_ns();
    now.cost_ns += ended_ns - begun_ns + EVENT_NS;
    now.strange += !entry;
    if (now.strange > STRANGE_MAX)
        pie_window_close();
    else
        pie_window_check(ended_ns);
    return 0;
}

/* --- Frames --- */

static struct pie_confirm_code *seen_code(PyCodeObject *code) {
    return now.function_line && code->co_firstlineno != now.function_line ? NULL : pie_confirm_code_of(code);
}

static struct entry *push(_PyInterpreterFrame *frame, struct pie_confirm_code *code) {
    struct entry *entry = &now.pool[now.depth++];

    *entry = (struct entry){.activation = {.frame = frame, .code = code, .unit = -1}};
    return entry;
}

static PyObject *evaluate_seen(PyThreadState *tstate, _PyInterpreterFrame *frame,
                               struct pie_confirm_code *code, int throwflag) {
    bool was_on = tstate->c_tracefunc == trace;
    unsigned number = now.number, depth = now.depth;
    struct entry *entry = push(frame, code);

    pie_confirm_set_tracing(tstate, trace, code);
    PyObject *result = _PyEval_EvalFrameDefault(tstate, frame, throwflag);
    if (!now.tstate || now.number != number) /* the window is over */
        return result;
    pie_confirm_call_drop(&now.thread, &entry->activation.ongoing.call);
    now.depth = depth;
    pie_confirm_set_tracing(tstate, trace, was_on);
    return result;
}

static PyObject *evaluate(PyThreadState *tstate, struct _PyInterpreterFrame *frame, int throwflag) {
    now.cost_ns += EVALUATION_NS;
    if (tstate == now.tstate)
        pie_window_check_cost();
    if (now.tstate && (pie_confirm_stack_is_short() || pie_confirm_is_traced_by_others(now.tstate, trace)))
        pie_window_close();
    if (tstate != now.tstate || now.depth == POOL)
        return _PyEval_EvalFrameDefault(tstate, frame, throwflag);
    struct pie_confirm_code *code = seen_code(frame->f_code);
    if (!code && tstate->c_tracefunc != trace)
        return _PyEval_EvalFrameDefault(tstate, frame, throwflag);
    return evaluate_seen(tstate, frame, code, throwflag);
}

/* --- Beginning and end --- */

static void adopt(PyThreadState *tstate) {
    _PyInterpreterFrame *frame = tstate->cframe->current_frame;

    for (int i = 0; frame && i < WALK && now.n_adopted < ADOPTED; i++, frame = frame->previous) {
        struct pie_confirm_code *code = seen_code(frame->f_code);
        if (code)
            now.adopted[now.n_adopted++] =
                (struct entry){.activation = {.frame = frame, .code = code, .unit = -1}};
    }
}

bool pie_window_see(int32_t function_line) {
    PyThreadState *tstate = PyThreadState_Get();

    if (tstate->interp != PyInterpreterState_Main() || pie_confirm_is_traced_by_others(tstate, trace) ||
        tstate->c_tracefunc ||
        _PyInterpreterState_GetEvalFrameFunc(tstate->interp) != _PyEval_EvalFrameDefault)
        return false;
    now.number++;
    now.depth = now.n_adopted = 0;
    now.function_line = function_line;
    now.cost_ns = now.calls = 0;
    now.strange = 0;
    now.thread = (struct pie_confirm_thread){0};
    now.tstate = tstate;
    adopt(tstate);
    _PyInterpreterState_SetEvalFrameFunc(tstate->interp, evaluate);
    pie_confirm_set_tracing(tstate, trace, now.n_adopted > 0);
    return true;
}

/* Only of frames that are running still. */
static void change_back_running(const PyThreadState *tstate) {
    unsigned left = now.n_adopted;

    for (unsigned i = 0; i < now.depth; i++) {
        struct entry *entry = &now.pool[i];
        if (entry->is_changed && entry->activation.frame->frame_obj)
            change_back(entry, entry->activation.frame->frame_obj);
    }
    for (_PyInterpreterFrame *frame = tstate->cframe->current_frame; frame && left; frame = frame->previous)
        for (unsigned i = 0; i < now.n_adopted; i++)
            if (is_of(&now.adopted[i], frame)) {
                left--;
                if (frame->frame_obj)
                    change_back(&now.adopted[i], frame->frame_obj);
            }
}

void pie_window_unsee(void) {
    PyThreadState *tstate = now.tstate;

    if (!tstate)
        return;
    change_back_running(tstate);
    pie_confirm_set_tracing(tstate, trace, false);
    if (_PyInterpreterState_GetEvalFrameFunc(tstate->interp) == evaluate)
        _PyInterpreterState_SetEvalFrameFunc(tstate->interp, _PyEval_EvalFrameDefault);
    now.tstate = NULL;
}

void pie_window_leave(void) {
    pie_window_unsee(); /* nothing of the interpreter's is asked */
}

/* --- The program's own tracers are to find everything as they left it --- */

static PyCFunction set_trace_before, set_profile_before;

static PyObject *set_trace(PyObject *module, PyObject *function) {
    pie_window_close();
    return set_trace_before(module, function);
}

static PyObject *set_profile(PyObject *module, PyObject *function) {
    pie_window_close();
    return set_profile_before(module, function);
}

bool pie_window_prepare(void) {
    PyObject *trace = PySys_GetObject("settrace"), *profile = PySys_GetObject("setprofile"); /* borrowed */

    set_trace_before = trace ? pie_function_exchange(trace, "settrace", METH_O, set_trace) : NULL;
    set_profile_before = profile ? pie_function_exchange(profile, "setprofile", METH_O, set_profile) : NULL;
    return set_trace_before && set_profile_before;
}

/* --- Asking --- */

/* Py_AddPendingCall() takes the interpreter of the thread that has the GIL, which may be another one, or go
 * meanwhile. */
bool pie_window_ask(int (*call)(void *)) {
    return _PyEval_AddPendingCall(PyInterpreterState_Main(), call, NULL) == 0;
}

/* The evaluation loop looks for a pending call only where it is the main thread that adds it. One look too many is
 * harmless. */
void pie_window_wake(void) {
    atomic_store_explicit(&PyInterpreterState_Main()->ceval.eval_breaker._value, 1, memory_order_relaxed);
}

bool pie_window_is_in_call(void) {
    const struct entry *entry = now.tstate ? find(now.tstate->cframe->current_frame) : NULL;

    return entry && entry->activation.ongoing.call.sums;
}

uint64_t pie_window_cost_ns(void) {
    return now.cost_ns;
}

uint64_t pie_window_calls(void) {
    return now.calls;
}
