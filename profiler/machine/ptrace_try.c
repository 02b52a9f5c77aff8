/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/machine/ptrace_registers.h"

#include <errno.h>
#include <stdint.h>
#include <sys/stat.h>

/* Nobody touches it. */
static uint64_t untouched;

/* The first process in a PID namespace is the one without which it cannot be: a helper must not become that. */
static bool has_children_here(void) {
    struct stat own, of_children;

    return stat("/proc/thread-self/ns/pid", &own) == 0 &&
           stat("/proc/thread-self/ns/pid_for_children", &of_children) == 0 &&
           own.st_ino == of_children.st_ino;
}

static int try_once(void) {
    struct pie_ptrace_request request = {.address = {(uintptr_t)&untouched},
                                         .control = pie_ptrace_control(0, PIE_PTRACE_STORE, 8)};
    int r = pie_ptrace_set(&request);

    request.control = 0;
    int off = r == 0 ? pie_ptrace_set(&request) : 0;
    return r < 0 ? r : off;
}

int pie_ptrace_try(void) {
    if (!has_children_here())
        return -ENOTSUP;
    pie_ptrace_announce(false);
    int r = try_once();
    if (r != -EPERM)
        return r;
    pie_ptrace_announce(true);
    r = try_once();
    if (r < 0)
        pie_ptrace_announce(false);
    return r;
}
