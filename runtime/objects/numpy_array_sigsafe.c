/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/objects/kind.h"

#include "profiler/base/safe_load.h"

/* The beginnings of NumPy's structures, which its ABI fixes (numpy/ndarraytypes.h): declared here, because NumPy need
 * not be there when this is built. A dtype keeps the size of an element in one of two places: NumPy 1 has two ints, the
 * size and the alignment, where NumPy 2 has flags, and the size behind them. */
struct array {
    PyObject head;
    uintptr_t data;
    int32_t n_dimensions;
    uintptr_t dimensions, strides; /* pointers to n_dimensions words each; strides in bytes */
    uintptr_t base, dtype;
    int32_t flags;
};

struct dtype {
    PyObject head;
    uintptr_t scalar_type;
    char kind, character, byte_order, old_flags;
    int32_t number;
    union {
        struct {
            int32_t size_bytes, alignment_bytes;
        } numpy1;
        struct {
            uint64_t flags;
            int64_t size_bytes;
        } numpy2;
    };
};

static_assert(offsetof(struct array, data) == sizeof(PyObject) && offsetof(struct dtype, numpy1) % 8 == 0,
              "as the C-API's headers have it");

enum {
    DIMENSIONS_MAX = 64,      /* NPY_MAXDIMS of NumPy 2; 32 in NumPy 1 */
    ALIGNMENT_BYTES_MAX = 64, /* where NumPy 2 has the upper half of the flags, which is 0 */
    DENSE = 3,                /* NPY_ARRAY_C_CONTIGUOUS or NPY_ARRAY_F_CONTIGUOUS */
};

static bool read_element_bytes(uintptr_t address, int64_t *ret_bytes) {
    struct dtype dtype;

    if (!pie_safe_copy(&dtype, (const void *)address, sizeof dtype))
        return false;
    if (dtype.numpy1.alignment_bytes > 0 && dtype.numpy1.alignment_bytes <= ALIGNMENT_BYTES_MAX)
        *ret_bytes = dtype.numpy1.size_bytes;
    else
        *ret_bytes = dtype.numpy2.size_bytes;
    return *ret_bytes > 0;
}

/* Widens [*low, *high), distances in bytes from the first element, by one dimension. */
static bool widen(const struct array *array, int32_t i, int64_t *low, int64_t *high) {
    int64_t length, stride, reach;

    if (!pie_safe_copy(&length, (const void *)(array->dimensions + (size_t)i * sizeof length),
                       sizeof length) ||
        !pie_safe_copy(&stride, (const void *)(array->strides + (size_t)i * sizeof stride), sizeof stride))
        return false;
    return length > 0 && !__builtin_mul_overflow(length - 1, stride, &reach) &&
           !__builtin_add_overflow(*low, reach < 0 ? reach : 0, low) &&
           !__builtin_add_overflow(*high, reach > 0 ? reach : 0, high);
}

bool pie_object_array_data(uintptr_t address, uintptr_t *ret_low, uintptr_t *ret_high) {
    struct array array;
    int64_t low = 0, high;

    if (!pie_safe_copy(&array, (const void *)address, sizeof array) || !array.data ||
        array.n_dimensions < 0 || array.n_dimensions > DIMENSIONS_MAX ||
        !read_element_bytes(array.dtype, &high))
        return false;
    for (int32_t i = 0; i < array.n_dimensions; i++)
        if (!widen(&array, i, &low, &high))
            return false;
    *ret_low = array.data + (uintptr_t)low;
    *ret_high = array.data + (uintptr_t)high;
    return true;
}

bool pie_object_array_owns_data(uintptr_t address) {
    uintptr_t base;

    return pie_safe_load((const void *)(address + offsetof(struct array, base)), &base) && !base;
}

/* Elements of these kinds are values and nothing else: numbers, times, text and bytes of fixed length. */
static bool is_plain_kind(uint8_t kind) {
    return kind == 'b' || kind == 'i' || kind == 'u' || kind == 'f' || kind == 'c' || kind == 'm' ||
           kind == 'M' || kind == 'S' || kind == 'U';
}

bool pie_object_array_layout(uintptr_t address, struct pie_array_layout *ret_layout) {
    struct pie_array_layout layout = {.count = 1};
    struct array array;
    int64_t bytes, length;

    if (!pie_safe_copy(&array, (const void *)address, sizeof array) || !array.data ||
        array.n_dimensions < 0 || array.n_dimensions > DIMENSIONS_MAX ||
        !read_element_bytes(array.dtype, &bytes))
        return false;
    for (int32_t i = 0; i < array.n_dimensions; i++)
        if (!pie_safe_copy(&length, (const void *)(array.dimensions + (size_t)i * sizeof length),
                           sizeof length) ||
            length < 0 || __builtin_mul_overflow(layout.count, (uint64_t)length, &layout.count))
            return false;
    if (array.n_dimensions == 1 &&
        !pie_safe_copy(&layout.stride_bytes, (const void *)array.strides, sizeof layout.stride_bytes))
        return false;
    if (!pie_safe_load_byte((const void *)(array.dtype + offsetof(struct dtype, kind)), &layout.kind) ||
        !pie_safe_load_byte((const void *)(array.dtype + offsetof(struct dtype, byte_order)),
                            &layout.byte_order))
        return false;
    layout.data = array.data;
    layout.element_bytes = (uint64_t)bytes;
    layout.n_dimensions = array.n_dimensions;
    layout.dimensions = array.dimensions;
    layout.is_dense = (array.flags & DENSE) != 0;
    layout.is_boolean = layout.kind == 'b';
    layout.has_references = !is_plain_kind(layout.kind);
    *ret_layout = layout;
    return true;
}
