/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <internal/pycore_ceval.h>
#include <internal/pycore_interp.h>
#undef Py_BUILD_CORE

#include "runtime/confirm/window.h"

#include <string.h>

#include "profiler/base/clocks.h"
#include "runtime/code/registry.h"
#include "runtime/confirm/monitoring.h"
#include "runtime/confirm/steps_312.h"

/* Seeing the calls of one thread for some milliseconds from CPython 3.12 on. The code objects that have counted lines
 * are those that samples have met. Only these get events, so nothing else is slower meanwhile: events of all code
 * would have the interpreter look at each code object as it is next met, at the beginning and at the end.
 *
 * Exceptions that leave a frame have events only of all code. So a call that ends by one is not counted, unless its own
 * function handles it. What it leaves behind is dropped at the next event further out, or as a frame begins at its
 * place. */

/* An event with what it costs the interpreter to make it. */
enum { EVENT_NS = 80 };

static struct {
    PyThreadState *tstate; /* NULL: nothing is seen */
    bool is_left;          /* the tool is still to be given back */
    int function_line;     /* other functions are not seen; 0: all are */
    struct pie_confirm_steps steps;
    uint64_t cost_ns, calls;
} now;

/* --- Events --- */

static void finish_leaving(void) {
    if (!now.is_left)
        return;
    now.is_left = !pie_monitoring_give_back();
}

/* Of this thread, while nobody else watches. */
static bool is_seen(void) {
    finish_leaving();
    if (now.tstate && pie_monitoring_has_others())
        pie_window_close();
    return now.tstate == PyThreadState_Get();
}

static void pay(uint64_t begun_ns) {
    uint64_t ended_ns = pie_monotonic_ns();

    now.cost_ns += ended_ns - begun_ns + EVENT_NS;
    pie_window_check(ended_ns);
}

static bool on_instruction(PyObject *code, PyObject *offset) {
    uint64_t begun_ns = pie_monotonic_ns();

    if (!is_seen()) {
        now.cost_ns += EVENT_NS;
        return false;
    }
    enum pie_confirm_step step =
        pie_confirm_steps_instruction(&now.steps, (PyCodeObject *)code, offset, begun_ns);
    now.calls += step == PIE_CONFIRM_STEP_CALL_ENDED;
    pay(begun_ns);
    return step == PIE_CONFIRM_STEP_NOWHERE && now.tstate;
}

static bool on_start(PyObject *code, PyObject *offset) {
    uint64_t begun_ns = pie_monotonic_ns();

    if (!is_seen())
        return false;
    pie_confirm_steps_start(&now.steps, (PyCodeObject *)code);
    pay(begun_ns);
    return false;
}

static bool on_unwind(PyObject *code, PyObject *offset) {
    return false; /* there are no such events */
}

static void on_gone(void) {
    pie_window_close();
    finish_leaving();
}

bool pie_window_prepare(void) {
    static const struct pie_monitoring_callbacks callbacks = {
        .start = on_start, .unwind = on_unwind, .instruction = on_instruction, .gone = on_gone};

    return pie_monitoring_prepare(&callbacks) == 0;
}

/* --- Beginning and end --- */

/* Without a look at the file system. */
static bool may_have_line(PyCodeObject *code) {
    const char *path = PyUnicode_AsUTF8(code->co_filename);
    const char *slash = path ? strrchr(path, '/') : NULL;

    PyErr_Clear();
    if (!path || (now.function_line && code->co_firstlineno != now.function_line))
        return false;
    for (uint32_t i = 0; i < pie_confirm_board->n_lines; i++) {
        const struct pie_confirm_line *line = &pie_confirm_board->lines[i];
        const char *other = strrchr(line->file, '/');
        if (code->co_firstlineno <= line->line && !line->is_dropped &&
            strcmp(slash ? slash + 1 : path, other ? other + 1 : line->file) == 0)
            return true;
    }
    return false;
}

static void arm(PyCodeObject *code) {
    struct pie_confirm_code *counted = may_have_line(code) ? pie_confirm_code_of(code) : NULL;

    if (counted && !counted->is_armed)
        pie_monitoring_arm(counted);
}

/* Code objects do not say whose they are. What is set in one of another interpreter would be freed by an allocator that
 * does not know it, and be changed while that one runs. */
static bool has_one_interpreter(void) {
    return !PyInterpreterState_Next(PyInterpreterState_Head());
}

bool pie_window_see(int32_t function_line) {
    PyThreadState *tstate = PyThreadState_Get();
    uint64_t begun_ns = pie_monotonic_ns();

    finish_leaving();
    if (tstate->interp != PyInterpreterState_Main() || !has_one_interpreter() || tstate->tracing ||
        _PyInterpreterState_GetEvalFrameFunc(tstate->interp) != _PyEval_EvalFrameDefault ||
        !pie_monitoring_take())
        return false;
    pie_confirm_steps_drop(&now.steps);
    now.steps = (struct pie_confirm_steps){0};
    now.function_line = function_line;
    now.calls = 0;
    now.tstate = tstate;
    pie_code_registry_visit(arm);
    now.cost_ns = 2 * (pie_monotonic_ns() - begun_ns); /* the end takes as long */
    return true;
}

void pie_window_unsee(void) {
    if (!now.tstate)
        return;
    now.tstate = NULL;
    now.is_left = !pie_monitoring_give_back();
}

void pie_window_leave(void) {
    now.is_left = now.is_left || now.tstate;
    now.tstate = NULL;
}

/* --- Asking --- */

/* From 3.12 on this is a call of the main thread of the main interpreter, whoever asks. */
bool pie_window_ask(int (*call)(void *)) {
    return Py_AddPendingCall(call, NULL) == 0;
}

/* In 3.12 the evaluation loop looks for a pending call only where it is the main thread that adds it. One look too many
 * is harmless. */
void pie_window_wake(void) {
#if PY_VERSION_HEX < 0x030d0000
    _Py_atomic_store_relaxed(&PyInterpreterState_Main()->ceval.eval_breaker, 1);
#endif
}

bool pie_window_is_in_call(void) {
    return now.tstate && pie_confirm_steps_are_in_call(&now.steps);
}

uint64_t pie_window_cost_ns(void) {
    return now.cost_ns;
}

uint64_t pie_window_calls(void) {
    return now.calls;
}
