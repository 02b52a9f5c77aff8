/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include <unistd.h>

#include "profiler/base/region.h"
#include "profiler/watch/internal.h"
#include "runtime/objects/digest.h"
#include "runtime/stacks/pyframe.h"
#include "tests/pystack/memory.h"
#include "tests/pystack/probe.h"
#include "tests/pystack/sampler.h"

/* A Python with the module `_walk`, through which test scripts look at their own stacks as a handler sees them. */

/* A frame as (qualname, file, line, has_marker); None if it could not be named. */
static PyObject *frame_as_object(uint32_t id, uint32_t offset, bool has_marker) {
    const char *file, *qualname;
    int32_t first_line;

    if (sampler_ops()->describe(id, &file, &qualname, &first_line) < 0)
        Py_RETURN_NONE;
    return Py_BuildValue("(ssiN)", qualname, file, (int)sampler_ops()->line(id, offset),
                         PyBool_FromLong(has_marker));
}

/* Of the innermost frame of the last sample. */
static unsigned operation_sampled;
static struct pie_call_read read_sampled;

static void note_read(void) {
    struct pie_pyframe frame;
    unsigned flags;

    if (sampler_ops()->walk(&frame, 1, &flags) == 0 || !sampler_ops()->call_read(&frame, &read_sampled))
        read_sampled.kind = PIE_READ_NONE;
}

PyObject *walk_host_sample(void) {
    const struct sampler_sample *sample = sampler_take();
    unsigned flags = sample->flags;
    PyObject *list = PyList_New((Py_ssize_t)sample->n);

    note_read();
    operation_sampled =
        sample->n ? sampler_ops()->operation(sample->frames[0].id, sample->frames[0].offset) : 0;
    for (size_t i = 0; list && i < sample->n; i++) {
        PyObject *frame =
            frame_as_object(sample->frames[i].id, sample->frames[i].offset, sample->frames[i].has_marker);
        if (!frame)
            return NULL;
        PyList_SET_ITEM(list, (Py_ssize_t)i, frame);
    }
    return list ? Py_BuildValue("(NI)", list, flags) : NULL;
}

static PyObject *sample(PyObject *module, PyObject *none) {
    return walk_host_sample();
}

/* Another thread, which does not run meanwhile, as the collection thread would see it. */
static PyObject *sample_thread(PyObject *module, PyObject *arg) {
    const struct pie_pystack_ops *ops = sampler_ops();
    struct pie_pyframe frames[SAMPLER_FRAMES_MAX];
    uintptr_t tstate = ops->find_tstate((int32_t)PyLong_AsLong(arg));
    unsigned flags;
    size_t n = ops->walk_thread(tstate, frames, SAMPLER_FRAMES_MAX, &flags);
    PyObject *list = PyList_New(0);

    for (size_t i = 0; list && i < n; i++) {
        PyObject *frame =
            frame_as_object(ops->intern_by_content(frames[i].code, tstate),
                            ops->instr_offset(frames[i].code, frames[i].instr), frames[i].marker != 0);
        if (!frame || PyList_Append(list, frame) < 0)
            return NULL;
        Py_DECREF(frame);
    }
    return Py_BuildValue("(NI)", list, flags);
}

static PyObject *intern(PyObject *module, PyObject *code) {
    return PyLong_FromUnsignedLong(sampler_ops()->intern((uintptr_t)code));
}

static PyObject *intern_by_content(PyObject *module, PyObject *code) {
    return PyLong_FromUnsignedLong(sampler_ops()->intern_by_content((uintptr_t)code, 0));
}

/* (file, qualname, first line) as the registry holds them. */
static PyObject *describe(PyObject *module, PyObject *code) {
    const char *file, *qualname;
    int32_t first_line;

    if (sampler_ops()->describe(sampler_ops()->intern((uintptr_t)code), &file, &qualname, &first_line) < 0)
        Py_RETURN_NONE;
    return Py_BuildValue("(ssi)", file, qualname, (int)first_line);
}

/* How many code units of a code object have another line in the registry than PyCode_Addr2Line says. */
static PyObject *line_differences(PyObject *module, PyObject *code) {
    uint32_t id = sampler_ops()->intern((uintptr_t)code);
    const Py_ssize_t strides[] = {1, 7919}, most_units[] = {PY_SSIZE_T_MAX, 50}; /* then some, out of order */
    long most = 0;

    if (!PyCode_Check(code))
        return PyErr_Format(PyExc_TypeError, "not a code object");
    for (int way = 0; way < 2; way++) {
        long differences = 0;
        for (Py_ssize_t i = 0; i < Py_SIZE(code) && i < most_units[way]; i++) {
            Py_ssize_t unit = i * strides[way] % Py_SIZE(code);
            int truth = PyCode_Addr2Line((PyCodeObject *)code, (int)unit * PIE_PYFRAME_UNIT_BYTES);
            differences += sampler_ops()->line(id, (uint32_t)unit) != (truth > 0 ? truth : 0);
        }
        most = differences > most ? differences : most;
    }
    return PyLong_FromLong(most);
}

/* A byte for each code unit. */
static PyObject *operations_of(uint32_t id, PyObject *code) {
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, Py_SIZE(code));

    for (Py_ssize_t unit = 0; bytes && unit < Py_SIZE(code); unit++)
        PyBytes_AS_STRING(bytes)[unit] = (char)sampler_ops()->operation(id, (uint32_t)unit);
    return bytes;
}

static PyObject *operations(PyObject *module, PyObject *code) {
    return operations_of(sampler_ops()->intern((uintptr_t)code), code);
}

static PyObject *operations_by_content(PyObject *module, PyObject *code) {
    return operations_of(sampler_ops()->intern_by_content((uintptr_t)code, 0), code);
}

/* operation(code, unit) */
static PyObject *operation(PyObject *module, PyObject *args) {
    PyObject *code;
    unsigned unit;

    if (!PyArg_ParseTuple(args, "OI", &code, &unit))
        return NULL;
    return PyLong_FromUnsignedLong(
        sampler_ops()->operation(sampler_ops()->intern((uintptr_t)code), (uint32_t)unit));
}

/* line_is_in_loop(code, line) */
static PyObject *line_is_in_loop(PyObject *module, PyObject *args) {
    PyObject *code;
    int line;

    if (!PyArg_ParseTuple(args, "O!i", &PyCode_Type, &code, &line))
        return NULL;
    return PyBool_FromLong(sampler_ops()->line_is_in_loop(sampler_ops()->intern((uintptr_t)code), line));
}

static PyObject *last_operation(PyObject *module, PyObject *none) {
    return PyLong_FromUnsignedLong(operation_sampled);
}

/* (kind, size, beginning, beginning of one half as long, rest, is_temporary) of what the call of the last sample read;
 * None: nothing long. */
static PyObject *last_read(PyObject *module, PyObject *none) {
    const struct pie_call_read *read = &read_sampled;

    if (!read->kind)
        Py_RETURN_NONE;
    return Py_BuildValue("(iKKKKi)", (int)read->kind, (unsigned long long)read->size,
                         (unsigned long long)read->beginning, (unsigned long long)read->beginning_up,
                         (unsigned long long)read->rest, (int)read->is_temporary);
}

/* The same of this very call. */
static PyObject *call_read(PyObject *module, PyObject *args, PyObject *kwargs) {
    note_read();
    return last_read(module, NULL);
}

static PyObject *arm(PyObject *module, PyObject *period_us) {
    int timer = sampler_arm(PyLong_AsLong(period_us));

    return timer < 0 ? PyErr_SetFromErrno(PyExc_OSError) : PyLong_FromLong(timer);
}

static PyObject *disarm(PyObject *module, PyObject *timer) {
    sampler_disarm((int)PyLong_AsLong(timer));
    Py_RETURN_NONE;
}

static PyObject *judge(PyObject *module, PyObject *none) {
    struct sampler_verdict v;

    sampler_judge(&v);
    return Py_BuildValue("{sKsKsKsKsKsKsK}", "samples", v.samples, "invalid", v.invalid, "empty", v.empty,
                         "frames", v.frames, "wrong", v.wrong, "unnamed", v.unnamed, "naive_wrong",
                         v.naive_wrong);
}

static PyObject *reset_region(PyObject *module, PyObject *none) {
    return PyLong_FromLong(pie_region_reset());
}

/* (content, state, traits) of an object's digest, its content as a result (None: nothing was made); None: it is
 * broken. */
static PyObject *digest(PyObject *module, PyObject *address) {
    struct pie_digest digest;

    pie_digest_begin(&digest);
    pie_digest_add(&digest, PyLong_AsSize_t(address));
    if (PyErr_Occurred())
        return NULL;
    if (digest.is_broken)
        Py_RETURN_NONE;
    return Py_BuildValue("(KKI)", (unsigned long long)digest.content, (unsigned long long)digest.state,
                         (unsigned)digest.traits);
}

/* The value of what is at this address, as of a result: None where it says nothing of its call, else (content, has it
 * eight different words?, is_comparable). */
static PyObject *value(PyObject *module, PyObject *address) {
    struct pie_value value;

    sampler_ops()->value(PyLong_AsSize_t(address), &value);
    if (!value.is_made)
        Py_RETURN_NONE;
    return Py_BuildValue("(Kii)", (unsigned long long)value.content, __builtin_popcountll(value.variety) >= 8,
                         (int)value.is_comparable);
}

/* Would the numbers of what is at these addresses be equal within a tolerance? None: it has none. */
static PyObject *is_close(PyObject *module, PyObject *args) {
    struct pie_value_floats floats[2];
    Py_ssize_t addresses[2];
    double tolerance;

    if (!PyArg_ParseTuple(args, "nnd", &addresses[0], &addresses[1], &tolerance))
        return NULL;
    for (int i = 0; i < 2; i++)
        sampler_ops()->value_floats((uintptr_t)addresses[i], &floats[i]);
    if (!floats[0].count)
        Py_RETURN_NONE;
    return PyBool_FromLong(pie_watch_is_close(&floats[0], &floats[1], tolerance));
}

/* The digest of this very call, whose result is `result_of_call`: (content, state, result, traits, is_telling,
 * is_likely). */
static PyObject *result_of_call;

static PyObject *call_digest(PyObject *module, PyObject *args, PyObject *kwargs) {
    struct pie_call_digest call;
    struct pie_value value;

    sampler_ops()->value((uintptr_t)result_of_call, &value);
    if (!sampler_ops()->call_digest(&value, &call))
        Py_RETURN_NONE;
    return Py_BuildValue("(KKKIii)", (unsigned long long)call.content, (unsigned long long)call.state,
                         (unsigned long long)call.result, (unsigned)call.traits, (int)call.is_telling,
                         (int)call.is_likely);
}

static PyObject *call_digest_of_one(PyObject *module, PyObject *argument) {
    return call_digest(module, NULL, NULL);
}

/* The code unit at which the caller of this function's caller waits for that one: its index; None: it waits for no
 * Python function. */
static PyObject *caller_unit(PyObject *module, PyObject *none) {
    struct pie_pyframe frames[2];
    unsigned flags;

    if (sampler_ops()->walk(frames, 2, &flags) < 2)
        Py_RETURN_NONE;
    uintptr_t unit = sampler_ops()->python_calls->find_unit(frames[1].code, frames[1].instr);
    return unit ? PyLong_FromUnsignedLong(sampler_ops()->instr_offset(frames[1].code, unit))
                : Py_NewRef(Py_None);
}

/* Does a function with this code change more than it returns? */
static PyObject *acts(PyObject *module, PyObject *code) {
    return PyBool_FromLong(sampler_ops()->python_calls->acts((uintptr_t)code));
}

static PyObject *has_python_calls(PyObject *module, PyObject *none) {
    return PyBool_FromLong(sampler_ops()->python_calls != NULL);
}

static PyObject *set_result(PyObject *module, PyObject *result) {
    Py_XDECREF(result_of_call);
    result_of_call = Py_NewRef(result);
    Py_RETURN_NONE;
}

/* The bytes of the only array that this very call was made with, if that holds `address_of_data`. Its result is
 * `result_of_call`. */
static uintptr_t address_of_data;

static PyObject *array_argument(PyObject *module, PyObject *args, PyObject *kwargs) {
    return PyLong_FromUnsignedLongLong(
        sampler_ops()->array_argument(address_of_data, (uintptr_t)result_of_call));
}

static PyObject *set_address_of_data(PyObject *module, PyObject *address) {
    address_of_data = PyLong_AsSize_t(address);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"digest", digest, METH_O, NULL},
    {"value", value, METH_O, NULL},
    {"is_close", is_close, METH_VARARGS, NULL},
    {"call_digest", (PyCFunction)(void (*)(void))call_digest, METH_VARARGS | METH_KEYWORDS, NULL},
    {"call_digest_of_one", call_digest_of_one, METH_O, NULL},
    {"call_read", (PyCFunction)(void (*)(void))call_read, METH_VARARGS | METH_KEYWORDS, NULL},
    {"last_read", last_read, METH_NOARGS, NULL},
    {"caller_unit", caller_unit, METH_NOARGS, NULL},
    {"acts", acts, METH_O, NULL},
    {"has_python_calls", has_python_calls, METH_NOARGS, NULL},
    {"array_argument", (PyCFunction)(void (*)(void))array_argument, METH_VARARGS | METH_KEYWORDS, NULL},
    {"set_address_of_data", set_address_of_data, METH_O, NULL},
    {"set_result", set_result, METH_O, NULL},
    {"sample", sample, METH_NOARGS, NULL},
    {"sample_thread", sample_thread, METH_O, NULL},
    {"intern", intern, METH_O, NULL},
    {"intern_by_content", intern_by_content, METH_O, NULL},
    {"describe", describe, METH_O, NULL},
    {"line_differences", line_differences, METH_O, NULL},
    {"operation", operation, METH_VARARGS, NULL},
    {"operations", operations, METH_O, NULL},
    {"line_is_in_loop", line_is_in_loop, METH_VARARGS, NULL},
    {"operations_by_content", operations_by_content, METH_O, NULL},
    {"last_operation", last_operation, METH_NOARGS, NULL},
    {"arm", arm, METH_O, NULL},
    {"disarm", disarm, METH_O, NULL},
    {"judge", judge, METH_NOARGS, NULL},
    {"reset_region", reset_region, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_walk", .m_size = -1,
                                        .m_methods = methods};

static PyObject *make_module(void) {
    PyObject *module = PyModule_Create(&definition);

    if (!module || probe_add_type(module) < 0 || memory_add_functions(module) < 0)
        return NULL;
    PyModule_AddIntConstant(module, "PYTHON_THREAD", PIE_PYSTACK_PYTHON_THREAD);
    PyModule_AddIntConstant(module, "TRUNCATED", PIE_PYSTACK_TRUNCATED);
    PyModule_AddIntConstant(module, "INVALID", PIE_PYSTACK_INVALID);
    PyModule_AddIntConstant(module, "IN_CALL", PIE_PYSTACK_IN_CALL);
    PyModule_AddIntConstant(module, "OTHER", PIE_OPERATION_OTHER);
    PyModule_AddIntConstant(module, "SUBSCRIPT", PIE_OPERATION_SUBSCRIPT);
    PyModule_AddIntConstant(module, "STORE_SUBSCRIPT", PIE_OPERATION_STORE_SUBSCRIPT);
    PyModule_AddIntConstant(module, "CALL", PIE_OPERATION_CALL);
    PyModule_AddIntConstant(module, "OPERATOR", PIE_OPERATION_OPERATOR);
    PyModule_AddIntConstant(module, "ITERATE", PIE_OPERATION_ITERATE);
    PyModule_AddIntConstant(module, "ATTRIBUTE", PIE_OPERATION_ATTRIBUTE);
    PyModule_AddIntConstant(module, "IN_LOOP", PIE_OPERATION_IN_LOOP);
    PyModule_AddIntConstant(module, "IN_FOLD", PIE_OPERATION_IN_FOLD);
    PyModule_AddIntConstant(module, "IN_FILL", PIE_OPERATION_IN_FILL);
    PyModule_AddIntConstant(module, "FRAMES_MAX", SAMPLER_FRAMES_MAX);
    return module;
}

int main(int argc, char **argv) {
    if (!sampler_init() || PyImport_AppendInittab("_walk", make_module) < 0)
        return 99;
    return Py_BytesMain(argc, argv);
}
