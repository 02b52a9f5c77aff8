/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/objects/value.h"

#include <string.h>

#include "profiler/base/hash.h"
#include "profiler/base/safe_load.h"
#include "runtime/objects/digest.h"
#include "runtime/objects/kind.h"

/* Is what a call returned worth comparing with what it returned the time before? Only a new object is (one reference:
 * the caller's): one that is kept somewhere and handed out again was not computed again. And only a kind whose value
 * can be read without running code: numbers of Python and NumPy, arrays, and small tuples of them, also
 * beside kept ones (scipy.linalg.lapack returns arrays and a 0). Nothing but zeros is
 * what a fresh buffer looks like, and says nothing. */

enum {
    ARRAY_WORDS_MAX = 1024, /* of an array's data that are looked at, evenly spread */
    SCALAR_BYTES_MAX = 32,
    TUPLE_ITEMS_MAX = 4,
    NAME_BYTES = 8,
};

static uint64_t fold(uint64_t hash, uint64_t word) {
    hash = pie_hash_upper(hash ^ word);
    return hash ^ hash >> 29;
}

static uint64_t hash_words(uintptr_t low, size_t words, size_t step, uint64_t hash) {
    uint64_t any = 0;

    for (size_t i = 0; i < words; i++) {
        uintptr_t word;
        if (!pie_safe_load((const void *)(low + i * step), &word))
            return 0;
        any |= word;
        hash = fold(hash, word);
    }
    return any ? hash | 1 : 0;
}

/* The bytes of an array's own data; a view's are another's, and are not made by the call that returns it. */
static bool own_data(uintptr_t object, enum pie_object_kind kind, uintptr_t *ret_low, uintptr_t *ret_high) {
    uintptr_t type;

    if (kind == PIE_OBJECT_ARRAY)
        return pie_object_array_owns_data(object) && pie_object_array_data(object, ret_low, ret_high);
    return kind == PIE_OBJECT_PLAIN &&
           pie_safe_load((const void *)(object + offsetof(PyObject, ob_type)), &type) &&
           pie_object_tensor_data(object, type, ret_low, ret_high);
}

static uint64_t hash_data(uintptr_t low, uintptr_t high) {
    size_t words = (high - low) / sizeof(uintptr_t);
    size_t seen = words < ARRAY_WORDS_MAX ? words : ARRAY_WORDS_MAX;

    return words ? hash_words(low, seen, words / seen * sizeof(uintptr_t), high - low) : 0;
}

static bool has_one_reference(uintptr_t object) {
    uintptr_t count;

    return pie_safe_load((const void *)object, &count) && (uint32_t)count == 1;
}

static bool is_number_type(const char name[NAME_BYTES]) {
    return memcmp(name, "float", 6) == 0 || memcmp(name, "int", 4) == 0 || memcmp(name, "complex", 8) == 0 ||
           memcmp(name, "numpy.", 6) == 0;
}

static uint64_t hash_scalar(uintptr_t object, uintptr_t type) {
    Py_ssize_t sizes[2]; /* tp_basicsize, tp_itemsize */
    char name[NAME_BYTES];
    uintptr_t at;

    if (!pie_safe_load((const void *)(type + offsetof(PyTypeObject, tp_name)), &at) ||
        !pie_safe_copy(name, (const void *)at, sizeof name) || !is_number_type(name) ||
        !pie_safe_copy(sizes, (const void *)(type + offsetof(PyTypeObject, tp_basicsize)), sizeof sizes))
        return 0;
    size_t bytes = (size_t)sizes[0] - sizeof(PyObject);
    if (sizes[1] > 0) /* an int: its size, and the first digits */
        bytes = 2 * sizeof(uintptr_t);
    return bytes >= sizeof(uintptr_t) && bytes <= SCALAR_BYTES_MAX
               ? hash_words(object + sizeof(PyObject), bytes / sizeof(uintptr_t), sizeof(uintptr_t), type)
               : 0;
}

static uint64_t hash_one(uintptr_t object) {
    enum pie_object_kind kind = pie_object_kind_at(object);
    uintptr_t type, low, high;

    if (!has_one_reference(object) ||
        !pie_safe_load((const void *)(object + offsetof(PyObject, ob_type)), &type))
        return 0;
    if (own_data(object, kind, &low, &high))
        return hash_data(low, high);
    return kind == PIE_OBJECT_PLAIN ? hash_scalar(object, type) : 0;
}

/* None, a number or text beside others in a tuple, which Python or the library may keep: a status, an option. */
static uint64_t hash_kept(uintptr_t item) {
    struct pie_digest digest;
    uintptr_t type;

    if (!pie_safe_load((const void *)(item + offsetof(PyObject, ob_type)), &type) ||
        (item != (uintptr_t)Py_None && type != (uintptr_t)&PyLong_Type && type != (uintptr_t)&PyBool_Type &&
         type != (uintptr_t)&PyUnicode_Type))
        return 0;
    pie_digest_begin(&digest);
    pie_digest_add(&digest, item);
    return digest.is_broken ? 0 : digest.content | 1;
}

static uint64_t hash_tuple(uintptr_t tuple) {
    uintptr_t count, item;
    uint64_t hash = 0;
    bool is_any_new = false;

    if (!has_one_reference(tuple) ||
        !pie_safe_load((const void *)(tuple + offsetof(PyVarObject, ob_size)), &count) || count == 0 ||
        count > TUPLE_ITEMS_MAX)
        return 0;
    for (size_t i = 0; i < count; i++) {
        uintptr_t at = tuple + offsetof(PyTupleObject, ob_item) + i * sizeof item;
        if (!pie_safe_load((const void *)at, &item))
            return 0;
        uint64_t of_item = hash_one(item);
        is_any_new |= of_item != 0;
        if (!of_item && (of_item = hash_kept(item)) == 0)
            return 0;
        hash = fold(hash, of_item);
    }
    return is_any_new ? hash | 1 : 0;
}

uint64_t pie_object_value_hash(uintptr_t object) {
    uintptr_t type;

    if (pie_object_kind_at(object) == PIE_OBJECT_PLAIN &&
        pie_safe_load((const void *)(object + offsetof(PyObject, ob_type)), &type) &&
        type == (uintptr_t)&PyTuple_Type)
        return hash_tuple(object);
    return hash_one(object);
}

void pie_object_value_words(uintptr_t object, struct pie_value_words *words) {
    uintptr_t low, high;

    words->count = 0;
    if (!has_one_reference(object) || !own_data(object, pie_object_kind_at(object), &low, &high))
        return;
    words->bytes = high - low;
    if (!words->step_bytes)
        words->step_bytes =
            (uint32_t)(words->bytes / PIE_VALUE_WORDS_MAX / sizeof(uintptr_t) * sizeof(uintptr_t));
    if (!words->step_bytes)
        words->step_bytes = sizeof(uintptr_t);
    for (uint32_t i = 0; i < PIE_VALUE_WORDS_MAX; i++) {
        uintptr_t at = low + (uintptr_t)i * words->step_bytes;
        if (at + sizeof(uintptr_t) > high || !pie_safe_load((const void *)at, &words->words[i]))
            break;
        words->count++;
    }
}
