/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/confirm/digest.h"

#include <string.h>

#include "profiler/base/hash.h"
#include "profiler/ports/windows.h"
#include "runtime/trace/trace.h"

/* What libraries for arrays are handed and do not need: lists of numbers, which they make arrays of in each call, and
 * arrays for a product or a solver that are zero nearly everywhere. Lists of arrays, of which another library's
 * function takes one number after the other. And bytes of single numbers, which such a library would read with one
 * call. */

enum {
    NUMBERS_MIN = 32,
    ZEROS_MIN = 1024, /* elements: a smaller array is multiplied faster than its elements are chosen */
    LOOKS = 256,
    OTHERS_MAX = 5,         /* of them: one in fifty */
    SYSTEM_MIN = 4096,      /* elements: of fewer, a general solver is as fast */
    SYSTEM_OTHERS_MAX = 16, /* one in sixteen: a few diagonals of 64 rows */
    NUMBER_BYTES_MAX = 8,
};

/* --- Lists of numbers --- */

static bool is_number(PyObject *object) {
    return PyFloat_CheckExact(object) || PyLong_CheckExact(object);
}

static bool is_array(PyObject *object) {
    return strcmp(Py_TYPE(object)->tp_name, "numpy.ndarray") == 0;
}

static bool is_sequence(PyObject *object) {
    return PyList_CheckExact(object) || PyTuple_CheckExact(object);
}

/* By the first, the middle and the last item. */
static bool are_all(bool (*is_one)(PyObject *), PyObject *sequence) {
    Py_ssize_t count = Py_SIZE(sequence);
    PyObject **items = PySequence_Fast_ITEMS(sequence);

    return count > 0 && is_one(items[0]) && is_one(items[count / 2]) && is_one(items[count - 1]);
}

/* Of a list, or of rows that are lists. 0: it has others. */
static size_t count_numbers(PyObject *object) {
    if (!is_sequence(object) || Py_SIZE(object) == 0)
        return 0;
    PyObject *first = PySequence_Fast_ITEMS(object)[0];
    size_t count = (size_t)Py_SIZE(object);
    if (is_sequence(first))
        return are_all(is_number, first) ? count * (size_t)Py_SIZE(first) : 0;
    return are_all(is_number, object) ? count : 0;
}

static const char *text_of(PyObject *object) {
    const char *text = pie_trace_text(object);

    return text ? text : "";
}

static const char *module_of(PyObject *callee) {
    if (PyFunction_Check(callee))
        return text_of(((PyFunctionObject *)callee)->func_module);
    if (PyCFunction_CheckExact(callee))
        return text_of(((PyCFunctionObject *)callee)->m_module);
    return strncmp(Py_TYPE(callee)->tp_name, "numpy.", strlen("numpy.")) == 0 ? "numpy" : "";
}

static bool is_of_arrays(PyObject *callee) {
    static const char *const libraries[] = {"numpy", "scipy", "torch", "pandas", "sklearn"};
    const char *module = module_of(callee);

    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        size_t length = strlen(libraries[i]);
        if (strncmp(module, libraries[i], length) == 0 && (!module[length] || module[length] == '.'))
            return true;
    }
    return false;
}

static struct pie_confirm_passed lists_among(PyObject **arguments, int count) {
    struct pie_confirm_passed passed = {0};
    struct pie_confirm_digest digest;

    pie_confirm_digest_begin(&digest, pie_confirm_budget_bytes);
    for (int i = 0; i < count; i++) {
        size_t numbers = count_numbers(arguments[i]);
        if (numbers >= NUMBERS_MIN) {
            passed.items += numbers;
            pie_confirm_digest_add(&digest, arguments[i]);
        }
    }
    if (passed.items == 0 || !digest.is_value)
        return (struct pie_confirm_passed){0};
    passed.kind = PIE_PASSED_LIST;
    passed.text = digest.hash;
    return passed;
}

/* --- Arrays that are zero nearly everywhere --- */

/* Random places: a diagonal is not met by steps of its own length. Of most arrays a few places say enough. */
static bool is_nearly_zero(const struct pie_confirm_array *array, int others_max) {
    static const char zero[16];
    int others = 0;

    if (array->n_dimensions < 2 || array->count < ZEROS_MIN || array->element_bytes > sizeof zero)
        return false;
    for (uint64_t i = 0; i < LOOKS && others <= others_max; i++) {
        uint64_t at = pie_hash_upper(pie_hash_mix(1, i)) % array->count;
        const char *element = array->data;
        for (int dimension = array->n_dimensions - 1; dimension >= 0; dimension--) {
            uint64_t length = (uint64_t)array->shape[dimension];
            element += (int64_t)(at % length) * array->strides[dimension];
            at /= length;
        }
        others += memcmp(element, zero, array->element_bytes) != 0;
    }
    return others <= others_max;
}

static size_t zeros_of_buffer(PyObject *object, int others_max) {
    struct pie_confirm_array array;
    Py_buffer view;

    if (!is_array(object) || PyObject_GetBuffer(object, &view, PyBUF_FULL_RO) < 0) {
        PyErr_Clear();
        return 0;
    }
    array = (struct pie_confirm_array){
        .data = view.buf, .n_dimensions = view.ndim, .element_bytes = (size_t)view.itemsize};
    array.count = view.itemsize > 0 ? (size_t)(view.len / view.itemsize) : 0;
    for (int i = 0; i < view.ndim && i < PIE_CONFIRM_DIMENSIONS_MAX; i++) {
        array.shape[i] = view.shape[i];
        array.strides[i] = view.strides[i];
    }
    bool is_zero = view.ndim <= PIE_CONFIRM_DIMENSIONS_MAX && is_nearly_zero(&array, others_max);
    PyBuffer_Release(&view);
    return is_zero ? array.count : 0;
}

static size_t zeros_of(PyObject *object, int others_max) {
    struct pie_confirm_array array;
    PyObject *owner = pie_confirm_tensor_array(object, &array);

    if (!owner)
        return zeros_of_buffer(object, others_max);
    size_t count = is_nearly_zero(&array, others_max) ? array.count : 0;
    Py_DECREF(owner);
    return count;
}

static struct pie_confirm_passed zeros_among(PyObject **factors, int count) {
    struct pie_confirm_passed passed = {.kind = PIE_PASSED_ZEROS};

    for (int i = 0; i < count && i < 2; i++) {
        size_t zeros = zeros_of(factors[i], OTHERS_MAX);
        passed.items = zeros > passed.items ? zeros : passed.items;
    }
    return passed.items ? passed : (struct pie_confirm_passed){0};
}

static struct pie_confirm_passed system_among(PyObject **arguments, int count) {
    struct pie_confirm_passed passed = {.kind = PIE_PASSED_SYSTEM};

    passed.items = count > 0 ? zeros_of(arguments[0], SYSTEM_OTHERS_MAX) : 0;
    return passed.items >= SYSTEM_MIN ? passed : (struct pie_confirm_passed){0};
}

/* By the last part of its name. */
static bool is_among(const char *name, const char *const *names) {
    const char *dot = strrchr(name, '.');

    while (*names && strcmp(dot ? dot + 1 : name, *names) != 0)
        names++;
    return *names;
}

/* A function of the program's own may have any name. */
static bool is_product(PyObject *callee, const char *name) {
    static const char *const products[] = {"matmul", "dot", "mm", "bmm", "linear", NULL};
    PyObject *function = PyMethod_Check(callee) ? PyMethod_GET_FUNCTION(callee) : callee;

    return is_among(name, products) && (!PyFunction_Check(function) || is_of_arrays(function));
}

/* What takes the third power of the rows, and has a counterpart for bands and scattered elements. */
static bool is_solver(const char *name) {
    static const char *const solvers[] = {"solve",     "inv",          "cholesky",   "cho_factor",
                                          "lu_factor", "linalg_solve", "linalg_inv", "linalg_cholesky",
                                          NULL};

    return is_among(name, solvers);
}

/* --- Lists of arrays --- */

static bool is_taking_numbers(const char *name) {
    static const char *const makers[] = {"torch.tensor", "torch.as_tensor", "torch.Tensor",
                                         "torch.FloatTensor", "torch.LongTensor"};

    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (strcmp(name, makers[i]) == 0)
            return true;
    return false;
}

/* As long as the first of them, all of them. */
static struct pie_confirm_passed arrays_among(PyObject **arguments, int count) {
    struct pie_confirm_passed passed = {.kind = PIE_PASSED_ARRAYS};
    Py_buffer view;

    if (count == 0 || !is_sequence(arguments[0]) || !are_all(is_array, arguments[0]))
        return (struct pie_confirm_passed){0};
    if (PyObject_GetBuffer(PySequence_Fast_ITEMS(arguments[0])[0], &view, PyBUF_FULL_RO) < 0) {
        PyErr_Clear();
        return (struct pie_confirm_passed){0};
    }
    size_t each = view.itemsize > 0 ? (size_t)(view.len / view.itemsize) : 0;
    PyBuffer_Release(&view);
    passed.items = each * (size_t)Py_SIZE(arguments[0]);
    return each > 1 ? passed : (struct pie_confirm_passed){0};
}

/* --- Single numbers --- */

/* A format of struct. */
static bool is_of_one_number(PyObject *format) {
    const char *text = PyBytes_CheckExact(format) ? PyBytes_AS_STRING(format) : text_of(format);

    text += *text && strchr("@=<>!", *text);
    return strlen(text) == 1 && strchr("bBhHiIlLqQnNefd?", *text);
}

static struct pie_confirm_passed number_among(const char *name, PyObject **arguments, int count) {
    struct pie_confirm_passed passed = {0};
    bool is_unpacked = strcmp(name, "_struct.unpack") == 0 && count > 0 && is_of_one_number(arguments[0]);

    if (!is_unpacked && strcmp(name, "int.from_bytes") != 0)
        return passed;
    int at = is_unpacked; /* behind the format */
    if (at < count && PyBytes_CheckExact(arguments[at]) && Py_SIZE(arguments[at]) <= NUMBER_BYTES_MAX) {
        passed.kind = PIE_PASSED_NUMBER;
        passed.items = (size_t)Py_SIZE(arguments[at]);
    }
    return passed;
}

/* --- All of them --- */

struct pie_confirm_passed pie_confirm_passed_arrays(PyObject *callee, const char *name, PyObject **arguments,
                                                    int count) {
    struct pie_confirm_passed passed = number_among(name, arguments, count);

    if (!passed.kind && is_product(callee, name))
        passed = zeros_among(arguments, count);
    if (!passed.kind && is_taking_numbers(name))
        passed = arrays_among(arguments, count);
    if (!passed.kind && is_of_arrays(callee) && is_solver(name))
        passed = system_among(arguments, count);
    if (!passed.kind && is_of_arrays(callee))
        passed = lists_among(arguments, count);
    return passed;
}

struct pie_confirm_passed pie_confirm_passed_operands(const char *operator, PyObject ** operands) {
    if (strcmp(operator, "in") == 0)
        return pie_confirm_passed_test(operands[0], operands[1]);
    if (is_array(operands[0]) || is_array(operands[1])) {
        struct pie_confirm_passed passed = lists_among(operands, 2);
        if (passed.kind)
            return passed;
    }
    return strcmp(operator, "@") == 0 ? zeros_among(operands, 2) : (struct pie_confirm_passed){0};
}
