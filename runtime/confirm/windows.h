/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Counting in windows of an ordinary run (profiler/windows). */

/* From now on the collection thread can ask for windows, in the interpreter that was just made; not in every version of
 * Python. Context: gil. */
void pie_windows_install(void);
