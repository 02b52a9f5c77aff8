/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/confirm/windows.h"

#include <stddef.h>

void pie_windows_install(void) {
    /* this Python has no windows */
}

const struct pie_window_ops *pie_windows_ops(void) {
    return NULL;
}
