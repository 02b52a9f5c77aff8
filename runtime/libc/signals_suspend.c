/* SPDX-License-Identifier: Apache-2.0 */

/* The exported calls that wait with a mask of their own: what the program believes to be blocked is that mask's
 * meanwhile, so a handler of the program runs as it would. */

#include "runtime/libc/export.h"
#include "runtime/libc/signals.h"
#include "runtime/libc/signals_state.h"

#include <dlfcn.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>

typedef int (*sigsuspend_fn)(const sigset_t *);
typedef int (*ppoll_fn)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
typedef int (*pselect_fn)(int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *);
typedef int (*epoll_pwait_fn)(int, struct epoll_event *, int, int, const sigset_t *);

/* Resolved by pie_signals_resolve_suspends(), the same ever after. */
static sigsuspend_fn real_sigsuspend;
static ppoll_fn real_ppoll;
static pselect_fn real_pselect;
static epoll_pwait_fn real_epoll_pwait;

void pie_signals_resolve_suspends(void) {
    if (real_epoll_pwait)
        return;
    real_sigsuspend = (sigsuspend_fn)dlsym(RTLD_NEXT, "sigsuspend");
    real_ppoll = (ppoll_fn)dlsym(RTLD_NEXT, "ppoll");
    real_pselect = (pselect_fn)dlsym(RTLD_NEXT, "pselect");
    real_epoll_pwait = (epoll_pwait_fn)dlsym(RTLD_NEXT, "epoll_pwait");
}

/* Returns the virtual mask to set again afterwards. NULL: the call changes no mask. Signals of ours that wait already
 * would end the call before the program's. */
static uint64_t take_virtual(const sigset_t *mask) {
    uint64_t before, bits;

    pie_signals_resolve_suspends();
    before = pie_signals_virtual_mask();
    if (mask && pie_signals_are_virtual()) {
        pie_signals_open_ours();
        memcpy(&bits, mask, sizeof bits);
        pie_signals_set_virtual_mask(bits & pie_signals_our_bits());
    }
    return before;
}

PIE_EXPORT int sigsuspend(const sigset_t *mask) {
    uint64_t before = take_virtual(mask);
    sigset_t open;
    int r = real_sigsuspend(pie_signals_open_traps(mask, &open));

    pie_signals_set_virtual_mask(before);
    return r;
}

PIE_EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask) {
    uint64_t before = take_virtual(mask);
    sigset_t open;
    int r = real_ppoll(fds, count, timeout, pie_signals_open_traps(mask, &open));

    pie_signals_set_virtual_mask(before);
    return r;
}

PIE_EXPORT int pselect(int count, fd_set *restrict reads, fd_set *restrict writes, fd_set *restrict others,
                       const struct timespec *restrict timeout, const sigset_t *restrict mask) {
    uint64_t before = take_virtual(mask);
    sigset_t open;
    int r = real_pselect(count, reads, writes, others, timeout, pie_signals_open_traps(mask, &open));

    pie_signals_set_virtual_mask(before);
    return r;
}

PIE_EXPORT int epoll_pwait(int fd, struct epoll_event *events, int max, int timeout_ms,
                           const sigset_t *mask) {
    uint64_t before = take_virtual(mask);
    sigset_t open;
    int r = real_epoll_pwait(fd, events, max, timeout_ms, pie_signals_open_traps(mask, &open));

    pie_signals_set_virtual_mask(before);
    return r;
}
