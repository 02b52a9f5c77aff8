/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The debug registers of the calling thread, set by ptrace(2): no perf event and no descriptor is needed. A process of
 * its own does it, since a thread may not trace another one of its process; it shares our memory, lives for some 15 us
 * and is gone when the call returns. */

enum { PIE_PTRACE_REGISTERS = 4, PIE_PTRACE_EXECUTE = 0, PIE_PTRACE_STORE = 1, PIE_PTRACE_LOAD_STORE = 3 };

struct pie_ptrace_request {
    uint64_t address[PIE_PTRACE_REGISTERS];
    uint64_t control; /* DR7; in: wanted, out: what stands now, PIE_PTRACE_UNKNOWN if nobody can say */
    uint64_t status;  /* out: DR6 as of the thread's last trap: its low bits say which registers fired */
    bool drops_fired; /* in: registers for data that fired are not wanted any more */
};
#define PIE_PTRACE_UNKNOWN UINT64_MAX

/* The bits of one register in DR7; type: one of the enum above; length: 1, 2, 4, 8. Context: signal. */
uint64_t pie_ptrace_control(unsigned index, unsigned type, unsigned length);
/* All bits of one register. Context: signal. */
uint64_t pie_ptrace_control_mask(unsigned index);

/* Sets the registers of the calling thread. Returns 0 or -errno: -EPERM it may not be traced (a debugger is attached,
 * yama's ptrace_scope, PR_SET_DUMPABLE, seccomp), -EINVAL an address that cannot be watched, -EBUSY no process is to be
 * had. While it runs the thread takes no signals but SIGTRAP and those of faults. Context: signal. */
int pie_ptrace_set(struct pie_ptrace_request *request);

/* Tries it without leaving a register armed, and learns whether yama wants to be told of each tracer. Returns 0 or
 * -errno as above; -ENOTSUP: children of this process would live in another PID namespace. Context: drain, cli. */
int pie_ptrace_try(void);

/* Each helper is registered with yama before it begins. For pie_ptrace_try(). Context: drain, cli. */
void pie_ptrace_announce(bool announces);
