/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/collect/turn.h"

#include "profiler/collect/collectors.h"
#include "profiler/collect/flush.h"
#include "profiler/symbols/naming.h"

static bool is_held(void *unused, struct pie_node_id node) {
    return pie_collectors_hold(node);
}

void pie_turn_finish(struct pie_turn *turn, struct pie_flush *flush) {
    const struct pie_collector *const *active = pie_collectors_active();

    PIE_EACH_COLLECTOR(active, move, pie_turn_moved, turn);
    pie_naming_forget(pie_flush_naming(flush), is_held, NULL);
    PIE_EACH_COLLECTOR(active, forget_nodes);
    pie_flush_forget(flush);
    pie_turn_end(turn);
}
