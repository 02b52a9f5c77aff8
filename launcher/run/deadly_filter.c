/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/run/deadly_filter.h"

#include "launcher/text/messages.h"
#include "runtime/libc/filter_trial.h"

bool pie_filter_is_deadly(void) {
    const char *call = pie_filter_trial();
    if (call)
        pie_message_warning("the seccomp filter here ends processes that call %s; running unprofiled", call);
    return call;
}
