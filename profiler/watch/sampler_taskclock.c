/* SPDX-License-Identifier: Apache-2.0 */

/* Each sample of time is the trigger: nothing to arm. */

#include "profiler/watch/sampler_idle.h"

const struct pie_access_sampler_ops pie_access_sampler_taskclock = {
    .name = "taskclock",
    .is_time_weighted = true,
    .arm = pie_access_sampler_idle_arm,
    .disarm = pie_access_sampler_idle_disarm,
    .adapt = pie_access_sampler_idle_adapt,
    .is_ours = pie_access_sampler_idle_is_ours,
    .read = pie_access_sampler_idle_read,
};
