/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "runtime/confirm/confirm.h"

/* From CPython 3.14 on, what lies on the stack is no plain pointer. */
const bool pie_confirm_is_possible = false;
const bool pie_confirm_slows_functions = false;

int pie_confirm_install(struct pie_confirm_board *board) {
    return -ENOSYS;
}
