/* SPDX-License-Identifier: Apache-2.0 */

/* A perf event with sigtrap is the best clock: its signal is synchronous, is not merged with another pending
 * one and carries the event's own data. Kernel code is included only from Linux 6.11 on: before, a sample
 * that hit the kernel was delivered by waking the task as for any signal, so that system calls of the program
 * came back with EINTR which it would not have seen under python3. 6.11 delivers it on the way back to user
 * space.
 *
 * A traced process never gets a sigtrap clock: the tracer sees every SIGTRAP first, and debuggers keep it. */

#include "profiler/machine/clock_choice.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static const char *const clock_names[] = {
    [PIE_CLOCK_NONE] = "none",           [PIE_CLOCK_ITIMER] = "itimer", [PIE_CLOCK_TIMER] = "timer",
    [PIE_CLOCK_PERF_USER] = "perf-user", [PIE_CLOCK_PERF] = "perf",
};

const char *pie_clock_name(enum pie_clock_kind kind) {
    return clock_names[kind];
}

int pie_clock_parse(const char *name, enum pie_clock_kind *ret_kind) {
    for (enum pie_clock_kind kind = PIE_CLOCK_ITIMER; kind <= PIE_CLOCK_PERF; kind++)
        if (strcmp(name, clock_names[kind]) == 0) {
            *ret_kind = kind;
            return 0;
        }
    return -EINVAL;
}

static bool is_refused(int error) {
    return error == -EACCES || error == -EPERM;
}

static const char *why_refused(const struct pie_clock_facts *facts) {
    if (facts->paranoid == PIE_CLOCK_PARANOID_UNKNOWN)
        return "perf_event_open is refused (perf_event_paranoid, seccomp or a security module)";
    if (facts->paranoid > 3)
        return "perf_event_paranoid is above 3: perf_event_open is refused";
    if (facts->paranoid == 3)
        return "perf_event_paranoid is 3: perf_event_open is refused";
    return "perf_event_open is refused although perf_event_paranoid allows it (seccomp or a security module)";
}

/* Each why_not_*() returns NULL if the clock can be used, else the reason. */

/* Where perf events have signals (Linux 5.13), but one that comes while SIGTRAP is blocked, as it is in handlers, ends
 * the program (before TRAP_PERF_FLAG_ASYNC; in all of 6.1). */
static bool is_deadly(const struct pie_clock_facts *facts) {
    return facts->kernel_major == 5 || (facts->kernel_major == 6 && facts->kernel_minor < 1);
}

static const char *why_not_perf_user(const struct pie_clock_facts *facts) {
    if (facts->is_traced)
        return "a debugger traces this process and would keep the signals of perf events";
    if (facts->perf_user_error == 0)
        return is_deadly(facts) ? "signals of perf events are not safe before Linux 6.1" : NULL;
    if (is_refused(facts->perf_user_error))
        return why_refused(facts);
    switch (facts->perf_user_error) {
    case -ENOSYS:
        return "this kernel has no perf_event_open";
    case -EINVAL:
    case -E2BIG:
        return "this kernel has no perf events with sigtrap (Linux 6.1)";
    case -EMFILE:
    case -ENFILE:
        return "no free file descriptor for a perf event";
    default:
        return "perf_event_open failed";
    }
}

static const char *why_not_perf(const struct pie_clock_facts *facts) {
    const char *note = why_not_perf_user(facts);
    if (note)
        return note;
    if (facts->perf_kernel_error) {
        if (!is_refused(facts->perf_kernel_error))
            return "perf_event_open failed for kernel code: system time comes from clock differences";
        if (facts->paranoid == 2)
            return "perf_event_paranoid is 2: kernel code is not sampled, system time comes from clock "
                   "differences";
        return "sampling kernel code is refused: system time comes from clock differences";
    }
    if (facts->perf_mmap_error)
        return "the ring of a perf event cannot be mapped (perf_event_mlock_kb, RLIMIT_MEMLOCK): system time "
               "comes from "
               "clock differences";
    if (facts->kernel_major > 6 || (facts->kernel_major == 6 && facts->kernel_minor >= 11))
        return NULL;
    return "Linux before 6.11 interrupts system calls when kernel code is sampled: system time comes from "
           "clock "
           "differences";
}

static const char *why_not_timer(const struct pie_clock_facts *facts) {
    return facts->thread_timer_error ? "per-thread CPU timers cannot be created" : NULL;
}

static const char *why_not_itimer(const struct pie_clock_facts *facts) {
    return facts->itimer_error ? "not even setitimer works" : NULL;
}

static const char *(*const why_not[])(const struct pie_clock_facts *) = {
    [PIE_CLOCK_ITIMER] = why_not_itimer,
    [PIE_CLOCK_TIMER] = why_not_timer,
    [PIE_CLOCK_PERF_USER] = why_not_perf_user,
    [PIE_CLOCK_PERF] = why_not_perf,
};

enum pie_clock_kind pie_clock_choose(const struct pie_clock_facts *facts, const char *forced,
                                     const char **ret_note) {
    enum pie_clock_kind kind = PIE_CLOCK_PERF;
    if (forced)
        (void)pie_clock_parse(forced,
                              &kind); /* an unknown name leaves the best; the launcher has refused it */
    const char *note = NULL;
    for (; kind > PIE_CLOCK_NONE; kind--) {
        const char *reason = why_not[kind](facts);
        if (!reason)
            break;
        /* The first reason stays: curing it brings back the best clock. */
        if (!note)
            note = reason;
    }
    *ret_note = note;
    return kind;
}
