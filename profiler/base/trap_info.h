/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* The contents of siginfo for a perf event's SIGTRAP. glibc 2.36 lacks these fields; the kernel's layout on 64-bit
 * machines (asm-generic/siginfo.h): si_addr at 16, si_perf_data at 24, si_perf_type at 32, si_perf_flags at 36.
 * Context: signal. */

/* Is it one, TRAP_PERF? Data and lateness are only defined for these. */
bool pie_trap_is_perf(const siginfo_t *info);
/* Is it that of a debug register that ptrace has set, TRAP_HWBKPT? It only shows where the thread is. */
bool pie_trap_is_hardware(const siginfo_t *info);
/* The event's attr.sig_data. */
uint64_t pie_trap_data(const siginfo_t *info);
/* SIGTRAP was blocked: the signal comes some time after the event (TRAP_PERF_FLAG_ASYNC, Linux 6.1). */
bool pie_trap_is_late(const siginfo_t *info);
