/* SPDX-License-Identifier: Apache-2.0 */

/* A table has the calls that block, and which of their arguments shows what for. */

#include "profiler/time/wait_call.h"

#include "profiler/base/safe_load.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>

enum {
    POLL_MAX = 1024,              /* descriptors of poll() that are looked at */
    MUTEX_CONTENDED = 2,          /* what a mutex of the C library holds where threads wait for it */
    MUTEX_OWNER_OFFSET_BYTES = 8, /* from its futex to the owner's thread id */
};

int pie_wait_call_parse(const char *text, struct pie_wait_call *ret_call) {
    struct pie_wait_call call = {0};
    char *end;

    if (strncmp(text, "running", strlen("running")) == 0)
        return -EAGAIN;
    errno = 0;
    call.number = strtol(text, &end, 10);
    if (end == text || errno || *end != ' ')
        return -EINVAL;
    call.is_fault = call.number < 0;
    for (int i = 0; i < PIE_WAIT_CALL_ARGUMENTS && !call.is_fault; i++) {
        const char *at = end;
        call.arguments[i] = strtoull(at, &end, 16);
        if (end == at || *end != ' ')
            return -EINVAL;
    }
    *ret_call = call;
    return 0;
}

/* What follows from a call and its arguments. */
typedef void see_fn(const struct pie_wait_call *call, struct pie_wait_target *target);

static void see_cause_only(const struct pie_wait_call *call, struct pie_wait_target *target) {}

static void see_first(const struct pie_wait_call *call, struct pie_wait_target *target) {
    pie_wait_descriptor((int)call->arguments[0], false, target);
}

/* Whatever it is: to be written out, or locked. */
static void see_path(const struct pie_wait_call *call, struct pie_wait_target *target) {
    enum pie_wait_cause cause = target->cause;

    pie_wait_descriptor((int)call->arguments[0], false, target);
    target->cause = cause;
}

static void see_accept(const struct pie_wait_call *call, struct pie_wait_target *target) {
    pie_wait_descriptor((int)call->arguments[0], true, target);
}

static void see_connect(const struct pie_wait_call *call, struct pie_wait_target *target) {
    pie_wait_address(call->arguments[1], call->arguments[2], target);
}

static void see_fcntl(const struct pie_wait_call *call, struct pie_wait_target *target) {
    if (call->arguments[1] == F_SETLKW || call->arguments[1] == F_OFD_SETLKW)
        see_path(call, target);
    else
        see_first(call, target);
}

static void see_opened(uint64_t address, struct pie_wait_target *target) {
    size_t i = 0;

    while (i + 1 < sizeof target->resource &&
           pie_safe_load_byte((const void *)(uintptr_t)(address + i), (uint8_t *)&target->resource[i]) &&
           target->resource[i])
        i++;
    target->resource[i] = '\0';
}

static void see_open(const struct pie_wait_call *call, struct pie_wait_target *target) {
    see_opened(call->arguments[0], target);
}

static void see_openat(const struct pie_wait_call *call, struct pie_wait_target *target) {
    see_opened(call->arguments[1], target);
}

static void see_futex(const struct pie_wait_call *call, struct pie_wait_target *target) {
    unsigned operation = (unsigned)call->arguments[1] & FUTEX_CMD_MASK;
    const void *owner = (const void *)(uintptr_t)(call->arguments[0] + MUTEX_OWNER_OFFSET_BYTES);

    target->futex = call->arguments[0];
    if ((operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET) &&
        (uint32_t)call->arguments[2] == MUTEX_CONTENDED &&
        !pie_safe_copy(&target->owner_tid, owner, sizeof target->owner_tid))
        target->owner_tid = 0;
}

/* none, one or several descriptors. */
static void see_set(uint32_t count, int fd, struct pie_wait_target *target) {
    target->cause = count == 0 ? PIE_WAIT_SLEEP : PIE_WAIT_POLL;
    if (count == 1)
        pie_wait_descriptor(fd, false, target);
}

static void see_poll(const struct pie_wait_call *call, struct pie_wait_target *target) {
    uint64_t n = call->arguments[1] < POLL_MAX ? call->arguments[1] : POLL_MAX;
    uint32_t count = 0;
    int fd = -1;

    for (uint64_t i = 0; i < n && count < 2; i++) {
        struct pollfd entry;
        const void *at = (const void *)(uintptr_t)(call->arguments[0] + i * sizeof entry);
        if (!pie_safe_copy(&entry, at, sizeof entry))
            return;
        if (entry.fd >= 0) {
            fd = entry.fd;
            count++;
        }
    }
    see_set(count, fd, target);
}

/* A descriptor may be in more than one of the three sets. */
static void see_select(const struct pie_wait_call *call, struct pie_wait_target *target) {
    int most = (int)call->arguments[0], fd = -1;
    uint32_t count = 0;

    for (int low = 0; low < most && low < FD_SETSIZE && count < 2; low += 64) {
        uintptr_t all = 0;
        for (int set = 1; set <= 3; set++) {
            uintptr_t bits = 0;
            if (call->arguments[set] &&
                !pie_safe_load((const void *)(uintptr_t)(call->arguments[set] + (uint64_t)low / 8), &bits))
                return;
            all |= bits;
        }
        if (most - low < 64)
            all &= (UINT64_C(1) << (most - low)) - 1;
        count += (uint32_t)__builtin_popcountll(all);
        if (all)
            fd = low + __builtin_ctzll(all);
    }
    see_set(count, fd, target);
}

static const struct {
    long number;
    enum pie_wait_cause cause; /* where `see` finds no better one */
    see_fn *see;
} calls[] = {
    {SYS_futex, PIE_WAIT_LOCK, see_futex},
    {SYS_futex_waitv, PIE_WAIT_LOCK, see_cause_only},
    {SYS_semop, PIE_WAIT_LOCK, see_cause_only},
    {SYS_semtimedop, PIE_WAIT_LOCK, see_cause_only},
    {SYS_flock, PIE_WAIT_LOCK, see_path},
    {SYS_fcntl, PIE_WAIT_LOCK, see_fcntl},
    {SYS_nanosleep, PIE_WAIT_SLEEP, see_cause_only},
    {SYS_clock_nanosleep, PIE_WAIT_SLEEP, see_cause_only},
    {SYS_poll, PIE_WAIT_POLL, see_poll},
    {SYS_ppoll, PIE_WAIT_POLL, see_poll},
    {SYS_select, PIE_WAIT_POLL, see_select},
    {SYS_pselect6, PIE_WAIT_POLL, see_select},
    {SYS_epoll_wait, PIE_WAIT_POLL, see_cause_only},
    {SYS_epoll_pwait, PIE_WAIT_POLL, see_cause_only},
    {SYS_epoll_pwait2, PIE_WAIT_POLL, see_cause_only},
    {SYS_wait4, PIE_WAIT_CHILD, see_cause_only},
    {SYS_waitid, PIE_WAIT_CHILD, see_cause_only},
    /* Until it executes a program: a child that shares its parent's memory. */
    {SYS_vfork, PIE_WAIT_CHILD, see_cause_only},
    {SYS_clone, PIE_WAIT_CHILD, see_cause_only},
    {SYS_clone3, PIE_WAIT_CHILD, see_cause_only},
    {SYS_pause, PIE_WAIT_SIGNAL, see_cause_only},
    {SYS_rt_sigsuspend, PIE_WAIT_SIGNAL, see_cause_only},
    {SYS_rt_sigtimedwait, PIE_WAIT_SIGNAL, see_cause_only},
    {SYS_read, PIE_WAIT_OTHER, see_first},
    {SYS_readv, PIE_WAIT_OTHER, see_first},
    {SYS_pread64, PIE_WAIT_OTHER, see_first},
    {SYS_preadv, PIE_WAIT_OTHER, see_first},
    {SYS_preadv2, PIE_WAIT_OTHER, see_first},
    {SYS_write, PIE_WAIT_OTHER, see_first},
    {SYS_writev, PIE_WAIT_OTHER, see_first},
    {SYS_pwrite64, PIE_WAIT_OTHER, see_first},
    {SYS_pwritev, PIE_WAIT_OTHER, see_first},
    {SYS_pwritev2, PIE_WAIT_OTHER, see_first},
    {SYS_sendfile, PIE_WAIT_OTHER, see_first},
    {SYS_ioctl, PIE_WAIT_OTHER, see_first},
    {SYS_recvfrom, PIE_WAIT_SOCKET, see_first},
    {SYS_recvmsg, PIE_WAIT_SOCKET, see_first},
    {SYS_recvmmsg, PIE_WAIT_SOCKET, see_first},
    {SYS_sendto, PIE_WAIT_SOCKET, see_first},
    {SYS_sendmsg, PIE_WAIT_SOCKET, see_first},
    {SYS_sendmmsg, PIE_WAIT_SOCKET, see_first},
    {SYS_accept, PIE_WAIT_SOCKET, see_accept},
    {SYS_accept4, PIE_WAIT_SOCKET, see_accept},
    {SYS_connect, PIE_WAIT_SOCKET, see_connect},
    {SYS_open, PIE_WAIT_FILE, see_open},
    {SYS_openat, PIE_WAIT_FILE, see_openat},
    {SYS_fsync, PIE_WAIT_DISK, see_path},
    {SYS_fdatasync, PIE_WAIT_DISK, see_path},
    {SYS_sync_file_range, PIE_WAIT_DISK, see_path},
    {SYS_syncfs, PIE_WAIT_DISK, see_path},
    {SYS_sync, PIE_WAIT_DISK, see_cause_only},
    {SYS_msync, PIE_WAIT_DISK, see_cause_only},
    {SYS_restart_syscall, PIE_WAIT_UNKNOWN, see_cause_only}, /* of a stopped one: which is not said */
};

void pie_wait_call_target(const struct pie_wait_call *call, int32_t tid, struct pie_wait_target *ret_target) {
    *ret_target = (struct pie_wait_target){.cause = PIE_WAIT_OTHER, .tid = tid};
    if (call->is_fault) {
        ret_target->cause = PIE_WAIT_DISK;
        return;
    }
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number == call->number) {
            ret_target->cause = calls[i].cause;
            calls[i].see(call, ret_target);
            break;
        }
    if (ret_target->cause == PIE_WAIT_OTHER && !ret_target->resource[0])
        snprintf(ret_target->resource, sizeof ret_target->resource, "system call %ld", call->number);
}
