/* SPDX-License-Identifier: Apache-2.0 */

/* The choice of events on machines that are made up: a kernel that takes some attributes and refuses the rest. */

#include "profiler/code/access.h"
#include "profiler/machine/pmu_events.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { CPU = PERF_TYPE_RAW, CORE = PERF_TYPE_RAW, ATOM = 10, LOWPOWER = 11, IBS = 12 };

/* What the fake kernel allows. */
struct kernel {
    int precise_max;           /* of events that PEBS knows */
    int error;                 /* all events fail with it */
    uint64_t imprecise_config; /* an event without PEBS; 0: none */
    uint64_t absent_config;    /* an event that the hypervisor hides; 0: none */
    bool has_ibs, filters_ibs, privileged;
    unsigned trials;
};

/* What holds for every attribute that is tried, and so for every one that is opened. */
static void check(const struct perf_event_attr *attr) {
    assert_int_equal(attr->size, sizeof *attr);
    assert_true(attr->sigtrap && attr->remove_on_exec && attr->disabled);
    assert_int_equal(attr->wakeup_events, 1);
    assert_int_equal(attr->watermark, 0);
    assert_int_equal(attr->freq, 0);
    assert_int_equal(attr->inherit, 0);
    assert_int_equal(attr->sample_type, PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC);
    assert_true(attr->sample_period > 0);
    assert_int_equal(attr->exclude_hv, attr->exclude_kernel);
}

/* arch/x86/events/amd/ibs.c: perf_ibs_init() */
static int try_ibs(const struct kernel *kernel, const struct perf_event_attr *attr) {
    if (!kernel->has_ibs)
        return -ENOENT;
    if (attr->config & ~(UINT64_C(1) << 19) || attr->sample_period & 0xf)
        return -EINVAL;
    if (attr->exclude_kernel && !(kernel->filters_ibs && attr->config2 & 1))
        return -EINVAL;
    if (attr->config2 && !kernel->filters_ibs)
        return -EINVAL;
    return attr->exclude_kernel || kernel->privileged ? 0 : -EACCES;
}

static int fake_try(const struct perf_event_attr *attr, void *context) {
    struct kernel *kernel = context;

    kernel->trials++;
    check(attr);
    if (kernel->error)
        return kernel->error;
    if (attr->type == IBS)
        return try_ibs(kernel, attr);
    assert_true(attr->exclude_kernel);
    if (attr->config == kernel->absent_config)
        return -ENOENT;
    int limit = attr->config == kernel->imprecise_config ? 0 : kernel->precise_max;
    return (int)attr->precise_ip <= limit ? 0 : -EOPNOTSUPP;
}

static struct pie_pmu_machine machine_of(enum pie_pmu_vendor vendor, unsigned family, unsigned model) {
    return (struct pie_pmu_machine){.cpu = {.vendor = vendor, .family = family, .model = model},
                                    .types = {CPU},
                                    .devices = 1,
                                    .kernel_major = 6,
                                    .kernel_minor = 12};
}

static struct pie_pmu_events choose(const struct pie_pmu_machine *machine, struct kernel *kernel) {
    struct pie_pmu_events events;
    memset(&events, 0xa5, sizeof events);
    pie_pmu_events_choose(machine, fake_try, kernel, &events);
    assert_true(events.count <= PIE_PMU_EVENTS_MAX);
    if (events.loads == PIE_PMU_PRECISE && events.stores == PIE_PMU_PRECISE)
        assert_int_equal(events.error, 0);
    else
        assert_true(events.error < 0);
    return events;
}

static void assert_event(const struct pie_pmu_event *event, uint32_t type, uint64_t config, uint8_t kind,
                         uint8_t precise) {
    assert_int_equal(event->type, type);
    assert_int_equal(event->config, config);
    assert_int_equal(event->kind, kind);
    assert_int_equal(event->precise_ip, precise);
    assert_int_equal(event->is_precise, precise > 0);
    assert_false(event->includes_kernel);
}

static void test_intel(void **state) {
    struct pie_pmu_machine machine = machine_of(PIE_PMU_INTEL, 6, 0x55);
    for (int precise = 1; precise <= 3; precise++) {
        struct kernel kernel = {.precise_max = precise};
        struct pie_pmu_events events = choose(&machine, &kernel);
        assert_int_equal(events.count, 2);
        assert_event(&events.events[0], CPU, 0x81d0, PIE_ACCESS_LOAD, (uint8_t)precise);
        assert_event(&events.events[1], CPU, 0x82d0, PIE_ACCESS_STORE, (uint8_t)precise);
        assert_int_equal(events.loads, PIE_PMU_PRECISE);
        assert_int_equal(events.stores, PIE_PMU_PRECISE);
        assert_false(events.events[0].is_thinned);
    }
}

static void test_virtual_pmu_without_pebs(void **state) {
    struct pie_pmu_machine machine = machine_of(PIE_PMU_INTEL, 6, 0x8f);
    struct kernel kernel = {.precise_max = 0};
    struct pie_pmu_events events = choose(&machine, &kernel);
    assert_int_equal(events.count, 2);
    assert_event(&events.events[0], CPU, 0x81d0, PIE_ACCESS_LOAD, 0);
    assert_event(&events.events[1], CPU, 0x82d0, PIE_ACCESS_STORE, 0);
    assert_int_equal(events.loads, PIE_PMU_IMPRECISE);
    assert_int_equal(events.stores, PIE_PMU_IMPRECISE);
    assert_int_equal(events.error, -EOPNOTSUPP);
}

static void test_hybrid_opens_each_kind_of_core(void **state) {
    struct pie_pmu_machine machine = machine_of(PIE_PMU_INTEL, 6, 0xc5);
    struct kernel kernel = {.precise_max = 3};
    machine.types[1] = ATOM;
    machine.types[2] = LOWPOWER;
    machine.devices = 3;
    machine.names = (struct pie_pmu_names){.has_events = true, .loads.config = 1, .stores.config = 2};
    struct pie_pmu_events events = choose(&machine, &kernel);
    assert_int_equal(events.count, 6);
    static const uint32_t types[] = {CORE, ATOM, LOWPOWER};
    for (int i = 0; i < 3; i++) {
        assert_event(&events.events[i], types[i], 0x81d0, PIE_ACCESS_LOAD, 3);
        assert_event(&events.events[3 + i], types[i], 0x82d0, PIE_ACCESS_STORE, 3);
    }
}

/* The level is what all cores can do: a program moves between them. */
static void test_hybrid_is_as_good_as_its_worst_core(void **state) {
    struct pie_pmu_machine machine = machine_of(PIE_PMU_INTEL, 6, 0x97);
    struct kernel kernel = {.precise_max = 3, .imprecise_config = 0x82d0};
    machine.types[1] = ATOM;
    machine.devices = 2;
    struct pie_pmu_events events = choose(&machine, &kernel);
    assert_int_equal(events.count, 4);
    assert_int_equal(events.loads, PIE_PMU_PRECISE);
    assert_int_equal(events.stores, PIE_PMU_IMPRECISE);
}

static void test_names_come_first(void **state) {
    struct pie_pmu_machine machine = machine_of(PIE_PMU_INTEL, 6, 0x3c);
    struct kernel kernel = {.precise_max = 2};
    machine.names = (struct pie_pmu_names){
        .has_events = true, .loads = {.config = 0x1cd, .config1 = 3}, .stores = {.config = 0x777}};
    struct pie_pmu_events events = choose(&machine, &kernel);
    assert_event(&events.events[0], CPU, 0x1cd, PIE_ACCESS_LOAD, 2);
    assert_int_equal(events.events[0].config1, 3);
    assert_true(events.events[0].is_thinned);
    assert_event(&events.events[1], CPU, 0x777, PIE_ACCESS_STORE, 2);
    /* … unless the raw event can do more, or the names are of no use here. */
    kernel.imprecise_config = 0x777;
    kernel.absent_config = 0x1cd;
    events = choose(&machine, &kernel);
    assert_event(&events.events[0], CPU, 0x81d0, PIE_ACCESS_LOAD, 2);
    assert_int_equal(events.events[0].config1, 0);
    assert_false(events.events[0].is_thinned);
    assert_event(&events.events[1], CPU, 0x82d0, PIE_ACCESS_STORE, 2);
    /* Equally good: the name. */
    kernel = (struct kernel){.precise_max = 0};
    events = choose(&machine, &kernel);
    assert_event(&events.events[0], CPU, 0x1cd, PIE_ACCESS_LOAD, 0);
}

static void test_names_alone(void **state) {
    struct pie_pmu_machine machine = machine_of(PIE_PMU_OTHER, 6, 1);
    struct kernel kernel = {.precise_max = 1};
    struct pie_pmu_events events = choose(&machine, &kernel);
    assert_int_equal(events.count, 0);
    assert_int_equal(events.error, -ENOTSUP);
    assert_int_equal(kernel.trials, 0);
    machine.names = (struct pie_pmu_names){.has_events = true, .loads.config = 0x11, .stores.config = 0x12};
    events = choose(&machine, &kernel);
    assert_int_equal(events.count, 2);
    assert_event(&events.events[1], CPU, 0x12, PIE_ACCESS_STORE, 1);
}

static void test_old_intel(void **state) {
    struct pie_pmu_machine machine = machine_of(PIE_PMU_INTEL, 6, 0x2d);
    struct kernel kernel = {.precise_max = 2};
    struct pie_pmu_events events = choose(&machine, &kernel);
    assert_event(&events.events[0], CPU, 0x01cd, PIE_ACCESS_LOAD, 2);
    assert_int_equal(events.events[0].config1, 3);
    assert_true(events.events[0].is_thinned);
    assert_event(&events.events[1], CPU, 0x02cd, PIE_ACCESS_STORE, 2);
    assert_int_equal(events.events[1].config1, 0);
    kernel.absent_config = 0x02cd;
    events = choose(&machine, &kernel);
    assert_int_equal(events.count, 1);
    assert_int_equal(events.loads, PIE_PMU_PRECISE);
    assert_int_equal(events.stores, PIE_PMU_NOTHING);
    assert_int_equal(events.error, -ENOENT);
}

static void test_ibs(void **state) {
    struct pie_pmu_machine machine = machine_of(PIE_PMU_AMD, 0x19, 1);
    struct kernel kernel = {.precise_max = 0, .has_ibs = true, .filters_ibs = true};
    machine.has_ibs = machine.ibs_counts_ops = true;
    machine.ibs_type = IBS;
    struct pie_pmu_events events = choose(&machine, &kernel);
    assert_int_equal(events.count, 1);
    assert_int_equal(events.events[0].type, IBS);
    assert_int_equal(events.events[0].config, UINT64_C(1) << 19);
    assert_int_equal(events.events[0].config2, 1);
    assert_int_equal(events.events[0].kind, PIE_ACCESS_LOAD | PIE_ACCESS_STORE);
    assert_true(events.events[0].is_precise);
    assert_false(events.events[0].includes_kernel);
    assert_int_equal(events.stores, PIE_PMU_PRECISE);
}

static void test_ibs_that_cannot_leave_the_kernel_out(void **state) {
    struct pie_pmu_machine machine = machine_of(PIE_PMU_AMD, 0x17, 1);
    struct kernel kernel = {.precise_max = 0, .has_ibs = true, .privileged = true};
    machine.has_ibs = true;
    machine.ibs_type = IBS;
    struct pie_pmu_events events = choose(&machine, &kernel);
    assert_int_equal(events.count, 1);
    assert_int_equal(events.events[0].type, IBS);
    assert_int_equal(events.events[0].config, 0);
    assert_int_equal(events.events[0].config2, 0);
    assert_true(events.events[0].includes_kernel);
    assert_int_equal(events.loads, PIE_PMU_PRECISE);
    /* It would end system calls with EINTR there. */
    machine.kernel_minor = 10;
    events = choose(&machine, &kernel);
    assert_int_equal(events.count, 2);
    assert_event(&events.events[0], CPU, 0x0129, PIE_ACCESS_LOAD, 0);
    assert_event(&events.events[1], CPU, 0x0229, PIE_ACCESS_STORE, 0);
    /* Without leave to sample the kernel. */
    machine.kernel_minor = 12;
    kernel.privileged = false;
    events = choose(&machine, &kernel);
    assert_int_equal(events.events[0].type, CPU);
    machine.devices = 0;
    events = choose(&machine, &kernel);
    assert_int_equal(events.count, 0);
    assert_int_equal(events.error, -EACCES);
}

static void test_nothing(void **state) {
    static const int errors[] = {-EACCES, -EPERM, -ENOSYS, -ENOENT, -EINVAL, -EMFILE};
    struct pie_pmu_machine machine = machine_of(PIE_PMU_INTEL, 6, 0x55);
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        struct kernel kernel = {.error = errors[i]};
        struct pie_pmu_events events = choose(&machine, &kernel);
        assert_int_equal(events.count, 0);
        assert_int_equal(events.loads, PIE_PMU_NOTHING);
        assert_int_equal(events.stores, PIE_PMU_NOTHING);
        assert_int_equal(events.error, errors[i]);
    }
    struct kernel kernel = {.precise_max = 3};
    machine.devices = 0;
    struct pie_pmu_events events = choose(&machine, &kernel);
    assert_int_equal(events.count, 0);
    assert_int_equal(events.error, -ENOENT);
    assert_int_equal(kernel.trials, 0);
}

static void test_periods_that_events_take(void **state) {
    struct pie_pmu_event counter = {.kind = PIE_ACCESS_LOAD};
    struct pie_pmu_event ibs = {.kind = PIE_ACCESS_LOAD | PIE_ACCESS_STORE};
    static const uint64_t periods[] = {1, 15, 16, 17, 1000, 1000000, UINT64_C(1) << 40};
    for (size_t i = 0; i < sizeof periods / sizeof *periods; i++) {
        struct perf_event_attr attr;
        pie_pmu_event_prepare(&counter, periods[i], 7, &attr);
        assert_int_equal(attr.sample_period % 2, 1);
        assert_in_range(attr.sample_period, periods[i], periods[i] + 1);
        assert_int_equal(attr.sig_data, 7);
        pie_pmu_event_prepare(&ibs, periods[i], 7, &attr);
        assert_int_equal(attr.sample_period % 16, 0);
        assert_true(attr.sample_period >= 16 && attr.sample_period <= periods[i] + 15);
    }
}

/* Whatever this machine has, the choice is made once and holds. */
static void test_this_machine(void **state) {
    const struct pie_pmu_machine *machine;
    const struct pie_pmu_events *events = pie_pmu_events_here(&machine);
    print_message("# %zu devices, IBS: %d; %zu events, loads %d, stores %d, error %d\n", machine->devices,
                  machine->has_ibs, events->count, (int)events->loads, (int)events->stores, events->error);
    assert_ptr_equal(pie_pmu_events_here(&machine), events);
    if (!machine->devices && !machine->has_ibs) {
        assert_int_equal(events->count, 0);
        assert_false(machine->names.has_events);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intel),
        cmocka_unit_test(test_virtual_pmu_without_pebs),
        cmocka_unit_test(test_hybrid_opens_each_kind_of_core),
        cmocka_unit_test(test_hybrid_is_as_good_as_its_worst_core),
        cmocka_unit_test(test_names_come_first),
        cmocka_unit_test(test_names_alone),
        cmocka_unit_test(test_old_intel),
        cmocka_unit_test(test_ibs),
        cmocka_unit_test(test_ibs_that_cannot_leave_the_kernel_out),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_periods_that_events_take),
        cmocka_unit_test(test_this_machine),
    };
    return cmocka_run_group_tests_name("pmu_events", tests, NULL, NULL);
}
