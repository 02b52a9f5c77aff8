/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* See pie_pystack_ops.line. Contexts come in about the order of a function's lines, and a line table can only be read
 * from its start on. So reading goes on where it ended for this code. Context: drain. */
int32_t pie_code_lines_find(uint32_t code_id, uint32_t unit);
