/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profiler/ports/pystack.h"

/* Distinguishes Python objects from other memory, and finds the data of NumPy's arrays. By fault-tolerant loads. */

/* See pie_pystack_ops.object_at and .array_data. Context: signal. */
enum pie_object_kind pie_object_kind_at(uintptr_t address);
/* The type of an object, also where only that it is one matters. False: it is none. Context: signal. */
bool pie_object_type_at(uintptr_t address, uintptr_t *ret_type);
bool pie_object_array_data(uintptr_t array, uintptr_t *ret_low, uintptr_t *ret_high);

/* Has this living object a next item? Classes written in Python have a function in that place that says no. Context:
 * signal. */
bool pie_object_is_iterator(uintptr_t object, uintptr_t type);

/* How many references are counted of an object. Context: signal. */
bool pie_object_references(uintptr_t object, uintptr_t *ret_count);

/* Has this object one reference: that of who holds it, such as the caller to which it was returned? Context: signal. */
bool pie_object_is_new(uintptr_t object);

/* Does an array own its data, and is no view of another's? Context: signal. */
bool pie_object_array_owns_data(uintptr_t array);

/* How the elements of an array lie. */
struct pie_array_layout {
    uintptr_t data; /* of the first element */
    uint64_t count; /* of elements */
    uint64_t element_bytes;
    int64_t stride_bytes; /* from one element to the next, of an array of one dimension */
    int32_t n_dimensions;
    uintptr_t dimensions;     /* address of n_dimensions words */
    uint8_t kind, byte_order; /* of the elements, as NumPy writes them: 'f', '<' */
    bool is_dense;            /* no other bytes lie between the elements */
    bool is_boolean;          /* they are True or False */
    bool has_references;      /* they are objects, or may hold some */
};

/* False: unreadable. For an object that pie_object_kind_at() called an array. Context: signal. */
bool pie_object_array_layout(uintptr_t array, struct pie_array_layout *ret_layout);
