/* SPDX-License-Identifier: Apache-2.0 */

/* The kernel lists its devices in sysfs; without that, or without a device for counters, there is no PMU.
 *
 * libpfm4 is asked only for processors that the table does not name. For the others both say the same, which
 * tests/profiler/machine/test_pmu_encodings.c checks. Loading the library would cost every process 3 ms at its start,
 * and 30 to 120 ms where it can read the kernel's tracepoints, which it lists first. */

#include "profiler/machine/pmu_events.h"

#include "profiler/base/proc_file.h"

#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define DEVICES "/sys/bus/event_source/devices/"

static bool find_type(const char *device, uint32_t *ret_type) {
    char path[96];
    long type;

    snprintf(path, sizeof path, DEVICES "%s/type", device);
    if (pie_proc_read_long(path, &type) < 0 || type < 0)
        return false;
    *ret_type = (uint32_t)type;
    return true;
}

static void find_devices(struct pie_pmu_machine *machine) {
    static const char *const hybrid[] = {"cpu_core", "cpu_atom", "cpu_lowpower"};

    if (find_type("cpu", &machine->types[0])) {
        machine->devices = 1;
        return;
    }
    for (size_t i = 0; i < PIE_PMU_DEVICES_MAX; i++)
        machine->devices += find_type(hybrid[i], &machine->types[machine->devices]);
}

void pie_pmu_machine_find(struct pie_pmu_machine *ret_machine) {
    struct pie_pmu_machine machine = {0};
    struct utsname name;

    pie_pmu_cpu_identify(&machine.cpu);
    if (uname(&name) < 0 || sscanf(name.release, "%d.%d", &machine.kernel_major, &machine.kernel_minor) != 2)
        machine.kernel_major = machine.kernel_minor = 0;
    find_devices(&machine);
    machine.has_ibs = find_type("ibs_op", &machine.ibs_type);
    machine.ibs_counts_ops = access(DEVICES "ibs_op/format/cnt_ctl", F_OK) == 0;
    if (machine.devices == 1 && !pie_pmu_encoding_is_known(&machine.cpu) &&
        pie_pmu_names_find(&machine.names) < 0)
        machine.names = (struct pie_pmu_names){0};
    *ret_machine = machine;
}

static int try_event(const struct perf_event_attr *attr, void *context) {
    int fd = (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return -errno;
    close(fd);
    return 0;
}

/* Stay as they are in a forked child: it runs on the same machine, and must not load libraries. */
static struct pie_pmu_machine here;
static struct pie_pmu_events chosen;
static bool is_chosen;

const struct pie_pmu_events *pie_pmu_events_here(const struct pie_pmu_machine **ret_machine) {
    if (!is_chosen) {
        pie_pmu_machine_find(&here);
        pie_pmu_events_choose(&here, try_event, NULL, &chosen);
        is_chosen = true;
    }
    *ret_machine = &here;
    return &chosen;
}
