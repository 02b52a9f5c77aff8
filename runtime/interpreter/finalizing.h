/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* Has interpreter finalization begun? Everything is freed then. One file for each family of versions. Context: hook. */
bool pie_python_is_finalizing(void);
