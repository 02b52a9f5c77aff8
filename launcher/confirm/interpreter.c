/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher/confirm/confirm.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "launcher/answers/profile.h"
#include "launcher/python/python.h"
#include "launcher/text/messages.h"
#include "runtime/confirm/confirm.h"
#include "runtime/embed/embed.h"
#include "runtime/interpreter/target.h"

/* The interpreter of a profile is the one that this program embeds, or another one, which runs as a guest. */

enum { FIRST_MINOR = 11, LAST_MINOR = 15, WITH_MONITORING_MINOR = 12 };

static int say_other_version(const char *path, const char *version) {
    pie_message_error("calls can be counted with Python 3.11 to 3.15 only; %s is Python %s", path, version);
    return PIE_PROFILE_FAILED;
}

static int check_own(struct pie_confirm_plan *plan) {
    plan->slows_functions = pie_confirm_slows_functions;
    return pie_confirm_is_possible ? 0 : say_other_version(plan->executable, pie_embed_python_version());
}

static int check_guest(struct pie_confirm_plan *plan, const char *self) {
    char why[PIE_PYTHON_WHY_BYTES], abi[PIE_PYTHON_ABI_BYTES];
    struct pie_python python;

    int r = pie_python_read(plan->executable, &python, why);
    if (r == 0 && (python.minor < FIRST_MINOR || python.minor > LAST_MINOR)) {
        pie_python_abi(&python, abi);
        return say_other_version(plan->executable, abi);
    }
    if (r == 0)
        r = pie_guest_find(&python, self, &plan->guest, why, sizeof why);
    if (r < 0) {
        pie_message_error("the interpreter of the profiled run cannot run again: %s", why);
        return PIE_PROFILE_FAILED;
    }
    plan->is_guest = true;
    plan->slows_functions = python.minor < WITH_MONITORING_MINOR;
    return 0;
}

int pie_confirm_interpreter_check(struct pie_confirm_plan *plan) {
    char self[PATH_MAX];
    struct pie_target target;

    if (access(plan->executable, X_OK) < 0) {
        pie_message_error("the interpreter %s of the profiled run: %s", plan->executable, strerror(errno));
        return PIE_PROFILE_FAILED;
    }
    int r = pie_target_self(self);
    if (r < 0) {
        pie_message_error("cannot find out where this program is: %s; is /proc mounted?", strerror(-r));
        return PIE_PROFILE_FAILED;
    }
    bool is_own = pie_embed_has_python && pie_target_find_named(plan->executable, self, &target);
    return is_own ? check_own(plan) : check_guest(plan, self);
}
