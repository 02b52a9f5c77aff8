/* SPDX-License-Identifier: Apache-2.0 */

/* Built where libpfm4 is missing. */

#include "profiler/machine/pmu_names.h"

#include <errno.h>

int pie_pmu_names_find(struct pie_pmu_names *ret_names) {
    return -ENOSYS;
}

int pie_pmu_names_encode(const char *pmu, struct pie_pmu_names *ret_names) {
    return -ENOSYS;
}
