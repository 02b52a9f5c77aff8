/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/objects/kind.h"

#include <string.h>

#include "profiler/base/safe_load.h"
#include "runtime/stacks/pyframe.h"

/* An object begins with a reference count and its type. A type is an object whose own type is `type` or a class derived
 * from it, and going from type to type always ends at `type`. So what is asked for is the type of the type: memory that
 * holds a pointer to some object, which is common, does not pass; memory that holds a pointer to a class does only if a
 * small number comes before it.
 *
 * NumPy is known by names, because it may be loaded at any time and more than once: arrays and their subclasses by
 * "numpy.ndarray", dtypes by the class of their classes. */

enum {
    METATYPES_MAX = 3, /* type, a metaclass, and the metaclass of one */
    BASES_MAX = 8,     /* of a subclass of an array; farther ones are plain */
    NAME_BYTES = 16,
    COUNT_DOUBTFUL = 1 << 20, /* more references than nearly all objects have */
    COUNT_STATIC = 999999999,
    COUNT_DRIFT = 1 << 24,
};

static bool load(uintptr_t base, size_t offset, uintptr_t *ret) {
    return pie_safe_load((const void *)(base + offset), ret);
}

static bool load_pointer(uintptr_t base, size_t offset, uintptr_t *ret) {
    return load(base, offset, ret) && pie_pyframe_is_pointer(*ret);
}

static bool makes_types(uintptr_t type) {
    uintptr_t flags;

    return type == (uintptr_t)&PyType_Type ||
           (load(type, offsetof(PyTypeObject, tp_flags), &flags) && (flags & Py_TPFLAGS_TYPE_SUBCLASS));
}

/* Is this a type? *ret_metatype is the type that it has. */
static bool is_type(uintptr_t type, uintptr_t *ret_metatype) {
    uintptr_t metatype, at;

    if (!load_pointer(type, offsetof(PyObject, ob_type), &metatype) || !makes_types(metatype))
        return false;
    at = metatype;
    for (int i = 1; i < METATYPES_MAX && at != (uintptr_t)&PyType_Type; i++)
        if (!load_pointer(at, offsetof(PyObject, ob_type), &at))
            return false;
    *ret_metatype = metatype;
    return at == (uintptr_t)&PyType_Type;
}

/* Does the name of a type begin with this? `with_end`: is it the whole name? */
static bool is_named(uintptr_t type, const char *beginning, bool with_end) {
    size_t size = strlen(beginning) + with_end;
    char name[NAME_BYTES];
    uintptr_t at;
    uint8_t first;

    /* The first character by itself: nearly every name is another one. */
    return load(type, offsetof(PyTypeObject, tp_name), &at) && at &&
           pie_safe_load_byte((const void *)at, &first) && first == (uint8_t)beginning[0] &&
           pie_safe_copy(name, (const void *)at, size) && memcmp(name, beginning, size) == 0;
}

static bool is_array_type(uintptr_t type) {
    for (int i = 0; i < BASES_MAX && pie_pyframe_is_pointer(type); i++) {
        if (is_named(type, "numpy.ndarray", true))
            return true;
        if (!load(type, offsetof(PyTypeObject, tp_base), &type))
            return false;
    }
    return false;
}

static bool is_dtype_type(uintptr_t type, uintptr_t metatype) {
    return is_named(type, "numpy.dtype", false) ||
           (metatype != (uintptr_t)&PyType_Type && is_named(metatype, "numpy._DTypeMeta", false));
}

/* Has an object that is never freed this count? Those of 3.11 begin with 999999999 and are counted from there, those of
 * later versions have bit 31 set. */
static bool is_immortal(uint32_t count) {
    return count - (COUNT_STATIC - COUNT_DRIFT) < 2 * COUNT_DRIFT || count >> 31;
}

/* Can this be the first word of a living object, and not an address? (Where threads are free it is something else, but
 * stacks are not read there, and nothing is an object.) Up to 3.13 it is a count; from 3.14 on a count of 32 bits, 16
 * bits that are 0 and 16 bits of flags. Addresses in a program that is not position independent and in its heap are as
 * small as counts, but multiples of eight. */
static bool can_be_count(uint64_t word) {
    uint32_t count = (uint32_t)word;

    if ((word >> 32 & UINT16_MAX) != 0)
        return false;
    if (count < COUNT_DOUBTFUL)
        return count > 0;
    return count % sizeof(uintptr_t) != 0 || is_immortal(count);
}

/* Is it an object? */
static bool find_types(uintptr_t address, uintptr_t *ret_type, uintptr_t *ret_metatype) {
    uintptr_t count;

    return pie_pyframe_is_enabled() && pie_pyframe_is_pointer(address) && load(address, 0, &count) &&
           can_be_count(count) && load_pointer(address, offsetof(PyObject, ob_type), ret_type) &&
           is_type(*ret_type, ret_metatype);
}

bool pie_object_type_at(uintptr_t address, uintptr_t *ret_type) {
    uintptr_t type, metatype;

    if (!find_types(address, &type, &metatype))
        return false;
    *ret_type = type;
    return true;
}

enum pie_object_kind pie_object_kind_at(uintptr_t address) {
    uintptr_t type, metatype;

    if (!find_types(address, &type, &metatype))
        return PIE_OBJECT_NONE;
    if (makes_types(type))
        return PIE_OBJECT_TYPE;
    if (is_dtype_type(type, metatype))
        return PIE_OBJECT_DTYPE;
    return is_array_type(type) ? PIE_OBJECT_ARRAY : PIE_OBJECT_PLAIN;
}

/* PyIter_Check() knows which function says no; it reads the type and this word of it, which can be read. */
bool pie_object_is_iterator(uintptr_t object, uintptr_t type) {
    uintptr_t next;

    return load(type, offsetof(PyTypeObject, tp_iternext), &next) && next && PyIter_Check((PyObject *)object);
}

bool pie_object_references(uintptr_t object, uintptr_t *ret_count) {
#ifdef Py_GIL_DISABLED
    uint32_t local;
    Py_ssize_t shared;

    if (!pie_safe_copy(&local, (const void *)(object + offsetof(PyObject, ob_ref_local)), sizeof local) ||
        !pie_safe_copy(&shared, (const void *)(object + offsetof(PyObject, ob_ref_shared)), sizeof shared))
        return false;
    *ret_count = local + (uintptr_t)(shared >> 2); /* its lowest bits are flags */
    return true;
#else
    if (!load(object, offsetof(PyObject, ob_refcnt), ret_count))
        return false;
    *ret_count = (uint32_t)*ret_count;
    return true;
#endif
}

bool pie_object_is_new(uintptr_t object) {
    uintptr_t count;

    return pie_object_references(object, &count) && count == 1;
}
