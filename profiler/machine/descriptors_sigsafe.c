/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/machine/descriptors.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

bool pie_descriptor_is_scarce(int fd) {
    struct rlimit limit;

    return syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           (rlim_t)fd >= limit.rlim_cur / 2;
}

/* Of the process's collection thread; a forked child's finds out for itself. */
static _Atomic bool is_own;

void pie_descriptors_set_own(bool own) {
    atomic_store_explicit(&is_own, own, memory_order_relaxed);
}

bool pie_descriptors_are_own(void) {
    return atomic_load_explicit(&is_own, memory_order_relaxed);
}
