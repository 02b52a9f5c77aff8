/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/session/child_env.h"

#include "launcher/options/options.h"

int pie_child_env_apply(const struct pie_child_env *child, struct pie_options *ret_options) {
    pie_options_init(ret_options);
    int r = pie_options_from_string(ret_options, child->options, "the parent's settings");
    if (r < 0)
        return r;
    if (child->has_price)
        pie_watch_price_set(&child->price);
    if (child->has_clock_price)
        pie_clock_price_set(&child->clock_price);
    if (child->has_heap_prices)
        pie_heap_prices_inherit(child->heap_prices);
    ret_options->config.is_child = !child->is_root;
    ret_options->config.run_id = child->run_id;
    ret_options->config.parent_pid = child->parent_pid;
    return 0;
}
