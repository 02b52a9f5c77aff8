/* SPDX-License-Identifier: Apache-2.0 */

/* Sources: Intel SDM volume 3B (performance-monitoring events), the kernel's lists of events that PEBS gives a data
 * address (arch/x86/events/intel/ds.c, 5.13 to 6.18) and of models (asm/intel-family.h), AMD's PPRs for LS_DISPATCH
 * (PMCx029). tests/profiler/machine/test_pmu_encodings.c holds the table against libpfm4. */

#include "profiler/machine/pmu_encodings.h"

#include <cpuid.h>
#include <string.h>

enum { MODELS_MAX = 24, NAMES_MAX = 10 };

struct row {
    struct pie_pmu_encoding encoding;
    const char *pfm_names[NAMES_MAX];   /* NULL at the end */
    uint8_t family, models[MODELS_MAX]; /* 0 at the end; none: all models of the family */
};

enum { LOAD_LATENCY_MIN = 3 }; /* cycles, the lowest threshold there is: nearly every load */

static const struct row intel[] = {
    {{"P6, Core, Bonnell", 0, 0, 0}, {"core", "atom"}, 6, {0x01, 0x03, 0x05, 0x06, 0x07, 0x08, 0x09,
                                                           0x0a, 0x0b, 0x0d, 0x0e, 0x0f, 0x15, 0x16,
                                                           0x17, 0x1c, 0x1d, 0x26, 0x27, 0x35, 0x36}},
    {{"Nehalem, Westmere", 0x100b, 0x020b, LOAD_LATENCY_MIN},
     {"nhm", "nhm_ex", "wsm", "wsm_dp"},
     6,
     {0x1a, 0x1e, 0x1f, 0x2e, 0x25, 0x2c, 0x2f}},
    {{"Sandy Bridge, Ivy Bridge", 0x01cd, 0x02cd, LOAD_LATENCY_MIN},
     {"snb", "snb_ep", "ivb", "ivb_ep"},
     6,
     {0x2a, 0x2d, 0x3a, 0x3e}},
    {{"Haswell, Broadwell", 0x81d0, 0x82d0, 0},
     {"hsw", "hsw_ep", "bdw", "bdw_ep"},
     6,
     {0x3c, 0x3f, 0x45, 0x46, 0x3d, 0x47, 0x4f, 0x56}},
    {{"Skylake to Comet Lake", 0x81d0, 0x82d0, 0},
     {"skl", "skx", "clx"},
     6,
     {0x4e, 0x5e, 0x55, 0x8e, 0x9e, 0x66, 0xa5, 0xa6}},
    {{"Ice Lake to Rocket Lake", 0x81d0, 0x82d0, 0},
     {"icl", "icx"},
     6,
     {0x6a, 0x6c, 0x7d, 0x7e, 0x9d, 0x8c, 0x8d, 0xa7, 0x8a}},
    {{"Golden Cove and later", 0x81d0, 0x82d0, 0},
     {"spr", "emr", "gnr", "adl_glc", "adl_grt"},
     6,
     {0x8f, 0xcf, 0xad, 0xae, 0x97, 0x9a, 0xb7, 0xba, 0xbf, 0xaa, 0xac, 0xb5, 0xc5, 0xc6, 0xbd, 0xcc}},
    {{"Goldmont and later Atoms", 0x81d0, 0x82d0, 0},
     {"glm", "glp", "tmt"},
     6,
     {0x5c, 0x5f, 0x7a, 0x86, 0x96, 0x9c, 0xbe, 0xaf, 0xb6, 0xdd}},
    {{"Silvermont, Airmont", 0x4004, 0x8004, 0},
     {"slm"},
     6,
     {0x37, 0x4d, 0x4a, 0x4c, 0x5a, 0x65, 0x6e, 0x75}},
    {{"Knights Landing, Knights Mill", 0x4004, 0x8004, 0}, {"knl", "knm"}, 6, {0x57, 0x85}},
    {{"Knights Corner", 0, 0, 0}, {"knc"}, 11, {0}},
    {{"NetBurst", 0, 0, 0}, {"netburst", "netburst_p"}, 15, {0}},
    {{"P5", 0, 0, 0}, {NULL}, 5, {0}},
};

static const struct row amd[] = {
    {{"K7", 0, 0, 0}, {"amd64_k7"}, 0x06, {0}},
    {{"K8", 0, 0, 0},
     {"amd64_k8_revb", "amd64_k8_revc", "amd64_k8_revd", "amd64_k8_reve", "amd64_k8_revf", "amd64_k8_revg"},
     0x0f,
     {0}},
    {{"K10", 0, 0, 0},
     {"amd64_fam10h_barcelona", "amd64_fam10h_shanghai", "amd64_fam10h_istanbul"},
     0x10,
     {0}},
    {{"Turion", 0, 0, 0}, {"amd64_fam11h_turion"}, 0x11, {0}},
    {{"Llano", 0, 0, 0}, {"amd64_fam12h_llano"}, 0x12, {0}},
    {{"Bobcat", 0, 0, 0}, {"amd64_fam14h_bobcat"}, 0x14, {0}},
    {{"Bulldozer to Excavator", 0x0129, 0x0229, 0}, {"amd64_fam15h_interlagos"}, 0x15, {0}},
    {{"Jaguar, Puma", 0x0129, 0x0229, 0}, {"amd64_fam16h"}, 0x16, {0}},
    {{"Zen, Zen 2", 0x0129, 0x0229, 0},
     {"amd64_fam17h", "amd64_fam17h_zen1", "amd64_fam17h_zen2"},
     0x17,
     {0}},
    {{"Dhyana", 0x0129, 0x0229, 0}, {NULL}, 0x18, {0}},
    {{"Zen 3, Zen 4", 0x0129, 0x0229, 0}, {"amd64_fam19h_zen3", "amd64_fam19h_zen4"}, 0x19, {0}},
    {{"Zen 5 and later", 0x0129, 0x0229, 0}, {"amd64_fam1ah_zen5"}, 0x1a, {0}},
};

enum { INTEL_ROWS = sizeof intel / sizeof *intel, AMD_ROWS = sizeof amd / sizeof *amd };

static const struct pie_pmu_encoding later_intel = {"later Intel", 0x81d0, 0x82d0, 0};
static const struct pie_pmu_encoding later_amd = {"later AMD", 0x0129, 0x0229, 0};

static bool is_of(const struct row *row, const struct pie_pmu_cpu *cpu) {
    if (row->family != cpu->family)
        return false;
    if (!row->models[0])
        return true;
    for (size_t i = 0; i < MODELS_MAX && row->models[i]; i++)
        if (row->models[i] == cpu->model)
            return true;
    return false;
}

static const struct row *find_row(const struct pie_pmu_cpu *cpu) {
    const struct row *rows = cpu->vendor == PIE_PMU_INTEL ? intel : amd;
    size_t count = cpu->vendor == PIE_PMU_INTEL ? INTEL_ROWS : AMD_ROWS;

    if (cpu->vendor == PIE_PMU_OTHER)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (is_of(&rows[i], cpu))
            return &rows[i];
    return NULL;
}

bool pie_pmu_encoding_is_known(const struct pie_pmu_cpu *cpu) {
    return find_row(cpu);
}

const struct pie_pmu_encoding *pie_pmu_encoding_of(const struct pie_pmu_cpu *cpu) {
    const struct row *row = find_row(cpu);

    if (row)
        return row->encoding.loads ? &row->encoding : NULL;
    if (cpu->vendor == PIE_PMU_OTHER)
        return NULL;
    return cpu->vendor == PIE_PMU_INTEL ? &later_intel : &later_amd;
}

static const struct pie_pmu_encoding *find_name(const struct row *rows, size_t count, const char *pfm_name) {
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < NAMES_MAX && rows[i].pfm_names[j]; j++)
            if (strcmp(rows[i].pfm_names[j], pfm_name) == 0)
                return &rows[i].encoding;
    return NULL;
}

const struct pie_pmu_encoding *pie_pmu_encoding_named(const char *pfm_name) {
    const struct pie_pmu_encoding *encoding = find_name(intel, INTEL_ROWS, pfm_name);

    return encoding ? encoding : find_name(amd, AMD_ROWS, pfm_name);
}

static enum pie_pmu_vendor vendor_of(const char name[12]) {
    if (memcmp(name, "GenuineIntel", 12) == 0)
        return PIE_PMU_INTEL;
    if (memcmp(name, "AuthenticAMD", 12) == 0 || memcmp(name, "HygonGenuine", 12) == 0)
        return PIE_PMU_AMD;
    return PIE_PMU_OTHER;
}

void pie_pmu_cpu_identify(struct pie_pmu_cpu *ret_cpu) {
    unsigned eax, ebx, ecx, edx;
    char name[12];

    *ret_cpu = (struct pie_pmu_cpu){0};
    if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx))
        return;
    memcpy(name, &ebx, 4);
    memcpy(name + 4, &edx, 4);
    memcpy(name + 8, &ecx, 4);
    ret_cpu->vendor = vendor_of(name);
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
        return;
    ret_cpu->is_virtual = ecx & (1u << 31);
    ret_cpu->family = eax >> 8 & 0xf;
    ret_cpu->model = eax >> 4 & 0xf;
    if (ret_cpu->family == 6 || ret_cpu->family == 15)
        ret_cpu->model |= eax >> 12 & 0xf0;
    if (ret_cpu->family == 15)
        ret_cpu->family += eax >> 20 & 0xff;
}
