/* SPDX-License-Identifier: Apache-2.0 */

/* Hardware counters and breakpoints by trial, for the calling thread, disabled, user code only: as a profiler without
 * privileges would open them. */

#include "profiler/machine_facts.h"
#include "profiler/proc_file.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SLOTS_MAX = 16 };

static int open_event(struct perf_event_attr *attr) {
    attr->size = sizeof(*attr);
    attr->disabled = 1;
    attr->exclude_kernel = 1;
    attr->exclude_hv = 1;
    int fd = (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int try_event(struct perf_event_attr *attr) {
    int fd = open_event(attr);
    if (fd < 0)
        return fd;
    close(fd);
    return 0;
}

/* A place for breakpoints that nothing ever reads, writes or runs. */
static uint64_t watched;

static int open_breakpoint(bool is_data) {
    struct perf_event_attr attr = {
        .type = PERF_TYPE_BREAKPOINT,
        .sample_period = 1,
        .bp_type = is_data ? HW_BREAKPOINT_RW : HW_BREAKPOINT_X,
        .bp_addr = is_data ? (uintptr_t)&watched : (uintptr_t)pie_machine_facts_gather_events,
        .bp_len = is_data ? HW_BREAKPOINT_LEN_8 : sizeof(long),
        .sigtrap = 1,
        .remove_on_exec = 1,
    };
    return open_event(&attr);
}

/* Opens breakpoints until none is left. Returns their number, 0 with *ret_error if not even one can be had. */
static int count_slots(bool is_data, int *ret_error) {
    int fds[SLOTS_MAX], count = 0;
    *ret_error = 0;
    while (count < SLOTS_MAX) {
        int fd = open_breakpoint(is_data);
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

/* AMD samples operations by a unit of its own, Instruction Based Sampling, which the kernel shows as a device. */
static int find_ibs(struct perf_event_attr *ret_event) {
    long type;
    if (pie_proc_read_long("/sys/bus/event_source/devices/ibs_op/type", &type) < 0)
        return -ENOTSUP;
    *ret_event = (struct perf_event_attr){.type = (uint32_t)type};
    return 0;
}

static int try_memory_event(struct pie_machine_facts *facts) {
    struct perf_event_attr event = {0};
    int r = pie_pmu_names_find(&event, facts->pmu, sizeof(facts->pmu));
    facts->has_event_names = r != -ENOSYS;
    if (r < 0)
        r = find_ibs(&event);
    if (r < 0)
        return r;
    event.sample_period = 0x10000; /* IBS counts in steps of 16 */
    event.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
    return try_event(&event);
}

void pie_machine_facts_gather_events(struct pie_machine_facts *facts) {
    struct perf_event_attr cycles = {.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES};
    facts->cycles_error = try_event(&cycles);

    facts->memory_event_error = try_memory_event(facts);

    int slots = count_slots(false, &facts->execute_breakpoint_error);
    int data_slots = count_slots(true, &facts->data_breakpoint_error);
    facts->breakpoint_slots = slots > data_slots ? slots : data_slots;
}
