/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/objects/value.h"

#include <string.h>

#include "profiler/base/safe_load.h"
#include "profiler/code/find_object.h"

/* PyTorch's structures are C++ classes and change from version to version; what is relied on here is the same from 1.13
 * on: a tensor of Python holds, in older versions behind a flag, a pointer to a TensorImpl; that begins with a table of
 * virtual functions and its reference counts (two words, in newer versions one), and then comes the pointer to its
 * StorageImpl, which begins likewise and goes on with the data pointer, its owner (two words), its device and its size
 * in bytes. Each step is checked: tables of virtual functions lie in the image of a library. */

enum { NAME_BYTES = 9, WORD = sizeof(uintptr_t) };

static bool load(uintptr_t base, size_t offset, uintptr_t *ret) {
    return pie_safe_load((const void *)(base + offset), ret);
}

static bool is_cxx_object(uintptr_t address) {
    uintptr_t table;

    return address % WORD == 0 && load(address, 0, &table) && pie_is_in_object(table);
}

static bool is_tensor_type(uintptr_t type) {
    char name[NAME_BYTES];
    uintptr_t at, base;

    return load(type, offsetof(PyTypeObject, tp_name), &at) && pie_safe_copy(name, (const void *)at, 7) &&
           memcmp(name, "Tensor", 7) == 0 && load(type, offsetof(PyTypeObject, tp_base), &base) &&
           load(base, offsetof(PyTypeObject, tp_name), &at) &&
           pie_safe_copy(name, (const void *)at, NAME_BYTES) && memcmp(name, "torch._C.", NAME_BYTES) == 0;
}

/* head: bytes before a class's own members. */
static bool read_storage(uintptr_t tensor, size_t head, uintptr_t *ret_low, uintptr_t *ret_high) {
    uintptr_t storage, count, data, size;

    if (!load(tensor, head, &storage) || !is_cxx_object(storage) || !load(storage, WORD, &count) ||
        (uint32_t)count != 1 || !load(storage, head, &data) || !load(storage, head + 4 * WORD, &size) ||
        !data || size == 0 || size >> 40)
        return false;
    *ret_low = data;
    *ret_high = data + size;
    return true;
}

bool pie_object_tensor_data(uintptr_t object, uintptr_t type, uintptr_t *ret_low, uintptr_t *ret_high) {
    uintptr_t tensor;

    if (!is_tensor_type(type) || !load(object, sizeof(PyObject), &tensor))
        return false;
    if (tensor <= 1 &&
        (tensor == 1 || !load(object, sizeof(PyObject) + WORD, &tensor))) /* the flag of older ones */
        return false;
    if (!is_cxx_object(tensor))
        return false;
    return read_storage(tensor, 3 * WORD, ret_low, ret_high) ||
           read_storage(tensor, 2 * WORD, ret_low, ret_high);
}
