/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "runtime/confirm/confirm.h"

/* A Python whose calls cannot be seen. */
const bool pie_confirm_is_possible = false;
const bool pie_confirm_slows_functions = false;

int pie_confirm_install(struct pie_confirm_board *board) {
    return -ENOSYS;
}
