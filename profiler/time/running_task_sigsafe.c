/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/time/running_task.h"

#include "profiler/ports/pystack.h"
#include "profiler/stacks/call_path.h"
#include "profiler/stacks/cct.h"
#include "profiler/time/task_names.h"

/* How far above the innermost frame the outermost one of this code is. */
static uint8_t steps_up(const struct pie_call_path *path, uint32_t code) {
    size_t i = path->hybrid.depth;

    while (i > 0 && !(pie_cct_key_is_python(path->path[i - 1]) && pie_cct_key_code(path->path[i - 1]) == code))
        i--;
    return i > 0 && i <= PIE_SAMPLE_TASK_UP_UNKNOWN ? (uint8_t)(i - 1) : PIE_SAMPLE_TASK_UP_UNKNOWN;
}

struct pie_sample_task pie_running_task_find(const struct pie_pystack_ops *ops, uintptr_t tstate,
                                             const struct pie_call_path *path) {
    struct pie_running_task task;
    struct pie_sample_task found = {.name = PIE_TASK_NONE, .up = PIE_SAMPLE_TASK_UP_UNKNOWN};
    enum pie_task_found kind = ops->running_task ? ops->running_task(tstate, &task) : PIE_TASK_FOUND_NONE;

    if (kind == PIE_TASK_FOUND_NONE)
        return found;
    if (kind == PIE_TASK_FOUND_UNREADABLE) {
        found.name = PIE_TASK_UNNAMED;
        return found;
    }
    uint32_t code = task.code ? ops->intern(task.code) : 0;
    if (code && !pie_cct_is_full(path->node))
        found.up = steps_up(path, code);
    found.name = pie_task_names_intern(task.name);
    return found;
}
