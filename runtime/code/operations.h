/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The operations of the code units of interned code objects. */

/* See pie_pystack_ops.operation. A code object's first question costs a walk over its bytecode, the others a load.
 * Context: drain. */
unsigned pie_code_operations_find(uint32_t code_id, uint32_t unit);

/* See pie_pystack_ops.line_is_in_loop. Context: drain. */
bool pie_code_operations_line_is_in_loop(uint32_t code_id, int32_t line);
