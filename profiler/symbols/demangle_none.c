/* SPDX-License-Identifier: Apache-2.0 */

/* Built where libiberty is missing: C++ and Rust names are shown as the linker knows them. */

#include "profiler/symbols/demangle.h"

#include <stddef.h>

char *pie_demangle_mangled(const char *symbol) {
    return NULL;
}
