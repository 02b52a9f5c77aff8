/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/watch/watch.h"

#include "profiler/stacks/call_path.h"
#include "profiler/stacks/cct.h"
#include "profiler/time/sample.h"
#include "profiler/watch/sampler.h"

void pie_watch_after_sample(struct pie_thread *thread, const struct pie_sample *sample) {
    const struct pie_access_sampler_ops *accesses = pie_access_sampler_current();

    if (!accesses)
        return;
    pie_watch_charge_sample(thread, sample->ucontext, sample->time.system_ns);
    if (pie_cct_is_full(sample->stacks->node))
        return;
    if (pie_watch_outer_call(thread, sample->ucontext, sample->stacks))
        return;
    if (accesses->is_time_weighted && sample->stacks->is_foreign)
        pie_watch_sample(thread, sample->ucontext, sample->stacks);
    else if (sample->stacks->is_own_call)
        pie_watch_call(thread, sample->ucontext, sample->stacks);
}
