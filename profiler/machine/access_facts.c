/* SPDX-License-Identifier: Apache-2.0 */

/* Facts by trial, as clock_facts.c finds them. Breakpoints are opened disabled, but for one without a signal, which
 * counts a store of our own: hypervisors exist that accept debug registers and never raise an exception for them. */

#include "profiler/machine/access_choice.h"
#include "profiler/machine/pmu_events.h"
#include "profiler/machine/pmu_price.h"
#include "profiler/machine/ptrace_registers.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BREAKPOINTS_MAX = 16 };

/* A place for breakpoints; only stores_are_silent() touches it. */
static volatile uint64_t watched;

static int open_breakpoint(uint32_t type, bool has_signal) {
    bool is_data = type != HW_BREAKPOINT_X;
    struct perf_event_attr attr = {
        .size = sizeof attr,
        .type = PERF_TYPE_BREAKPOINT,
        .sample_period = has_signal,
        .bp_type = type,
        .bp_addr = is_data ? (uintptr_t)&watched : (uintptr_t)pie_access_facts_gather,
        .bp_len = is_data ? HW_BREAKPOINT_LEN_8 : sizeof(long),
        .disabled = has_signal,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .sigtrap = has_signal,
        .remove_on_exec = has_signal,
    };
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

    return fd < 0 ? -errno : fd;
}

/* Opens data breakpoints until none is left. Returns their number, 0 with *ret_error if not even one can be had. */
static int count_breakpoints(int *ret_error) {
    int fds[BREAKPOINTS_MAX], count = 0;

    *ret_error = 0;
    while (count < BREAKPOINTS_MAX) {
        int fd = open_breakpoint(HW_BREAKPOINT_RW, true);
        if (fd < 0) {
            *ret_error = count == 0 ? fd : 0;
            break;
        }
        fds[count++] = fd;
    }
    for (int i = 0; i < count; i++)
        close(fds[i]);
    return count;
}

static int try_execute_breakpoint(void) {
    int fd = open_breakpoint(HW_BREAKPOINT_X, true);

    if (fd < 0)
        return fd;
    close(fd);
    return 0;
}

/* True only if a breakpoint was there and missed a store. */
static bool stores_are_silent(void) {
    uint64_t count = 1;
    int fd = open_breakpoint(HW_BREAKPOINT_W, false);

    if (fd < 0)
        return false;
    watched = watched + 1;
    bool is_read = read(fd, &count, sizeof count) == (ssize_t)sizeof count;
    close(fd);
    return is_read && count == 0;
}

static void gather_pmu(struct pie_access_facts *facts) {
    const struct pie_pmu_machine *machine;
    const struct pie_pmu_events *events = pie_pmu_events_here(&machine);

    facts->is_virtual = machine->cpu.is_virtual;
    facts->has_pmu = machine->devices > 0 || machine->has_ibs;
    facts->has_ibs = machine->has_ibs;
    facts->loads = events->loads;
    facts->stores = events->stores;
    facts->pmu_error = events->error;
    if (events->loads && events->stores)
        facts->pmu_interrupt_ns = pie_pmu_interrupt_ns(events);
}

void pie_access_facts_gather(const struct pie_clock_facts *clock_facts, enum pie_clock_kind clock,
                             struct pie_access_facts *ret_facts) {
    *ret_facts = (struct pie_access_facts){
        .has_decoder = PIEPROF_HAS_DECODER,
        .is_traced = clock_facts->is_traced,
        .paranoid = clock_facts->paranoid,
        .kernel_major = clock_facts->kernel_major,
        .kernel_minor = clock_facts->kernel_minor,
        .clock = clock,
        .execute_error = try_execute_breakpoint(),
    };
    ret_facts->breakpoints = count_breakpoints(&ret_facts->data_error);
    /* A debugger would see an exception of its debuggee. */
    ret_facts->breakpoints_are_silent = !clock_facts->is_traced && stores_are_silent();
    gather_pmu(ret_facts);
}

/* Not under a debugger, which would be told of the new process. */
void pie_access_facts_try_ptrace(enum pie_breakpoint_request request, struct pie_access_facts *facts) {
    facts->request = request;
    facts->ptrace_error = facts->is_traced ? -EPERM : pie_ptrace_try();
}
