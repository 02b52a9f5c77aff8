/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/machine/descriptors.h"

#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

bool pie_descriptor_is_scarce(int fd) {
    struct rlimit limit;

    return syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           (rlim_t)fd >= limit.rlim_cur / 2;
}
