/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/sink.h"

#include <stdbool.h>
#include <stdint.h>

/* What a thread that is asleep waits for, by its system call. */

enum {
    PIE_WAIT_CALL_ARGUMENTS = 6,
    PIE_WAIT_RESOURCE_BYTES = 256, /* longer ones keep their end */
};

/* As /proc/self/task/TID/syscall has it. */
struct pie_wait_call {
    bool is_fault; /* it is in the kernel, but in no call: a page is read in */
    long number;
    uint64_t arguments[PIE_WAIT_CALL_ARGUMENTS];
};

struct pie_wait_target {
    enum pie_wait_cause cause;
    char resource[PIE_WAIT_RESOURCE_BYTES]; /* empty: none is known */
    uint64_t futex;                         /* LOCK: address of the futex, else 0 */
    int32_t owner_tid;                      /* LOCK: of a mutex of the C library, if it is one; not checked */
    int32_t tid;                            /* of the thread that waits */
};

/* Reads that file's text. Returns 0 or -EINVAL; -EAGAIN: the thread ran. Context: drain. */
int pie_wait_call_parse(const char *text, struct pie_wait_call *ret_call);

/* What a call of this thread of this process waits for. Descriptors and memory are looked at as they are now: they are
 * those of the call if the thread did not run meanwhile, unless another thread closed or changed them. Nothing is
 * changed and nothing blocks. Context: drain. */
void pie_wait_call_target(const struct pie_wait_call *call, int32_t tid, struct pie_wait_target *ret_target);

/* --- wait_descriptor.c --- */

/* Cause and resource of a call that waits for a descriptor to be read or written. is_accept: for a connection to a
 * listening socket. Context: drain. */
void pie_wait_descriptor(int fd, bool is_accept, struct pie_wait_target *target);
/* Resource of a call that connects to an address in memory. Context: drain. */
void pie_wait_address(uint64_t address, uint64_t length, struct pie_wait_target *target);
