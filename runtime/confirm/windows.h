/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/windows.h"

/* Counting in windows of an ordinary run (profiler/windows). */

/* From now on windows can be asked for, in the interpreter that was just made. Without it, or where that is not
 * possible, open() says so. Context: gil. */
void pie_windows_install(void);

/* NULL: not in this Python. Context: any. */
const struct pie_window_ops *pie_windows_ops(void);
