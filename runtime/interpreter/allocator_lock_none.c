/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/interpreter/allocator_lock.h"

bool pie_python_has_allocator_lock(void) {
    return true;
}
