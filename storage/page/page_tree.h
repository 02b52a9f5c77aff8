/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "storage/page/page_nodes.h"

struct pie_calltree;

/* The tree of a page, with what its rows in the file became. Context: cli. */
struct pie_page_tree {
    struct pie_calltree *calltree;
    struct pie_page_costs costs;
    struct pie_page_nodes nodes;
};

void pie_page_tree_destroy(struct pie_page_tree *tree);

/* The page's node that has the costs of a row of table node; PIE_PAGE_NO_NODE: it has none. */
uint32_t pie_page_tree_find(const struct pie_page_tree *tree, int64_t process, int64_t node);
