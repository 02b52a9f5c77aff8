/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/code/store.h"

/* Is this the line with which multiprocessing starts a process? Python says "<string>" of it, as of what the user
 * passes with -c. content: of the code object. Context: signal, drain. */
bool pie_code_is_start_line(uintptr_t code, const struct pie_code_content *content);
