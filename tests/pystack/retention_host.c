/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include <pthread.h>
#include <stdlib.h>

#include "runtime/retention/layout.h"
#include "runtime/retention/retention.h"
#include "tests/pystack/sampler.h"

/* A Python with the module `_retention`, through which test scripts ask who holds blocks of memory. Addresses are
 * disguised there: an int that is an address would be found as one. */

#define DISGUISE UINT64_C(0x5a5a000000000005)

static PyObject *disguised(uintptr_t address) {
    return PyLong_FromUnsignedLong(address ^ DISGUISE);
}

/* Where the object's allocation begins. */
static PyObject *block_of(PyObject *module, PyObject *object) {
    return disguised((uintptr_t)object -
                     (PyObject_IS_GC(object) ? pie_retention_header_bytes(Py_TYPE(object)) : 0));
}

/* word_of(object, offset): what the object has there. */
static PyObject *word_of(PyObject *module, PyObject *args) {
    PyObject *object;
    Py_ssize_t offset;

    if (!PyArg_ParseTuple(args, "On", &object, &offset))
        return NULL;
    return disguised(*(uintptr_t *)((char *)object + offset));
}

static PyObject *keys_of(PyObject *module, PyObject *dict) {
    return disguised((uintptr_t)((PyDictObject *)dict)->ma_keys);
}

/* The attributes of an instance; None if they have no block of their own. */
static PyObject *values_of(PyObject *module, PyObject *object) {
    struct pie_retention_values values = {.block = 0};

    if (!pie_retention_values(object, &values) || !values.block)
        Py_RETURN_NONE;
    return disguised(values.block);
}

/* The n-th block of a deque. */
static PyObject *deque_block(PyObject *module, PyObject *args) {
    PyObject *deque;
    int n;

    if (!PyArg_ParseTuple(args, "Oi", &deque, &n))
        return NULL;
    void **block = *(void ***)((char *)deque + sizeof(PyVarObject));
    while (n-- > 0)
        block = block[65];
    return disguised((uintptr_t)block);
}

static PyObject *disguise(PyObject *module, PyObject *address) {
    return disguised(PyLong_AsUnsignedLongMask(address));
}

static PyObject *native;

/* Keeps a reference where only C sees it; None lets go. */
static PyObject *hold(PyObject *module, PyObject *object) {
    Py_INCREF(object);
    Py_XSETREF(native, object);
    Py_RETURN_NONE;
}

static size_t take_blocks(PyObject *list, uintptr_t blocks[PIE_RETENTION_BLOCKS_MAX]) {
    size_t n = 0;

    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list) && n < PIE_RETENTION_BLOCKS_MAX; i++)
        blocks[n++] = PyLong_AsUnsignedLongMask(PyList_GET_ITEM(list, i)) ^ DISGUISE;
    return n;
}

/* find(blocks, budget_ns, size): (result, text, nanoseconds). */
static PyObject *find(PyObject *module, PyObject *args) {
    uintptr_t blocks[PIE_RETENTION_BLOCKS_MAX];
    char text[PIE_RETENTION_TEXT_BYTES];
    struct timespec start, end;
    unsigned long long budget_ns;
    PyObject *list;
    unsigned size;

    if (!PyArg_ParseTuple(args, "O!KI", &PyList_Type, &list, &budget_ns, &size))
        return NULL;
    if (!size || size > sizeof text)
        return PyErr_Format(PyExc_ValueError, "no such size");
    size_t n = take_blocks(list, blocks);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    int r = pie_retention_find(blocks, n, budget_ns, text, size);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    return Py_BuildValue("(isL)", r, text,
                         (long long)(end.tv_sec - start.tv_sec) * 1000000000 + end.tv_nsec - start.tv_nsec);
}

/* --- from a thread that Python does not know --- */

struct request {
    struct pie_node_id node;
    uintptr_t blocks[PIE_RETENTION_BLOCKS_MAX];
    size_t n;
    bool r;
    char text[PIE_RETENTION_TEXT_BYTES];
};

static void *ask_there(void *arg) {
    struct request *request = arg;

    request->r = pie_retention_ask(request->node, request->blocks, request->n, 10 * UINT64_C(1000000000));
    return NULL;
}

static void *take_there(void *arg) {
    struct request *request = arg;

    request->r = pie_retention_answer(&request->node, request->text, sizeof request->text);
    return NULL;
}

static bool elsewhere(void *(*run)(void *), struct request *request) {
    pthread_t thread;

    return pthread_create(&thread, NULL, run, request) == 0 && pthread_join(thread, NULL) == 0;
}

/* ask(node, blocks): was it taken? */
static PyObject *ask(PyObject *module, PyObject *args) {
    struct request request;
    PyObject *list;

    if (!PyArg_ParseTuple(args, "IO!", &request.node.value, &PyList_Type, &list))
        return NULL;
    request.n = take_blocks(list, request.blocks);
    if (!elsewhere(ask_there, &request))
        return PyErr_SetFromErrno(PyExc_OSError);
    return PyBool_FromLong(request.r);
}

/* (node, text), or None. */
static PyObject *answer(PyObject *module, PyObject *none) {
    struct request request;

    if (!elsewhere(take_there, &request))
        return PyErr_SetFromErrno(PyExc_OSError);
    if (!request.r)
        Py_RETURN_NONE;
    return Py_BuildValue("(Is)", request.node.value, request.text);
}

/* At the end of the process: what was asked for last has been answered by the interpreter's finalization, and nothing
 * more can be asked for. */
static void *check_there(void *unused) {
    const uintptr_t block = 64;
    char text[PIE_RETENTION_TEXT_BYTES];
    struct pie_node_id node;

    if (pie_retention_answer(&node, text, sizeof text))
        printf("at the end: %u %s\n", (unsigned)node.value, text);
    printf("asked: %d\n", pie_retention_ask((struct pie_node_id){1}, &block, 1, 1));
    fflush(stdout);
    return NULL;
}

static void check_at_exit(void) {
    pthread_t thread;

    if (pthread_create(&thread, NULL, check_there, NULL) == 0)
        pthread_join(thread, NULL);
}

static PyObject *report_at_exit(PyObject *module, PyObject *none) {
    return PyLong_FromLong(atexit(check_at_exit));
}

static PyObject *fork_child(PyObject *module, PyObject *none) {
    pie_retention_fork_child();
    Py_RETURN_NONE;
}

static int nothing(void *unused) {
    return 0;
}

/* Fills the interpreter's queue; how many calls it took. */
static PyObject *fill_queue(PyObject *module, PyObject *none) {
    long n = 0;

    while (n < 100000 && pie_retention_schedule(nothing))
        n++;
    return PyLong_FromLong(n);
}

/* --- a handle: an object that points to memory of malloc(), not tracked by the garbage collector --- */

struct handle {
    PyObject head;
    void *memory;
};

static PyObject *handle_new(PyTypeObject *type, PyObject *args, PyObject *names) {
    struct handle *handle = (struct handle *)type->tp_alloc(type, 0);

    if (handle)
        handle->memory = calloc(1, 1000);
    return (PyObject *)handle;
}

static void handle_free(PyObject *object) {
    free(((struct handle *)object)->memory);
    Py_TYPE(object)->tp_free(object);
}

static PyTypeObject handle_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_retention.Handle",
    .tp_basicsize = sizeof(struct handle),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = handle_new,
    .tp_dealloc = handle_free,
};

static PyMethodDef methods[] = {
    {"block_of", block_of, METH_O, NULL},
    {"word_of", word_of, METH_VARARGS, NULL},
    {"keys_of", keys_of, METH_O, NULL},
    {"values_of", values_of, METH_O, NULL},
    {"deque_block", deque_block, METH_VARARGS, NULL},
    {"disguise", disguise, METH_O, NULL},
    {"hold", hold, METH_O, NULL},
    {"find", find, METH_VARARGS, NULL},
    {"ask", ask, METH_VARARGS, NULL},
    {"answer", answer, METH_NOARGS, NULL},
    {"report_at_exit", report_at_exit, METH_NOARGS, NULL},
    {"fork_child", fork_child, METH_NOARGS, NULL},
    {"fill_queue", fill_queue, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_retention", .m_size = -1,
                                        .m_methods = methods};

static PyObject *make_module(void) {
    PyObject *module = PyType_Ready(&handle_type) < 0 ? NULL : PyModule_Create(&definition);

    if (!module || PyModule_AddObjectRef(module, "Handle", (PyObject *)&handle_type) < 0)
        return NULL;
    return module;
}

int main(int argc, char **argv) {
    PyPreConfig preconfig;
    PyConfig config;

    if (!sampler_take_signals() || PyImport_AppendInittab("_retention", make_module) < 0)
        return 99;
    PyPreConfig_InitPythonConfig(&preconfig);
    if (PyStatus_Exception(Py_PreInitializeFromBytesArgs(&preconfig, argc, argv)))
        return 99;
    PyConfig_InitPythonConfig(&config);
    if (PyStatus_Exception(PyConfig_SetBytesArgv(&config, argc, argv)) ||
        PyStatus_Exception(Py_InitializeFromConfig(&config)))
        return 99;
    PyConfig_Clear(&config);
    pie_retention_install();
    return Py_RunMain();
}
