/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/code/arguments.h"

#include "profiler/base/safe_load.h"
#include "runtime/objects/kind.h"

/* The array that a native call works on, if it works on one. A second array would be another operand, whose change asks
 * for another pass over the first: x @ w of a descent. With numbers only, as in labels == k, one pass may do for all.
 * The slots of the evaluation stack are as the call left them (arguments_sigsafe.c). */

enum { SLOTS_MAX = 16 };

struct search {
    uintptr_t address;
    uint64_t bytes, count; /* of the array that it lies in */
    bool has_other;
};

static bool load(uintptr_t base, size_t offset, uintptr_t *ret) {
    return pie_safe_load((const void *)(base + offset), ret);
}

static void look_at(struct search *search, uintptr_t object) {
    struct pie_array_layout layout;
    uintptr_t low, high;

    if (pie_object_kind_at(object) != PIE_OBJECT_ARRAY)
        return;
    if (!pie_object_array_layout(object, &layout)) {
        search->has_other = true;
    } else if (pie_object_array_data(object, &low, &high) && search->address >= low &&
               search->address < high) {
        search->bytes = high - low;
        search->count = layout.count;
    } else if (layout.count > 1) {
        search->has_other = true;
    }
}

/* As many values as there were are what the call is for; True and False for each are mostly counted or select. */
static bool is_another_array(const struct search *search, uintptr_t result) {
    struct pie_array_layout layout;

    return pie_object_kind_at(result) == PIE_OBJECT_ARRAY && pie_object_array_layout(result, &layout) &&
           layout.count >= search->count && !layout.is_boolean;
}

static void look_at_slots(struct search *search, uintptr_t first, size_t count) {
    uintptr_t object;

    for (size_t i = 0; i < count; i++)
        if (pie_call_slot_read(first + i * sizeof object, &object))
            look_at(search, object);
}

/* A method that was bound to its array. */
static void look_at_self(struct search *search, uintptr_t callable) {
    uintptr_t type, self;

    if (pie_object_kind_at(callable) == PIE_OBJECT_PLAIN &&
        load(callable, offsetof(PyObject, ob_type), &type) && type == (uintptr_t)&PyCFunction_Type &&
        load(callable, offsetof(PyCFunctionObject, m_self), &self))
        look_at(search, self);
}

static void look_at_plain(struct search *search, uintptr_t top, unsigned arguments) {
    const size_t slot = sizeof(uintptr_t);
    uintptr_t called = top - (arguments + 2) * slot, callable;

    for (size_t i = 0; i < 2; i++)
        if (pie_call_slot_read(called + i * slot, &callable))
            look_at_self(search, callable);
    look_at_slots(search, called, (arguments < SLOTS_MAX ? arguments : SLOTS_MAX) + 2);
}

static void look_at_tuple(struct search *search, uintptr_t top, bool has_dict) {
    const size_t slot = sizeof(uintptr_t);
    uintptr_t at = top - (has_dict + 1u) * slot, tuple, callable, type, count;

    if (pie_call_slot_read(at - PIE_CALL_BELOW_TUPLE, &callable))
        look_at_self(search, callable);
    if (pie_call_slot_read(at, &tuple) && pie_object_kind_at(tuple) == PIE_OBJECT_PLAIN &&
        load(tuple, offsetof(PyObject, ob_type), &type) && type == (uintptr_t)&PyTuple_Type &&
        load(tuple, offsetof(PyVarObject, ob_size), &count))
        look_at_slots(search, tuple + offsetof(PyTupleObject, ob_item),
                      count < SLOTS_MAX ? count : SLOTS_MAX);
}

uint64_t pie_code_arguments_array(uintptr_t address, uintptr_t result) {
    struct search search = {.address = address};
    struct pie_call_site site;
    uintptr_t top;

    if (!pie_call_site_current(&site, &top) || site.shape == PIE_CALL_PUT)
        return 0;
    if (site.shape == PIE_CALL_TUPLE)
        look_at_tuple(&search, top, site.count != 0);
    else if (site.shape == PIE_CALL_OPERANDS || site.shape == PIE_CALL_CONTAINS)
        look_at_slots(&search, top - site.count * sizeof top, site.count);
    else
        look_at_plain(&search, top - (site.shape == PIE_CALL_NAMED) * sizeof top, site.count);
    return search.has_other || is_another_array(&search, result) ? 0 : search.bytes;
}
