/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/confirm/digest.h"

#include <string.h>

/* PyTorch's tensors by their content. DLPack (github.com/dmlc/dlpack, dlpack.h) is how PyTorch gives it out, whose
 * structures are fixed: a function in C, which runs no Python code. A tensor of a class of the program's, or one that
 * lies elsewhere than in the memory of the CPU, is known by identity. */

enum { ON_CPU = 1, BITS_OF_BYTE = 8, DIMENSIONS_MAX = PIE_CONFIRM_DIMENSIONS_MAX };

struct dl_tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t n_dimensions;
    uint8_t type_code, type_bits;
    uint16_t type_lanes;
    int64_t *shape, *strides; /* in elements; strides may be NULL: one row behind the other */
    uint64_t byte_offset;
};

struct dl_managed_tensor {
    struct dl_tensor tensor;
    void *context;
    void (*deleter)(struct dl_managed_tensor *self);
};

/* --- Which objects --- */

static bool is_tensor_class(const PyTypeObject *type) {
    return type && strcmp(type->tp_name, "Tensor") == 0 && type->tp_base &&
           strncmp(type->tp_base->tp_name, "torch._C.", strlen("torch._C.")) == 0;
}

static bool is_tensor(PyObject *object) {
    const PyTypeObject *type = Py_TYPE(object);

    return is_tensor_class(type) ||
           (strcmp(type->tp_name, "Parameter") == 0 && is_tensor_class(type->tp_base));
}

/* torch._C._to_dlpack(), which is there where a tensor is. Borrowed; NULL: another PyTorch. */
static PyObject *packer(void) {
    static PyObject *function; /* of the one interpreter that is counted */

    if (!function) {
        PyObject *modules = PyImport_GetModuleDict(); /* borrowed, as the module is */
        PyObject *module = modules ? PyDict_GetItemString(modules, "torch._C") : NULL;
        function =
            module && PyModule_CheckExact(module) ? PyObject_GetAttrString(module, "_to_dlpack") : NULL;
        if (function && !PyCFunction_Check(function))
            Py_CLEAR(function);
    }
    return function;
}

/* --- The content --- */

static size_t elements_of(const struct dl_tensor *tensor) {
    size_t count = 1;

    for (int32_t i = 0; i < tensor->n_dimensions; i++)
        count *= (size_t)tensor->shape[i];
    return count;
}

static bool is_contiguous(const struct dl_tensor *tensor) {
    int64_t stride = 1;

    for (int32_t i = tensor->n_dimensions; tensor->strides && i-- > 0; stride *= tensor->shape[i])
        if (tensor->shape[i] != 1 && tensor->strides[i] != stride)
            return false;
    return true;
}

/* Copies what lies below one place of the first dimensions together. Returns where the next one goes. */
static char *gather(const struct dl_tensor *tensor, int32_t dimension, const char *from, char *to,
                    size_t size) {
    if (dimension == tensor->n_dimensions) {
        memcpy(to, from, size);
        return to + size;
    }
    for (int64_t i = 0; i < tensor->shape[dimension]; i++)
        to = gather(tensor, dimension + 1, from + i * tensor->strides[dimension] * (int64_t)size, to, size);
    return to;
}

static void add_pieces(struct pie_confirm_digest *digest, const struct dl_tensor *tensor, const char *data,
                       size_t count, size_t size) {
    char *copy = count * size <= digest->budget ? PyMem_RawMalloc(count * size + 1) : NULL;

    if (copy) {
        gather(tensor, 0, data, copy, size);
        pie_confirm_digest_add_bytes(digest, copy, count * size);
    } else {
        digest->size_bytes += count * size;
        digest->is_value = false;
    }
    PyMem_RawFree(copy);
}

static void add_content(struct pie_confirm_digest *digest, const struct dl_tensor *tensor) {
    size_t count = elements_of(tensor), size = (size_t)tensor->type_bits * tensor->type_lanes / BITS_OF_BYTE;
    const char *data = (const char *)tensor->data + tensor->byte_offset;

    pie_confirm_digest_add_bytes(digest, tensor->shape, (size_t)tensor->n_dimensions * sizeof *tensor->shape);
    pie_confirm_digest_add_bytes(digest, &tensor->type_code, sizeof tensor->type_code);
    pie_confirm_digest_add_bytes(digest, &size, sizeof size);
    digest->is_single = digest->is_single && tensor->n_dimensions == 0;
    digest->elements = count > digest->elements ? count : digest->elements;
    if (is_contiguous(tensor))
        pie_confirm_digest_add_bytes(digest, data, count * size);
    else
        add_pieces(digest, tensor, data, count, size);
}

static bool is_readable(const struct dl_tensor *tensor) {
    return tensor->device_type == ON_CPU && tensor->n_dimensions <= DIMENSIONS_MAX &&
           tensor->type_bits % BITS_OF_BYTE == 0;
}

/* Returns what holds it, for the caller to release. NULL: it cannot be read. */
static PyObject *unpack(PyObject *object, const struct dl_tensor **ret_tensor) {
    PyObject *function = is_tensor(object) ? packer() : NULL;
    PyObject *capsule = function ? PyObject_CallOneArg(function, object) : NULL;
    struct dl_managed_tensor *managed =
        capsule && PyCapsule_CheckExact(capsule) ? PyCapsule_GetPointer(capsule, "dltensor") : NULL;

    PyErr_Clear(); /* of a layout without such a form */
    if (managed && is_readable(&managed->tensor)) {
        *ret_tensor = &managed->tensor;
        return capsule;
    }
    Py_XDECREF(capsule);
    return NULL;
}

bool pie_confirm_digest_add_tensor(struct pie_confirm_digest *digest, PyObject *object) {
    const struct dl_tensor *tensor;
    PyObject *owner = unpack(object, &tensor);

    if (owner)
        add_content(digest, tensor);
    Py_XDECREF(owner);
    return owner;
}

PyObject *pie_confirm_tensor_array(PyObject *object, struct pie_confirm_array *ret_array) {
    const struct dl_tensor *tensor;
    PyObject *owner = unpack(object, &tensor);

    if (!owner)
        return NULL;
    int64_t stride = 1;
    *ret_array = (struct pie_confirm_array){
        .data = (const char *)tensor->data + tensor->byte_offset,
        .element_bytes = (size_t)tensor->type_bits * tensor->type_lanes / BITS_OF_BYTE,
        .count = elements_of(tensor),
        .n_dimensions = tensor->n_dimensions,
    };
    for (int32_t i = tensor->n_dimensions; i-- > 0; stride *= tensor->shape[i]) {
        ret_array->shape[i] = tensor->shape[i];
        ret_array->strides[i] =
            (tensor->strides ? tensor->strides[i] : stride) * (int64_t)ret_array->element_bytes;
    }
    return owner;
}
