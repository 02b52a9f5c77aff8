/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <assert.h>
#include <stdint.h>

/* Ids that could be taken for one another are types of their own. Value 0 is no id. */

/* A node of the calling context tree in memory (stacks/cct.h). */
struct pie_cct_id {
    uint32_t value;
};
static_assert(sizeof(struct pie_cct_id) == 4, "nodes and records in the region hold them");

/* A node of the tree in the file: a line or a function, called by another. Naming gives a CCT node its stored node
 * (symbols/naming.h), and nothing else converts one into the other. Unique within one process of one run. */
struct pie_node_id {
    uint32_t value;
};

/* A location of the file: a line of a Python function, or a place in a native one. Naming chooses it. Unique within one
 * process of one run. */
struct pie_location_id {
    uint32_t value;
};
