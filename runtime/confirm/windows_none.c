/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/confirm/windows.h"

void pie_windows_install(void) {
    /* this Python has no windows */
}
