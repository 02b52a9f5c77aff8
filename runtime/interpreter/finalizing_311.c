/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/interpreter/finalizing.h"

bool pie_python_is_finalizing(void) {
    return _Py_IsFinalizing();
}
