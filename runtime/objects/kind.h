/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profiler/ports/pystack.h"

/* Distinguishes Python objects from other memory, and finds the data of NumPy's arrays. By fault-tolerant loads. */

/* See pie_pystack_ops.object_at and .array_data. Context: signal. */
enum pie_object_kind pie_object_kind_at(uintptr_t address);
bool pie_object_array_data(uintptr_t array, uintptr_t *ret_low, uintptr_t *ret_high);

/* Does an array own its data, and is no view of another's? Context: signal. */
bool pie_object_array_owns_data(uintptr_t array);
