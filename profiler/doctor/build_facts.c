/* SPDX-License-Identifier: Apache-2.0 */

#include "profiler/doctor/probe.h"

const struct pie_build_facts *pie_build_facts(void) {
    static const struct pie_build_facts facts = {
        .python_version = PIEPROF_PYTHON_VERSION,
        .libpython = PIEPROF_LIBPYTHON,
    };
    return &facts;
}
