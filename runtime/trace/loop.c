/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/trace/trace.h"

#include "profiler/base/clocks.h"

#include <string.h>

/* The iterator that a traced loop runs over: the program's own one with a count before it. An iteration lasts from one
 * item handed out to the next one asked for, or to the iterator's end when the loop is left in another way: by break,
 * return or an exception. What the program's iterator does to make an item is not of the loop's body. */

struct iterator {
    PyObject_HEAD PyObject *inner; /* NULL once it is exhausted or cleared */
    struct pie_trace_loop *loop;   /* NULL before the first item, and where there is nothing to trace */
    uint64_t iterations;           /* since the last pie_trace_next() */
    uint32_t left;                 /* iterations until one is looked at */
    enum pie_trace_look next;      /* and how */
    enum pie_trace_look looking;   /* 0: this iteration is left alone */
    bool is_entered;
    uint64_t begun_ns;
};

static void plan(struct iterator *self) {
    self->left = pie_trace_next(self->loop, self->iterations, &self->next);
    self->iterations = 0;
    if (self->next != PIE_TRACE_OBSERVE || self->left != 1)
        pie_trace_observe_rest();
}

static void begin_look(struct iterator *self) {
    const char *why = NULL;

    self->looking = self->next;
    if (self->looking == PIE_TRACE_OBSERVE && !pie_trace_observe_begin(self->loop, &why)) {
        if (why)
            pie_trace_lost(self->loop, why);
        self->looking = PIE_TRACE_TIME;
    }
    self->begun_ns = pie_monotonic_ns();
}

static void end_look(struct iterator *self) {
    uint64_t ended_ns = pie_monotonic_ns();
    struct pie_trace_observed observed;
    const char *why = NULL;

    if (self->looking == PIE_TRACE_TIME)
        pie_trace_timed(self->loop, self->begun_ns, ended_ns);
    else if (pie_trace_observe_end(&why, &observed))
        pie_trace_observed(self->loop, &observed);
    else
        pie_trace_lost(self->loop, why);
    self->looking = 0;
    plan(self);
}

/* The loop is the one in whose frame the first item is asked for. */
static void enter(struct iterator *self) {
    struct pie_trace_place place;

    self->is_entered = true;
    if (!pie_trace_here(&place))
        return;
    self->loop = pie_trace_open(place.file, place.line, place.function);
    if (!self->loop)
        return;
    pie_trace_enter(self->loop);
    plan(self);
}

static void leave(struct iterator *self) {
    if (self->looking)
        end_look(self);
    if (self->loop) {
        pie_trace_observe_rest();
        pie_trace_leave(self->loop, self->iterations);
    }
    self->loop = NULL;
}

static PyObject *iterator_next(struct iterator *self) {
    if (self->looking)
        end_look(self);
    if (!self->inner)
        return NULL;
    if (!self->is_entered)
        enter(self);
    PyObject *item = Py_TYPE(self->inner)->tp_iternext(self->inner);
    if (!self->loop)
        return item;
    if (!item) {
        leave(self);
        return NULL;
    }
    self->iterations++;
    if (--self->left == 0)
        begin_look(self);
    return item;
}

static int iterator_traverse(struct iterator *self, visitproc visit, void *arg) {
    Py_VISIT(self->inner);
    return 0;
}

static int iterator_clear(struct iterator *self) {
    Py_CLEAR(self->inner);
    return 0;
}

static void iterator_dealloc(struct iterator *self) {
    PyObject *type, *value, *traceback;

    PyObject_GC_UnTrack(self);
    PyErr_Fetch(&type, &value, &traceback); /* the loop may be left by an exception */
    leave(self);
    PyErr_Restore(type, value, traceback);
    iterator_clear(self);
    PyObject_GC_Del(self);
}

static PyTypeObject iterator_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pieprof.loop_iterator",
    .tp_basicsize = sizeof(struct iterator),
    .tp_dealloc = (destructor)iterator_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "The iterator that a traced loop runs over.",
    .tp_traverse = (traverseproc)iterator_traverse,
    .tp_clear = (inquiry)iterator_clear,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = (iternextfunc)iterator_next,
};

PyDoc_STRVAR(
    loop_doc,
    "loop(iterable, /)\n--\n\n"
    "An iterator over iterable. Under pieprof, the calls made directly in the body of the for loop that\n"
    "runs over it are traced: which take how much of the loop's time, by timing some of them\n"
    "(`pieprof query FILE \"learned calls\"`). Otherwise it is iter(iterable).");

static PyObject *loop(PyObject *module, PyObject *iterable) {
    PyObject *inner = PyObject_GetIter(iterable);

    if (!inner || !pie_trace_is_on())
        return inner;
    struct iterator *self = PyObject_GC_New(struct iterator, &iterator_type);
    if (!self) {
        Py_DECREF(inner);
        return NULL;
    }
    self->inner = inner;
    self->loop = NULL;
    self->iterations = 0;
    self->looking = 0;
    self->is_entered = false;
    PyObject_GC_Track(self);
    return (PyObject *)self;
}

static PyMethodDef methods[] = {
    {"loop", loop, METH_O, loop_doc},
    {NULL, NULL, 0, NULL},
};

static int prepare(PyObject *module) {
    return PyType_Ready(&iterator_type);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)prepare},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED}, /* loops are not traced there: loop() is iter() */
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "pieprof",
    .m_doc = "What a program that runs under pieprof can tell it.",
    .m_methods = methods,
    .m_slots = slots,
};

static PyObject *make_module(void) {
    return PyModuleDef_Init(&definition);
}

/* CPython's table of built-in modules with ours at its end. PyImport_AppendInittab() makes such a copy too, but 3.12
 * takes a lock there that it has not got where memory is short, and crashes. */
static struct _inittab builtins[256];

int pie_trace_module_install(void) {
    size_t count = 0;

    while (PyImport_Inittab[count].name)
        count++;
    if (count + 2 > sizeof builtins / sizeof *builtins)
        return PyImport_AppendInittab("pieprof", make_module);
    memcpy(builtins, PyImport_Inittab, count * sizeof *builtins);
    builtins[count] = (struct _inittab){"pieprof", make_module};
    PyImport_Inittab = builtins;
    return 0;
}
