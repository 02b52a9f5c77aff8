/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/stacks/collections.h"

/* CPython 3.14 and later collect the old objects in steps; without the GIL another thread may collect. */
int pie_collections_generation(uintptr_t tstate) {
    return -1;
}
