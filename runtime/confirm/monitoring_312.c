/* SPDX-License-Identifier: Apache-2.0 */
#define Py_BUILD_CORE 1
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <internal/pycore_interp.h>
#undef Py_BUILD_CORE

#include "runtime/confirm/monitoring.h"

#include <errno.h>

#include "runtime/confirm/bytecode_312.h"
#include "runtime/confirm/sites.h"
#include "runtime/interpreter/methods.h"
#include "runtime/interpreter/weak.h"

/* One tool of sys.monitoring alone gets all events of instructions. In 3.12 and 3.13, code with two tools of any kind
 * loses those of the one that came first (update_instrumentation_data() forgets it). sys.settrace() and
 * sys.setprofile() are tools as well. So ours is given back before anybody else comes, and is taken again when all
 * others have gone. The functions by which they come and go are exchanged; PyEval_SetTrace() is noticed at the next
 * new function.
 *
 * What asks for our tool gets the answer that nobody has it. */

enum { FOR_ALL = 6, NONE = -1 }; /* tools of programs are numbered from 0 */

static const int TOOLS[] = {4, 3, 5}; /* not those of debuggers, coverage and profilers */
enum { BRIEF_TOOLS = 2 };             /* nor of optimizers */

static struct {
    const struct pie_monitoring_callbacks *callbacks;
    PyInterpreterState *interp;
    PyObject *monitoring; /* weak */
    PyObject *disable;
    _PyCFunctionFast set_local;
    PyObject *name;                 /* of a tool that is there for a while only */
    bool is_brief;                  /* it is such a one */
    int start, unwind, instruction; /* numbers of events */
    int tool;                       /* NONE: given back */
    bool is_busy;                   /* with the functions that are exchanged */
} own = {.tool = NONE};

/* --- What sys.monitoring calls --- */

/* No built-in function: its call would count for the depth of a recursion. The type is not made ready, because the
 * program would find it among the subclasses of object; for a call it need not be. */
struct callback {
    PyObject head;
    vectorcallfunc vectorcall;
    pie_monitoring_callback *function;
};

static PyObject *call(PyObject *object, PyObject *const *args, size_t count, PyObject *names) {
    bool is_enough = ((struct callback *)object)->function(args[0], args[1]);

    return Py_NewRef(is_enough ? own.disable : Py_None);
}

static PyTypeObject callback_type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0).tp_name = "pieprof.callback",
    .tp_basicsize = sizeof(struct callback),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(struct callback, vectorcall),
    .tp_call = PyVectorcall_Call,
};

static struct callback on_start = {PyObject_HEAD_INIT(&callback_type).vectorcall = call};
static struct callback on_unwind = {PyObject_HEAD_INIT(&callback_type).vectorcall = call};
static struct callback on_instruction = {PyObject_HEAD_INIT(&callback_type).vectorcall = call};

/* --- Our tool --- */

/* Takes over the result of a call. */
static bool succeeded(PyObject *result) {
    Py_XDECREF(result);
    PyErr_Clear();
    return result;
}

/* Calls a function of sys.monitoring; format: of a tuple, as for Py_BuildValue(). */
static bool ask(const char *name, const char *format, ...) {
    va_list values;

    va_start(values, format);
    PyObject *module = pie_weak_get(own.monitoring);
    PyObject *function = module ? PyObject_GetAttrString(module, name) : NULL;
    PyObject *args = function ? Py_VaBuildValue(format, values) : NULL;
    va_end(values);
    bool r = succeeded(args ? PyObject_CallObject(function, args) : NULL);
    Py_XDECREF(args);
    Py_XDECREF(function);
    Py_XDECREF(module);
    return r;
}

static bool set_callback(int tool, int event, PyObject *callback) {
    return ask("register_callback", "(iiO)", tool, event, callback);
}

static bool set_callbacks(int tool, bool is_on) {
    bool r = set_callback(tool, own.start, is_on ? &on_start.head : Py_None);

    r = set_callback(tool, own.unwind, is_on ? &on_unwind.head : Py_None) && r;
    return set_callback(tool, own.instruction, is_on ? &on_instruction.head : Py_None) && r;
}

static bool set_events(int tool, int events) {
    return ask("set_events", "(ii)", tool, events);
}

/* By the C function, whatever the program has put in its place. */
static bool set_local_events(int tool, PyCodeObject *code, int events) {
    PyObject *module = pie_weak_get(own.monitoring);
    PyObject *number = PyLong_FromLong(tool), *set = PyLong_FromLong(events);
    PyObject *args[] = {number, (PyObject *)code, set};
    bool r = succeeded(module && number && set ? own.set_local(module, args, 3) : NULL);

    Py_XDECREF(set);
    Py_XDECREF(number);
    Py_XDECREF(module);
    return r;
}

/* Nor has anybody left callbacks there. */
static bool is_free(int tool) {
    if (own.interp->monitoring_tool_names[tool])
        return false;
    for (int event = 0; event < _PY_MONITORING_EVENTS; event++)
        if (own.interp->monitoring_callables[tool][event])
            return false;
    return true;
}

static void release(int tool) {
    for (struct pie_confirm_code *code = pie_confirm_codes; code; code = code->next) {
        if (code->is_armed)
            (void)set_local_events(tool, code->code, 0);
        code->is_armed = false;
    }
    (void)set_events(tool, 0);
    (void)set_callbacks(tool, false);
    (void)ask("free_tool_id", "(i)", tool);
}

static bool take(int tool) {
    if (!ask("use_tool_id", "(is)", tool, "pieprof"))
        return false;
    if (set_callbacks(tool, true) && set_events(tool, own.start | own.unwind))
        return true;
    release(tool);
    return false;
}

/* Code that runs already gets its events back too. */
static void arm_all(void) {
    for (struct pie_confirm_code *code = pie_confirm_codes; code; code = code->next)
        pie_monitoring_arm(code);
}

bool pie_monitoring_has_others(void) {
    if (own.interp->sys_tracing_threads || own.interp->sys_profiling_threads)
        return true;
    for (int i = 0; i < FOR_ALL; i++)
        if (i != own.tool && own.interp->monitoring_tool_names[i])
            return true;
    return false;
}

void pie_monitoring_arm(struct pie_confirm_code *code) {
    bool was_busy = own.is_busy;

    own.is_busy = true;
    if (own.is_brief)
        pie_confirm_bytecode_keep(code);
    code->is_armed = set_local_events(own.tool, code->code, own.instruction | (own.is_brief ? own.start : 0));
    own.is_busy = was_busy;
    if (!code->is_armed && pie_confirm_board)
        pie_confirm_board->is_short = true;
}

static bool is_here(void) {
    return PyInterpreterState_Get() == own.interp;
}

void pie_monitoring_step_aside(void) {
    int tool = own.tool;

    if (tool == NONE || !is_here())
        return;
    if (own.is_brief) {
        own.callbacks->gone();
        return;
    }
    PyObject *exception = PyErr_GetRaisedException();
    own.is_busy = true;
    own.tool = NONE;
    release(tool);
    own.is_busy = false;
    own.callbacks->gone();
    PyErr_SetRaisedException(exception);
}

/* Nothing is counted any more after a fork, nor in another interpreter. */
static void come_back(void) {
    if (own.is_brief || own.tool != NONE || !pie_confirm_board || !is_here() || pie_monitoring_has_others())
        return;
    PyObject *exception = PyErr_GetRaisedException();
    own.is_busy = true;
    for (size_t i = 0; i < sizeof TOOLS / sizeof *TOOLS && own.tool == NONE; i++)
        if (is_free(TOOLS[i]) && take(TOOLS[i]))
            own.tool = TOOLS[i];
    if (own.tool != NONE)
        arm_all();
    own.is_busy = false;
    PyErr_SetRaisedException(exception);
}

/* --- The functions of others --- */

enum exchanged {
    USE,
    REGISTER,
    SET,
    SET_LOCAL,
    GET_LOCAL,
    GET_ALL,
    FREE,
    GET,
    GET_EVENTS,
    TRACE,
    PROFILE,
    TRACE_ALL,
    PROFILE_ALL,
    EXCHANGED
};

static PyCFunction before[EXCHANGED];

static PyObject *around_several(enum exchanged which, PyObject *module, PyObject *const *args,
                                Py_ssize_t count) {
    _PyCFunctionFast function = (_PyCFunctionFast)(void (*)(void))before[which];

    if (own.is_busy)
        return function(module, args, count);
    pie_monitoring_step_aside();
    PyObject *result = function(module, args, count);
    come_back();
    return result;
}

static PyObject *use_tool(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    return around_several(USE, module, args, count);
}

static PyObject *register_callback(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    return around_several(REGISTER, module, args, count);
}

static PyObject *set_global(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    return around_several(SET, module, args, count);
}

static PyObject *set_local(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    return around_several(SET_LOCAL, module, args, count);
}

static bool is_our_tool(PyObject *number) {
    return !own.is_busy && own.tool != NONE && is_here() && PyLong_CheckExact(number) &&
           PyLong_AsLong(number) == own.tool;
}

/* Of our tool: as if it were nobody's. */
static PyObject *get_local(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    if (count == 2 && is_our_tool(args[0]) && PyCode_Check(args[1]))
        return PyLong_FromLong(0);
    PyErr_Clear(); /* a number that is too large */
    return ((_PyCFunctionFast)(void (*)(void))before[GET_LOCAL])(module, args, count);
}

static PyObject *get_all(PyObject *module, PyObject *nothing) {
    pie_monitoring_step_aside();
    PyObject *result = before[GET_ALL](module, nothing);
    come_back();
    return result;
}

static PyObject *get_tool(PyObject *module, PyObject *number) {
    if (is_our_tool(number))
        Py_RETURN_NONE;
    PyErr_Clear();
    return before[GET](module, number);
}

static PyObject *get_events(PyObject *module, PyObject *number) {
    if (is_our_tool(number))
        return PyLong_FromLong(0);
    PyErr_Clear();
    return before[GET_EVENTS](module, number);
}

static PyObject *free_tool(PyObject *module, PyObject *number) {
    if (is_our_tool(number))
        Py_RETURN_NONE;
    PyErr_Clear();
    PyObject *result = before[FREE](module, number);
    if (!own.is_busy)
        come_back();
    return result;
}

/* Nobody comes by switching off. */
static PyObject *around_tracer(enum exchanged which, PyObject *module, PyObject *function) {
    if (function != Py_None)
        pie_monitoring_step_aside();
    PyObject *result = before[which](module, function);
    come_back();
    return result;
}

static PyObject *set_trace(PyObject *module, PyObject *function) {
    return around_tracer(TRACE, module, function);
}

static PyObject *set_profile(PyObject *module, PyObject *function) {
    return around_tracer(PROFILE, module, function);
}

static PyObject *set_trace_all(PyObject *module, PyObject *function) {
    return around_tracer(TRACE_ALL, module, function);
}

static PyObject *set_profile_all(PyObject *module, PyObject *function) {
    return around_tracer(PROFILE_ALL, module, function);
}

#define SEVERAL(function) (PyCFunction)(void (*)(void))(function)

static const struct {
    const char *name;
    bool is_of_monitoring;
    int flags;
    PyCFunction with;
} functions[EXCHANGED] = {
    [USE] = {"use_tool_id", true, METH_FASTCALL, SEVERAL(use_tool)},
    [REGISTER] = {"register_callback", true, METH_FASTCALL, SEVERAL(register_callback)},
    [SET] = {"set_events", true, METH_FASTCALL, SEVERAL(set_global)},
    [SET_LOCAL] = {"set_local_events", true, METH_FASTCALL, SEVERAL(set_local)},
    [GET_LOCAL] = {"get_local_events", true, METH_FASTCALL, SEVERAL(get_local)},
    [GET_ALL] = {"_all_events", true, METH_NOARGS, get_all},
    [FREE] = {"free_tool_id", true, METH_O, free_tool},
    [GET] = {"get_tool", true, METH_O, get_tool},
    [GET_EVENTS] = {"get_events", true, METH_O, get_events},
    [TRACE] = {"settrace", false, METH_O, set_trace},
    [PROFILE] = {"setprofile", false, METH_O, set_profile},
    [TRACE_ALL] = {"_settraceallthreads", false, METH_O, set_trace_all},
    [PROFILE_ALL] = {"_setprofileallthreads", false, METH_O, set_profile_all},
};

static bool exchange(enum exchanged which, PyObject *module) {
    const char *name = functions[which].name;
    PyObject *function = functions[which].is_of_monitoring ? PyObject_GetAttrString(module, name)
                                                           : Py_XNewRef(PySys_GetObject(name));

    before[which] = pie_function_exchange(function, name, functions[which].flags, functions[which].with);
    Py_XDECREF(function);
    PyErr_Clear();
    return before[which];
}

/* --- Beginning --- */

static int number_of(PyObject *events, const char *name) {
    PyObject *number = events ? PyObject_GetAttrString(events, name) : NULL;
    int r = number ? (int)PyLong_AsLong(number) : 0;

    Py_XDECREF(number);
    return r;
}

static bool find_monitoring(void) {
    PyObject *module = PySys_GetObject("monitoring"); /* borrowed */

    own.monitoring = module ? pie_weak_new(module) : NULL;
    if (!own.monitoring)
        return false;
    own.disable = PyObject_GetAttrString(module, "DISABLE");
    PyObject *events = PyObject_GetAttrString(module, "events");
    own.start = number_of(events, "PY_START");
    own.unwind = number_of(events, "PY_UNWIND");
    own.instruction = number_of(events, "INSTRUCTION");
    Py_XDECREF(events);
    return own.disable && own.start && own.unwind && own.instruction;
}

/* The functions of sys.monitoring have a reference to it, so none is kept. */
static bool exchange_all(void) {
    PyObject *module = pie_weak_get(own.monitoring);
    bool r = module;

    for (enum exchanged which = 0; r && which < EXCHANGED; which++)
        r = exchange(which, module);
    Py_XDECREF(module);
    own.set_local = (_PyCFunctionFast)(void (*)(void))before[SET_LOCAL];
    return r;
}

static int prepare(const struct pie_monitoring_callbacks *callbacks) {
    own.callbacks = callbacks;
    own.interp = PyInterpreterState_Get();
    on_start.function = callbacks->start;
    on_unwind.function = callbacks->unwind;
    on_instruction.function = callbacks->instruction;
    bool r = find_monitoring() && exchange_all();
    PyErr_Clear();
    return r ? 0 : -ENOSYS;
}

int pie_monitoring_begin(const struct pie_monitoring_callbacks *callbacks) {
    int r = prepare(callbacks);

    if (r < 0)
        return r;
    come_back();
    if (own.tool == NONE)
        callbacks->gone();
    return 0;
}

/* --- For a while --- */

/* register_callback() would raise an audit event, and free_tool_id() has all code looked at again from 3.14 on. So
 * names and callbacks are written where they are. The interpreter may be another release than that of the
 * headers: whether it has them there is tried once, before the program starts. */

static bool are_where_they_should_be(void) {
    int tool = TOOLS[0];
    PyObject **names = own.interp->monitoring_tool_names;

    if (pie_monitoring_has_others() || !is_free(tool))
        return false;
    bool is_there = ask("use_tool_id", "(iO)", tool, own.name) && names[tool] == own.name;
    if (is_there)
        Py_CLEAR(names[tool]);
    else
        (void)ask("free_tool_id", "(i)", tool);
    return is_there;
}

int pie_monitoring_prepare(const struct pie_monitoring_callbacks *callbacks) {
    int r = prepare(callbacks);

    own.is_brief = true;
    own.name = PyUnicode_FromString("pieprof");
    if (r < 0 || !own.name || !are_where_they_should_be())
        r = -ENOSYS;
    PyErr_Clear();
    return r;
}

static void write_callbacks(int tool, bool is_on) {
    PyObject **callables = own.interp->monitoring_callables[tool];

    callables[PY_MONITORING_EVENT_PY_START] = is_on ? &on_start.head : NULL;
    callables[PY_MONITORING_EVENT_INSTRUCTION] = is_on ? &on_instruction.head : NULL;
}

bool pie_monitoring_take(void) {
    if (own.tool != NONE || !is_here() || pie_monitoring_has_others())
        return false;
    for (int i = 0; i < BRIEF_TOOLS && own.tool == NONE; i++)
        if (is_free(TOOLS[i]))
            own.tool = TOOLS[i];
    if (own.tool == NONE)
        return false;
    own.interp->monitoring_tool_names[own.tool] = Py_NewRef(own.name);
    write_callbacks(own.tool, true);
    return true;
}

bool pie_monitoring_give_back(void) {
    int tool = own.tool;

    if (tool == NONE || !is_here())
        return tool == NONE;
    PyObject *exception = PyErr_GetRaisedException();
    bool has_others = pie_monitoring_has_others();
    own.is_busy = true;
    for (struct pie_confirm_code *code = pie_confirm_codes; code; code = code->next) {
        if (!code->is_armed)
            continue;
        (void)set_local_events(tool, code->code, 0);
        if (!has_others)
            pie_confirm_bytecode_put_back(code);
        code->is_armed = code->is_kept = false;
    }
    write_callbacks(tool, false);
    Py_CLEAR(own.interp->monitoring_tool_names[tool]);
    own.tool = NONE;
    own.is_busy = false;
    PyErr_SetRaisedException(exception);
    return true;
}
