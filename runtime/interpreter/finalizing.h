/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* Is Python taking itself apart? Everything is freed then. One file for each family of versions. Context: hook. */
bool pie_python_is_finalizing(void);
