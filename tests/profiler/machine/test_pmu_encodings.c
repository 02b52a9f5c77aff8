/* SPDX-License-Identifier: Apache-2.0 */

/* The raw table of events against libpfm4's, for every processor that libpfm4 knows, and against this machine's. Only
 * built where libpfm4 is. */

#include "profiler/machine/pmu_encodings.h"
#include "profiler/machine/pmu_names.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>

#include <cmocka.h>

#include "tests/skip.h"

/* What the events' names stand for on processors that the table does not name yet. */
static const struct pie_pmu_encoding *later(const char *pfm_name) {
    bool is_amd = strncmp(pfm_name, "amd64", 5) == 0;
    return pie_pmu_encoding_of(&(struct pie_pmu_cpu){
        .vendor = is_amd ? PIE_PMU_AMD : PIE_PMU_INTEL, .family = is_amd ? 0x1f : 0x13, .model = 1});
}

static void assert_same(const char *name, const char *what, uint64_t ours, uint64_t theirs) {
    if (ours != theirs)
        fail_msg("%s, %s: %#llx in the table, %#llx in libpfm4", name, what, (unsigned long long)ours,
                 (unsigned long long)theirs);
}

/* One PMU of libpfm4's. Returns whether there was something to compare. */
static bool compare(const char *name) {
    const struct pie_pmu_encoding *raw = pie_pmu_encoding_named(name);
    struct pie_pmu_names names = {0};

    int r = pie_pmu_names_encode(name, &names);
    if (r == -ENOTSUP) {
        if (raw && raw->loads)
            fail_msg("%s: in the table, and libpfm4 has no events for it", name);
        return false;
    }
    assert_int_equal(r, 0);
    if (!raw) {
        print_message("# %s is not in the table: held against what later processors get\n", name);
        raw = later(name);
    }
    assert_same(name, "loads", raw->loads, names.loads.config);
    assert_same(name, "stores", raw->stores, names.stores.config);
    assert_same(name, "latency of loads", raw->loads_config1, names.loads.config1);
    assert_int_equal(names.loads.type, PERF_TYPE_RAW);
    assert_int_equal(names.stores.type, PERF_TYPE_RAW);
    return true;
}

enum { PROCESSORS_MAX = 512, NAME_BYTES = 64 };

/* All that libpfm4 knows. Asking for encodings starts and ends the library, so they are gathered first. */
static unsigned list_processors(char names[][NAME_BYTES]) {
    unsigned count = 0;

    assert_int_equal(pfm_initialize(), PFM_SUCCESS);
    for (int i = PFM_PMU_NONE; i < PFM_PMU_MAX && count < PROCESSORS_MAX; i++) {
        pfm_pmu_info_t info = {.size = sizeof info};
        if (pfm_get_pmu_info((pfm_pmu_t)i, &info) == PFM_SUCCESS && info.type == PFM_PMU_TYPE_CORE)
            snprintf(names[count++], NAME_BYTES, "%s", info.name);
    }
    pfm_terminate();
    return count;
}

static void test_every_processor(void **state) {
    static char names[PROCESSORS_MAX][NAME_BYTES];
    unsigned known = list_processors(names), compared = 0;

    for (unsigned i = 0; i < known; i++)
        compared += compare(names[i]);
    print_message("# %u processors, %u with events for loads and stores\n", known, compared);
    assert_true(known >= 45);
    assert_true(compared >= 28);
}

/* Where libpfm4 is wrong, and why we know. These names are not used. */
static const struct {
    const char *event;
    uint64_t theirs, right;
    const char *reason;
} wrong[] = {
    {"spr::MEM_TRANS_RETIRED:STORE_SAMPLE", 0x03cd, 0x02cd,
     "4.13 gives the event the code 0x1cd, with the mask of LOAD_LATENCY in it"},
};

static void test_known_errors(void **state) {
    assert_int_equal(pfm_initialize(), PFM_SUCCESS);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct perf_event_attr attr = {.size = sizeof attr};
        pfm_perf_encode_arg_t argument = {.attr = &attr, .size = sizeof argument};
        if (pfm_get_os_event_encoding(wrong[i].event, PFM_PLM3, PFM_OS_PERF_EVENT, &argument) != PFM_SUCCESS)
            fail_msg("%s is not known", wrong[i].event);
        if (attr.config != wrong[i].right)
            assert_same(wrong[i].event, wrong[i].reason, wrong[i].theirs, attr.config);
        else
            print_message("# %s is mended in this libpfm4\n", wrong[i].event);
    }
    pfm_terminate();
}

/* Names that stand for nothing, or for a PMU without these events. */
static void test_unknown_names(void **state) {
    struct pie_pmu_names names = {.pmu = "untouched"};
    assert_int_equal(pie_pmu_names_encode("abacus", &names), -ENOTSUP);
    assert_int_equal(pie_pmu_names_encode("amd64_k8_revb", &names), -ENOTSUP);
    assert_string_equal(names.pmu, "untouched");
    assert_null(pie_pmu_encoding_named("abacus"));
    assert_null(pie_pmu_encoding_named(""));
}

static void test_processors(void **state) {
    static const struct {
        struct pie_pmu_cpu cpu;
        uint64_t loads, stores, latency;
    } table[] = {
        {{PIE_PMU_INTEL, 6, 0x0f, false}, 0, 0, 0},           /* Core 2 */
        {{PIE_PMU_INTEL, 6, 0x1c, false}, 0, 0, 0},           /* Bonnell */
        {{PIE_PMU_INTEL, 6, 0x1a, false}, 0x100b, 0x020b, 3}, /* Nehalem */
        {{PIE_PMU_INTEL, 6, 0x2d, false}, 0x01cd, 0x02cd, 3}, /* Sandy Bridge */
        {{PIE_PMU_INTEL, 6, 0x3a, false}, 0x01cd, 0x02cd, 3}, /* Ivy Bridge */
        {{PIE_PMU_INTEL, 6, 0x3c, false}, 0x81d0, 0x82d0, 0}, /* Haswell */
        {{PIE_PMU_INTEL, 6, 0x4f, false}, 0x81d0, 0x82d0, 0}, /* Broadwell */
        {{PIE_PMU_INTEL, 6, 0x55, false}, 0x81d0, 0x82d0, 0}, /* Skylake-X, Cascade Lake */
        {{PIE_PMU_INTEL, 6, 0x6a, false}, 0x81d0, 0x82d0, 0}, /* Ice Lake-X */
        {{PIE_PMU_INTEL, 6, 0x8f, false}, 0x81d0, 0x82d0, 0}, /* Sapphire Rapids */
        {{PIE_PMU_INTEL, 6, 0xad, false}, 0x81d0, 0x82d0, 0}, /* Granite Rapids */
        {{PIE_PMU_INTEL, 6, 0x97, false}, 0x81d0, 0x82d0, 0}, /* Alder Lake, both kinds of core */
        {{PIE_PMU_INTEL, 6, 0x5c, false}, 0x81d0, 0x82d0, 0}, /* Goldmont */
        {{PIE_PMU_INTEL, 6, 0xaf, false}, 0x81d0, 0x82d0, 0}, /* Crestmont */
        {{PIE_PMU_INTEL, 6, 0x37, false}, 0x4004, 0x8004, 0}, /* Silvermont */
        {{PIE_PMU_INTEL, 6, 0x57, false}, 0x4004, 0x8004, 0}, /* Knights Landing */
        {{PIE_PMU_INTEL, 6, 0xf0, false}, 0x81d0, 0x82d0, 0}, /* to come */
        {{PIE_PMU_INTEL, 18, 1, false}, 0x81d0, 0x82d0, 0},   /* to come */
        {{PIE_PMU_INTEL, 15, 4, false}, 0, 0, 0},             /* NetBurst */
        {{PIE_PMU_AMD, 0x10, 2, false}, 0, 0, 0},             /* K10 */
        {{PIE_PMU_AMD, 0x17, 0x31, false}, 0x0129, 0x0229, 0},
        {{PIE_PMU_AMD, 0x18, 1, false}, 0x0129, 0x0229, 0}, /* Hygon */
        {{PIE_PMU_AMD, 0x1a, 2, false}, 0x0129, 0x0229, 0},
        {{PIE_PMU_AMD, 0x1b, 2, false}, 0x0129, 0x0229, 0},
        {{PIE_PMU_OTHER, 6, 0x3c, false}, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct pie_pmu_encoding *encoding = pie_pmu_encoding_of(&table[i].cpu);
        assert_int_equal(encoding ? encoding->loads : 0, table[i].loads);
        assert_int_equal(encoding ? encoding->stores : 0, table[i].stores);
        assert_int_equal(encoding ? encoding->loads_config1 : 0, table[i].latency);
    }
}

/* For whom libpfm4 is asked. */
static void test_known_processors(void **state) {
    static const struct pie_pmu_cpu known[] = {{PIE_PMU_INTEL, 6, 0x0f, false},
                                               {PIE_PMU_INTEL, 6, 0xdd, true},
                                               {PIE_PMU_INTEL, 15, 4, false},
                                               {PIE_PMU_AMD, 0x0f, 5, false},
                                               {PIE_PMU_AMD, 0x1a, 0xff, false}};
    static const struct pie_pmu_cpu unknown[] = {{PIE_PMU_INTEL, 6, 0xf0, false},
                                                 {PIE_PMU_INTEL, 18, 1, false},
                                                 {PIE_PMU_AMD, 0x1b, 1, false},
                                                 {PIE_PMU_OTHER, 6, 0x3c, false}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_true(pie_pmu_encoding_is_known(&known[i]));
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        assert_false(pie_pmu_encoding_is_known(&unknown[i]));
}

/* CPUID as the kernel reads it. */
static void test_this_processor(void **state) {
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256], vendor[64] = "";
    unsigned family = 0, model = 0;
    bool is_virtual = false;

    if (!file)
        skip_because("no /proc/cpuinfo here");
    while (fgets(line, sizeof line, file)) {
        (void)(sscanf(line, "vendor_id : %63s", vendor) == 1 ||
               sscanf(line, "cpu family : %u", &family) == 1 || sscanf(line, "model : %u", &model) == 1);
        if (strncmp(line, "flags", 5) == 0 || strlen(line) == sizeof line - 1)
            is_virtual = is_virtual || strstr(line, " hypervisor");
        if (line[0] == '\n')
            break;
    }
    fclose(file);
    struct pie_pmu_cpu cpu;
    memset(&cpu, 0xa5, sizeof cpu);
    pie_pmu_cpu_identify(&cpu);
    assert_int_equal(cpu.family, family);
    assert_int_equal(cpu.model, model);
    if (is_virtual)
        assert_true(cpu.is_virtual);
    bool is_amd = strcmp(vendor, "AuthenticAMD") == 0 || strcmp(vendor, "HygonGenuine") == 0;
    assert_int_equal(cpu.vendor, is_amd                                ? PIE_PMU_AMD
                                 : strcmp(vendor, "GenuineIntel") == 0 ? PIE_PMU_INTEL
                                                                       : PIE_PMU_OTHER);
}

static int set_up(void **state) {
    return setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_processor),  cmocka_unit_test(test_known_errors),
        cmocka_unit_test(test_unknown_names),    cmocka_unit_test(test_processors),
        cmocka_unit_test(test_known_processors), cmocka_unit_test(test_this_processor),
    };
    return cmocka_run_group_tests_name("pmu_encodings", tests, set_up, NULL);
}
