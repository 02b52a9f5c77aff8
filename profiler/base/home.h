/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The interpreter's home: the code of this program, libpython, the C library and the loader. Native code elsewhere
 * (NumPy, zlib, an extension module) is foreign. These modules are there from the start and never go away. */

/* Notes where they are. Context: engine start. */
void pie_home_init(void);

/* Context: signal. */
bool pie_home_contains(uintptr_t address);

/* For pie_home_init(): forgets all ranges of addresses, adds one (as many as there is room for). */
void pie_home_clear(void);
void pie_home_add(uintptr_t low, uintptr_t high);
