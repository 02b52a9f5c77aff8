/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* See pie_pystack_ops.value_hash. Context: signal. */
uint64_t pie_object_value_hash(uintptr_t object);
