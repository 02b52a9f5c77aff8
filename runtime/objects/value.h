/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/pystack.h"

#include <stdbool.h>
#include <stdint.h>

/* See pie_pystack_ops.value, .value_floats and .value_words. Context: signal. */
void pie_object_value(uintptr_t object, struct pie_value *ret_value);
void pie_object_value_floats(uintptr_t object, struct pie_value_floats *ret_floats);
void pie_object_value_words(uintptr_t object, struct pie_value_words *words);

/* The data of a PyTorch tensor that shares it with no other, [*ret_low, *ret_high). False: it is none.
 * Context: signal. */
bool pie_object_tensor_data(uintptr_t object, uintptr_t type, uintptr_t *ret_low, uintptr_t *ret_high);
