/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_interp.h>
#undef Py_BUILD_CORE

#include "runtime/confirm/confirm.h"

#include <errno.h>
#include <pthread.h>

#include "profiler/base/clocks.h"
#include "runtime/confirm/sites.h"

/* Seeing all calls of some lines on CPython 3.11. Every frame is evaluated by evaluate() (PEP 523). It switches a C
 * trace function on for frames of code that has such a line, and off for all others, which run at full speed but for
 * that call. The trace function sees each instruction of such a frame: operands lie on the frame's stack before it,
 * the result before the next one.
 *
 * Somebody else's trace or profile function is never replaced: his frames are not counted, and the board says so. */

const bool pie_confirm_is_possible = true;

/* An evaluation of a frame; on the C stack. A generator has one from each resumption to the next yield. */
struct activation {
    struct activation *outer;
    _PyInterpreterFrame *frame;
    struct pie_confirm_code *code;       /* NULL: no line of it is counted */
    int unit;                            /* of the last event */
    const struct pie_confirm_site *site; /* of the call that is going on */
    struct pie_confirm_call call;
};

static __thread struct {
    struct activation *top;
    struct pie_confirm_thread thread;
    uint64_t left_ns;    /* when the last event was over */
    uintptr_t stack_end; /* below it there is no room for more frames of C; NULL: not known yet */
} self;

static double step_ns =
    80; /* from an event to the next one of an instruction that does nothing: the median */

static int trace(PyObject *unused, PyFrameObject *frame, int what, PyObject *arg);

/* --- Events --- */

/* A step of one nanosecond towards each, and so their median. */
static void note_idle(uint64_t ns) {
    step_ns += (double)ns > step_ns ? 1 : -1;
}

static PyObject *result_of(const struct activation *here) {
    _PyInterpreterFrame *frame = here->frame;

    return here->site->kind == PIE_CONFIRM_STORE ? Py_None : frame->localsplus[frame->stacktop - 1];
}

static void end_call(struct activation *here, int what, uint64_t now_ns) {
    int unit = _PyInterpreterFrame_LASTI(here->frame);
    bool has_result = what == PyTrace_OPCODE;
    bool is_over = here->site->kind == PIE_CONFIRM_NEXT && (!has_result || unit != here->site->next_unit);

    if (is_over)
        pie_confirm_call_drop(&self.thread, &here->call);
    else
        pie_confirm_call_end(&self.thread, &here->call, now_ns, (uint64_t)step_ns,
                             has_result ? result_of(here) : NULL);
}

/* The arguments are read in here, which is no time of the call's, nor of one around it. */
static void begin_call(struct activation *here, uint64_t now_ns) {
    struct pie_confirm_site *site = pie_confirm_site_at(here->code, here->unit);
    uint64_t read_ns = pie_monotonic_ns();
    bool counts =
        site && pie_confirm_site_read(site, here->frame->localsplus + here->frame->stacktop, &here->call);
    uint64_t ready_ns = counts ? pie_monotonic_ns() : read_ns;

    self.thread.spent_ns += ready_ns - now_ns;
    here->site = site;
    if (counts)
        pie_confirm_call_begin(&self.thread, &here->call, ready_ns - read_ns);
    self.left_ns = counts ? here->call.begun_ns : ready_ns; /* no look at the clock within the call */
}

static void on_event(struct activation *here, int what) {
    uint64_t now_ns = pie_monotonic_ns();

    if (here->call.sums)
        end_call(here, what, now_ns);
    else if (what == PyTrace_OPCODE && pie_confirm_is_idle(here->code, here->unit))
        note_idle(now_ns - self.left_ns);
    self.thread.spent_ns += (uint64_t)step_ns;
    here->unit = what == PyTrace_OPCODE ? _PyInterpreterFrame_LASTI(here->frame) : -1;
    begin_call(here, now_ns);
}

static int trace(PyObject *unused, PyFrameObject *frame, int what, PyObject *arg) {
    struct activation *here = self.top;

    if (!here || !here->code || frame->f_frame != here->frame || !pie_confirm_board)
        return 0;
    if (what == PyTrace_CALL) {
        frame->f_trace_lines = 0;
        frame->f_trace_opcodes = 1;
    }
    on_event(here, what);
    return 0;
}

/* --- Frames --- */

static Py_ssize_t extra_index = -1; /* where a code object keeps what it is to us */
static char not_counted;            /* its address: none of its lines */

static void free_extra(void *extra) {
    if (extra != &not_counted)
        PyMem_RawFree(extra);
}

static struct pie_confirm_code *code_of(PyCodeObject *code) {
    void *extra = NULL;

    if (_PyCode_GetExtra((PyObject *)code, extra_index, &extra) < 0)
        PyErr_Clear();
    if (!extra) {
        struct pie_confirm_code *made = pie_confirm_code_make(code);
        extra = made ? (void *)made : &not_counted;
        if (_PyCode_SetExtra((PyObject *)code, extra_index, extra) < 0) {
            PyErr_Clear();
            free_extra(extra);
            return NULL;
        }
    }
    return extra == &not_counted ? NULL : extra;
}

/* What the program has set meanwhile stays. */
static void set_tracing(PyThreadState *tstate, bool is_on) {
    if (tstate->c_tracefunc && tstate->c_tracefunc != trace)
        return;
    tstate->c_tracefunc = is_on ? trace : NULL;
    if (tstate->tracing == 0)
        tstate->cframe->use_tracing = is_on || tstate->c_profilefunc ? 255 : 0;
}

static bool is_traced_by_others(const PyThreadState *tstate) {
    return tstate->tracing || tstate->c_profilefunc || (tstate->c_tracefunc && tstate->c_tracefunc != trace);
}

static PyObject *evaluate(PyThreadState *tstate, struct _PyInterpreterFrame *frame, int throwflag);

/* Each evaluation takes room on the stack of C here, which calls from Python to Python do not take otherwise. A deep
 * recursion goes on as it would without us, and is not counted. */
static bool is_stack_short(void) {
    enum { ROOM_BYTES = 1 << 20 };
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;

    if (!self.stack_end) {
        self.stack_end = 1; /* not known: no address is below */
        if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
            if (pthread_attr_getstack(&attributes, &low, &size) == 0)
                self.stack_end = (uintptr_t)low + (size > 4 * ROOM_BYTES ? ROOM_BYTES : size / 4);
            pthread_attr_destroy(&attributes);
        }
    }
    return (uintptr_t)__builtin_frame_address(0) < self.stack_end;
}

static void give_up(PyThreadState *tstate) {
    pie_confirm_board->is_short = true;
    pie_confirm_board = NULL;
    _PyInterpreterState_SetEvalFrameFunc(tstate->interp, _PyEval_EvalFrameDefault);
}

static PyObject *evaluate_counted(PyThreadState *tstate, struct activation *here, int throwflag) {
    bool was_on = tstate->c_tracefunc == trace;

    here->outer = self.top;
    self.top = here;
    set_tracing(tstate, here->code);
    PyObject *result = _PyEval_EvalFrameDefault(tstate, here->frame, throwflag);
    self.top = here->outer;
    if (here->call.sums) { /* a tracer of the program's own has taken our place */
        pie_confirm_call_drop(&self.thread, &here->call);
        if (pie_confirm_board)
            pie_confirm_board->has_others = true;
    }
    set_tracing(tstate, was_on && here->outer && pie_confirm_board);
    return result;
}

static PyObject *evaluate(PyThreadState *tstate, struct _PyInterpreterFrame *frame, int throwflag) {
    if (pie_confirm_board && is_stack_short())
        give_up(tstate);
    struct activation here = {
        .frame = frame, .code = pie_confirm_board ? code_of(frame->f_code) : NULL, .unit = -1};
    bool was_on = tstate->c_tracefunc == trace;
    if (!here.code && !was_on)
        return _PyEval_EvalFrameDefault(tstate, frame, throwflag);
    if (is_traced_by_others(tstate)) {
        if (pie_confirm_board && here.code)
            pie_confirm_board->has_others = true;
        return _PyEval_EvalFrameDefault(tstate, frame, throwflag);
    }
    return evaluate_counted(tstate, &here, throwflag);
}

/* --- Beginning --- */

static void after_fork_in_parent(void) {
    if (pie_confirm_board)
        pie_confirm_board->forks++;
}

static void after_fork_in_child(void) {
    pie_confirm_board = NULL; /* the memory is the parent's too */
}

int pie_confirm_install(struct pie_confirm_board *board) {
    PyThreadState *tstate = PyThreadState_Get();

    if (_PyInterpreterState_GetEvalFrameFunc(tstate->interp) != _PyEval_EvalFrameDefault)
        return -EBUSY;
    extra_index = _PyEval_RequestCodeExtraIndex(free_extra);
    if (extra_index < 0)
        return -ENOMEM;
    int r = pthread_atfork(NULL, after_fork_in_parent, after_fork_in_child);
    if (r != 0)
        return -r;
    pie_confirm_board = board;
    board->is_counting = true;
    _PyInterpreterState_SetEvalFrameFunc(tstate->interp, evaluate);
    return 0;
}
