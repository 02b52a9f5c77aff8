/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* The program under the name of an interpreter: it is Python to the letter, profiled where the environment says so. */

/* By argv[0], or by the file that was executed: a program may start sys.executable under any argv[0].
 * Context: launcher. */
bool pie_python_name_is_called(const char *argv0);

/* Is plain Python to be profiled? A value of PIEPROF other than 1 is not ours to judge, 0 says no to both.
 * Context: launcher. */
bool pie_python_name_wants_profile(void);
