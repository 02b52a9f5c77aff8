/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Loops in the flow of control of one function, for decode_function.c. */

struct pie_decode_edge {
    uint32_t from, to; /* numbers of basic blocks */
};

/* Sets bit i of `ret_bits` (n_nodes bits, zeroed by the caller) for each node that lies on a cycle. Returns 0 or
 * -ENOMEM. Context: drain. */
int pie_decode_graph_cycles(size_t n_nodes, const struct pie_decode_edge *edges, size_t n_edges,
                            uint64_t *ret_bits);
