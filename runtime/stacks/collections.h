/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Collections of garbage, read from the interpreter's memory (collections_sigsafe.c;
 * collections_none_sigsafe.c without the GIL). */

/* See pie_pystack_ops.collects. Context: signal. */
int pie_collections_generation(uintptr_t tstate);
