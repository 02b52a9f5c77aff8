/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/interpreter/weak.h"
#include "runtime/trace/steps.h"

/* Observing an iteration from CPython 3.12 on: sys.monitoring (PEP 669) reports each instruction of the loop's own
 * code, and what is called where a call site is met for the first time in a burst. Events are local to that code
 * object, so what runs inside of the calls runs as always, unless the loop's function calls itself.
 *
 * Switching events on and off rewrites the code, and the interpreter has to specialise it again. So they stay on
 * between the iterations of a burst (pie_trace_observe_rest()). We are a tool of our own; others keep what they have,
 * and while a debugger, coverage or another profiler is there, nothing is observed: their work would be timed as
 * well. */

static const double SETTING_UP_NS = 3000; /* a tenth of what it takes for a burst, about */
enum {
    OTHER_TOOLS = 3,
    TOOL_FIRST = 3,
    TOOL_LAST = 4
}; /* debuggers, coverage, profilers; for anybody's use */

static struct {
    PyObject *monitoring; /* weak; NULL: not looked for yet, or not to be had */
    int tool;             /* -1: all are taken */
    int events;
    PyObject *disable;
    bool was_looked_for;
} tool;

static struct {
    struct pie_trace_loop *loop; /* NULL: nothing is observed */
    PyThreadState *tstate;
    PyFrameObject *frame; /* strong; NULL once the observation is over before its iteration */
    PyCodeObject *code;   /* strong; whose events are on, NULL: none */
    const char *why;      /* it is lost */
    struct pie_trace_steps steps;
} now;

static bool is_here(PyObject *code) {
    return now.frame && code == (PyObject *)now.code && PyThreadState_Get() == now.tstate;
}

static PyObject *on_instruction(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    if (!is_here(args[0]))
        Py_RETURN_NONE;
    if (PyEval_GetFrame() != now.frame)
        now.steps.foreign++;
    else
        pie_trace_steps_next(&now.steps, (int)(PyLong_AsLong(args[1]) / 2));
    Py_RETURN_NONE;
}

static PyObject *on_call(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    if (is_here(args[0]) && PyEval_GetFrame() == now.frame)
        pie_trace_steps_name(&now.steps, args[2]);
    return Py_NewRef(tool.disable);
}

static void stop(void) {
    pie_trace_steps_end(&now.steps);
    Py_CLEAR(now.frame);
}

static PyObject *on_return(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    if (is_here(args[0]) && PyEval_GetFrame() == now.frame)
        stop();
    Py_RETURN_NONE;
}

static PyObject *on_yield(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    if (is_here(args[0]) && PyEval_GetFrame() == now.frame) {
        now.why = PIE_TRACE_WHY_YIELDS;
        stop();
    }
    Py_RETURN_NONE;
}

static struct {
    const char *event;
    PyMethodDef method;
} callbacks[] = {
    {"INSTRUCTION", {"instruction", (PyCFunction)(void (*)(void))on_instruction, METH_FASTCALL, NULL}},
    {"CALL", {"call", (PyCFunction)(void (*)(void))on_call, METH_FASTCALL, NULL}},
    {"PY_RETURN", {"return", (PyCFunction)(void (*)(void))on_return, METH_FASTCALL, NULL}},
    {"PY_YIELD", {"yield", (PyCFunction)(void (*)(void))on_yield, METH_FASTCALL, NULL}},
};

static bool register_callback(PyObject *module, PyObject *events, size_t i) {
    PyObject *event = PyObject_GetAttrString(events, callbacks[i].event);
    PyObject *function = PyCFunction_New(&callbacks[i].method, NULL);
    PyObject *before = event && function ? PyObject_CallMethod(module, "register_callback", "iOO", tool.tool,
                                                               event, function)
                                         : NULL;
    bool r = before;

    if (r)
        tool.events |= (int)PyLong_AsLong(event);
    Py_XDECREF(before);
    Py_XDECREF(function);
    Py_XDECREF(event);
    return r;
}

/* Nobody's, or somebody's name. */
static bool is_free(PyObject *module, int number) {
    PyObject *name = PyObject_CallMethod(module, "get_tool", "i", number);
    bool r = name == Py_None;

    Py_XDECREF(name);
    return r;
}

static bool take_tool(PyObject *module) {
    tool.tool = TOOL_LAST;
    while (tool.tool >= TOOL_FIRST && !is_free(module, tool.tool))
        tool.tool--;
    if (tool.tool < TOOL_FIRST)
        return false;
    PyObject *r = PyObject_CallMethod(module, "use_tool_id", "is", tool.tool, "pieprof");
    Py_XDECREF(r);
    return r;
}

static bool set_up_with(PyObject *module) {
    PyObject *events = PyObject_GetAttrString(module, "events");
    bool r = events && take_tool(module);

    for (size_t i = 0; r && i < sizeof callbacks / sizeof *callbacks; i++)
        r = register_callback(module, events, i);
    Py_XDECREF(events);
    return r;
}

static bool set_up(void) {
    if (tool.was_looked_for)
        return tool.disable;
    tool.was_looked_for = true;
    PyObject *module = Py_XNewRef(PySys_GetObject("monitoring"));
    tool.monitoring = module ? pie_weak_new(module) : NULL;
    if (tool.monitoring && set_up_with(module))
        tool.disable = PyObject_GetAttrString(module, "DISABLE");
    Py_XDECREF(module);
    PyErr_Clear();
    return tool.disable;
}

static bool set_events(PyCodeObject *code, int events) {
    PyObject *module = pie_weak_get(tool.monitoring);
    PyObject *r =
        module ? PyObject_CallMethod(module, "set_local_events", "iOi", tool.tool, code, events) : NULL;

    Py_XDECREF(module);
    Py_XDECREF(r);
    return r;
}

static bool is_traced(const PyThreadState *tstate) {
    return tstate->c_tracefunc || tstate->c_profilefunc;
}

static bool is_watched_by_others(PyThreadState *tstate) {
    if (is_traced(tstate))
        return true;
    PyObject *module = pie_weak_get(tool.monitoring);
    bool r = !module;
    for (int i = 0; i < OTHER_TOOLS && !r; i++)
        r = !is_free(module, i);
    Py_XDECREF(module);
    return r;
}

/* Events are on for this code, if nobody else watches. */
static bool switch_on(PyThreadState *tstate, PyCodeObject *code, const char **ret_why) {
    if (now.code == code && !is_traced(tstate))
        return true;
    pie_trace_observe_rest();
    if (!set_up())
        return false;
    if (is_watched_by_others(tstate)) {
        *ret_why = PIE_TRACE_WHY_OTHERS;
        return false;
    }
    if (!set_events(code, tool.events))
        return false;
    now.code = (PyCodeObject *)Py_NewRef((PyObject *)code);
    return true;
}

bool pie_trace_observe_begin(struct pie_trace_loop *loop, const char **ret_why) {
    PyThreadState *tstate = PyThreadState_Get();
    PyFrameObject *frame =
        now.loop || PyInterpreterState_Get() != PyInterpreterState_Main() ? NULL : PyEval_GetFrame();

    if (!frame)
        return false;
    PyCodeObject *code = PyFrame_GetCode(frame);
    bool r = switch_on(tstate, code, ret_why) && pie_trace_steps_begin(&now.steps, loop, code);
    Py_DECREF(code);
    PyErr_Clear();
    if (!r)
        return false;
    now.loop = loop;
    now.tstate = tstate;
    now.why = NULL;
    now.frame = (PyFrameObject *)Py_NewRef((PyObject *)frame);
    return true;
}

bool pie_trace_observe_end(const char **ret_why, struct pie_trace_observed *ret_observed) {
    if (now.frame)
        stop();
    if (!now.why && is_traced(now.tstate))
        now.why = PIE_TRACE_WHY_OTHERS;
    *ret_observed = pie_trace_steps_result(&now.steps, SETTING_UP_NS);
    *ret_why = now.why;
    now.loop = NULL;
    return !now.why;
}

void pie_trace_observe_rest(void) {
    PyObject *type, *value, *traceback;

    if (!now.code || now.loop)
        return;
    PyErr_Fetch(&type, &value, &traceback);
    if (!set_events(now.code, 0))
        PyErr_Clear();
    Py_CLEAR(now.code);
    PyErr_Restore(type, value, traceback);
}
