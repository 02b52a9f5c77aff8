/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/ids.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The engine's way to ask for the retention path of objects that leak: a table that runtime/retention/retention.c fills
 * in. A thread of Python's finds the answer when it comes to it, or never. Context: drain. */
struct pie_retention_ops {
    /* Asks; blocks as the allocators returned them. At most budget_ns are spent. False: not now. */
    bool (*ask)(struct pie_node_id node, const uintptr_t *blocks, size_t count, uint64_t budget_ns);
    /* The answer to the last question, once: one line of text, terminated; "" if none was found. False: not yet. */
    bool (*answer)(struct pie_node_id *ret_node, char *ret_text, size_t size);
    /* CPU time that all answers so far have taken in the program. */
    uint64_t (*spent_ns)(void);
};
