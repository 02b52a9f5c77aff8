/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* Does a seccomp filter end processes that make one of our system calls? Says so in one line; the program then runs
 * unprofiled. To be asked before anything else that python3 would not do. Context: launcher. */
bool pie_filter_is_deadly(void);
