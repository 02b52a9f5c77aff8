/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "launcher/python/python.h"
#include "profiler/doctor/probe.h"

struct pie_machine_facts;

/* What a program without a Python says of the one that its next run takes. */
struct pie_doctor_python {
    char found[PIE_PYTHON_WHY_BYTES], abi[PIE_PYTHON_ABI_BYTES];
    struct pie_own_python own;
};

/* Chooses it as a run in this folder would. Adds to the facts whether its functions have names, and to the build facts
 * which it is; these borrow from ret_python. Context: cli. */
void pie_doctor_python_find(struct pie_doctor_python *ret_python, struct pie_machine_facts *facts,
                            struct pie_build_facts *build);
