/* SPDX-License-Identifier: Apache-2.0 */

/* A limit of address space that the program sets for itself: the profiler's region is reserved at its full size, and
 * gives back what it does not use before the limit counts. The limit itself is the program's, as are the results. */

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#include "profiler/base/proc_file.h"
#include "profiler/base/region.h"
#include "profiler/thread/filtered.h"
#include "runtime/libc/export.h"

/* AddressSanitizer's library limits core files by these functions while it starts, and has no shadow memory yet. */
#define BEFORE_SHADOW __attribute__((no_sanitize("address")))

static struct {
    int (*setrlimit)(int, const struct rlimit *);
    int (*prlimit)(pid_t, int, const struct rlimit *, struct rlimit *);
} libc; /* resolved before main; nothing to reset in a forked child */

/* Priority: the first that user code can follow. */
__attribute__((constructor(101))) BEFORE_SHADOW static void resolve(void) {
    *(void **)&libc.setrlimit = dlsym(RTLD_NEXT, "setrlimit");
    *(void **)&libc.prlimit = dlsym(RTLD_NEXT, "prlimit");
}

/* Was the limit computed from the present size, as in "this much more than statm says"? Then what counts
 * is the room, and that is right as long as nothing is given back. Limits that stand for themselves are round
 * numbers. */
static bool is_relative(rlim_t limit_bytes) {
    char text[128];
    ssize_t n = pie_proc_read("/proc/self/statm", text, sizeof text);

    if (n <= 0 || limit_bytes % (1 << 20) == 0 || limit_bytes % 1000000 == 0)
        return false;
    return limit_bytes >= strtoull(text, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* A pointer that leads nowhere is the C library's to refuse: it is not looked through but for the limit in question. */
BEFORE_SHADOW static void trim_to(int resource, const struct rlimit *limit) {
    int error = errno;

    if (resource == RLIMIT_AS && !pie_filtered() && limit && limit->rlim_cur != RLIM_INFINITY &&
        !is_relative(limit->rlim_cur))
        pie_region_trim(limit->rlim_cur);
    errno = error;
}

/* Under names of our own, because with 64-bit offsets the headers make setrlimit another name of setrlimit64. On 64-bit
 * machines they are the same. */
PIE_EXPORT int set_limit(int resource, const struct rlimit *limit) __asm__("setrlimit");
PIE_EXPORT int set_limit_64(int resource, const struct rlimit *limit) __asm__("setrlimit64");
PIE_EXPORT int exchange_limit(pid_t pid, int resource, const struct rlimit *limit,
                              struct rlimit *old_limit) __asm__("prlimit");
PIE_EXPORT int exchange_limit_64(pid_t pid, int resource, const struct rlimit *limit,
                                 struct rlimit *old_limit) __asm__("prlimit64");

BEFORE_SHADOW static int set_any(int resource, const struct rlimit *limit) {
    if (!libc.prlimit)
        resolve();
    trim_to(resource, limit);
    return libc.setrlimit(resource, limit);
}

BEFORE_SHADOW static int exchange_any(pid_t pid, int resource, const struct rlimit *limit,
                                      struct rlimit *old_limit) {
    if (!libc.prlimit)
        resolve();
    if (!pie_filtered() && (pid == 0 || pid == getpid()))
        trim_to(resource, limit);
    return libc.prlimit(pid, resource, limit, old_limit);
}

PIE_EXPORT BEFORE_SHADOW int set_limit(int resource, const struct rlimit *limit) {
    return set_any(resource, limit);
}

PIE_EXPORT BEFORE_SHADOW int set_limit_64(int resource, const struct rlimit *limit) {
    return set_any(resource, limit);
}

PIE_EXPORT int exchange_limit(pid_t pid, int resource, const struct rlimit *limit, struct rlimit *old_limit) {
    return exchange_any(pid, resource, limit, old_limit);
}

PIE_EXPORT int exchange_limit_64(pid_t pid, int resource, const struct rlimit *limit,
                                 struct rlimit *old_limit) {
    return exchange_any(pid, resource, limit, old_limit);
}
