/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/stacks/collections.h"

/* Without the GIL another thread may collect. */
int pie_collections_generation(uintptr_t tstate) {
    return -1;
}

void pie_collections_verify(uintptr_t tstate) {}
