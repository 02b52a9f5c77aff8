/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The control flow graph of one code object's instructions. It shows which instructions lie in a loop. */

enum { PIE_CODE_GRAPH_NOWHERE = UINT32_MAX };

struct pie_code_instruction {
    uint32_t next[3]; /* the next instruction, the jump's target, the exception handler; or NOWHERE */
    bool is_instruction;
    bool is_in_loop; /* by pie_code_graph_mark_loops(): control can come back to it */
    /* Of the search: */
    bool is_open;
    uint8_t edges_taken;
    uint32_t order, low;
};

/* Sets is_in_loop in an array that has an element for each code unit; those that begin no instruction are skipped, and
 * so are edges that lead to no instruction. is_in_loop and the search's members are zero before. `path` and `open` have
 * room for n_units each. Context: drain. */
void pie_code_graph_mark_loops(struct pie_code_instruction *units, uint32_t n_units, uint32_t *path,
                               uint32_t *open);
