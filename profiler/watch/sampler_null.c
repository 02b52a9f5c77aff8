/* SPDX-License-Identifier: Apache-2.0 */

/* Never samples: where accesses cannot be watched, where nobody wants it, and for tests that call the watch
 * themselves. */

#include "profiler/watch/sampler_idle.h"

const struct pie_access_sampler_ops pie_access_sampler_none = {
    .name = "none",
    .arm = pie_access_sampler_idle_arm,
    .disarm = pie_access_sampler_idle_disarm,
    .adapt = pie_access_sampler_idle_adapt,
    .is_ours = pie_access_sampler_idle_is_ours,
    .read = pie_access_sampler_idle_read,
};

const struct pie_access_sampler_ops *pie_access_sampler_of(enum pie_access_sampler_kind kind) {
    switch (kind) {
    case PIE_ACCESS_PMU:
        return &pie_access_sampler_pmu;
    case PIE_ACCESS_TASKCLOCK:
        return &pie_access_sampler_taskclock;
    case PIE_ACCESS_NONE:
        break;
    }
    return &pie_access_sampler_none;
}
