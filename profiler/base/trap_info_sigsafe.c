/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/base/trap_info.h"

#include <string.h>

enum { CODE_HARDWARE = 4, CODE_PERF = 6, DATA_OFFSET = 24, FLAGS_OFFSET = 36, FLAG_ASYNC = 1 };

bool pie_trap_is_perf(const siginfo_t *info) {
    return info->si_signo == SIGTRAP && info->si_code == CODE_PERF;
}

bool pie_trap_is_hardware(const siginfo_t *info) {
    return info->si_signo == SIGTRAP && info->si_code == CODE_HARDWARE;
}

uint64_t pie_trap_data(const siginfo_t *info) {
    uint64_t data;

    memcpy(&data, (const char *)info + DATA_OFFSET, sizeof data);
    return data;
}

bool pie_trap_is_late(const siginfo_t *info) {
    uint32_t flags;

    memcpy(&flags, (const char *)info + FLAGS_OFFSET, sizeof flags);
    return flags & FLAG_ASYNC;
}
