/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/machine/access_choice.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

struct pie_thread;

/* Samplers of memory accesses: one file per kind behind this table. They decide when a watch may begin (watch.h) and,
 * where the hardware knows, at which access. A sampler without a signal of its own leaves that to the samples of
 * time. */

/* One sampled access. */
struct pie_access_sample {
    uint64_t
        ip; /* of the instruction (is_precise), else of one nearby: the access is to be chosen in its block */
    uint64_t address; /* that it touched; 0: not known */
    uint8_t kind;     /* of the sampled access: PIE_ACCESS_LOAD or PIE_ACCESS_STORE (access.h) */
    bool is_precise;
};

struct pie_access_sampler_ops {
    const char *name;
    /* Each sample of time (time/clock.h) triggers a watch: blocks are weighted by time. Else this sampler's own signals
     * do, and accesses are weighted by their number; or nothing does. */
    bool is_time_weighted;

    /* Gives a thread its events, at most rate_hz samples a second of its time. Returns 0 or -errno. Called on the
     * collection thread, whose descriptor table is its own: nothing here is visible to the program. Context: drain. */
    int (*arm)(struct pie_thread *thread, uint64_t rate_hz);
    /* Takes them away; the thread may be gone. Context: drain. */
    void (*disarm)(struct pie_thread *thread);
    /* To be called ten times a second: brings the periods to the rate and out of step with the program. Context:
     * drain. */
    void (*adapt)(struct pie_thread *thread, uint64_t rate_hz);

    /* Is this SIGTRAP ours? Context: signal. */
    bool (*is_ours)(const siginfo_t *info);
    /* Reads the calling thread's access from a signal of ours. False: none that a watch can begin with (it came late,
     * the kernel was hit, the operation was no memory access). Context: signal. */
    bool (*read)(struct pie_thread *thread, const siginfo_t *info, const ucontext_t *ucontext,
                 struct pie_access_sample *ret_sample);
};

extern const struct pie_access_sampler_ops pie_access_sampler_pmu;
extern const struct pie_access_sampler_ops pie_access_sampler_taskclock;
extern const struct pie_access_sampler_ops pie_access_sampler_none; /* never samples */

/* Never NULL. Context: any. */
const struct pie_access_sampler_ops *pie_access_sampler_of(enum pie_access_sampler_kind kind);

/* In a forked child, before the region is replaced: the events belong to the parent; their descriptors were never in
 * this process's table. Context: fork child. */
void pie_access_samplers_forget(void);

/* The process's sampler of accesses; NULL: not chosen yet. Context: signal, drain. */
const struct pie_access_sampler_ops *pie_access_sampler_current(void);
/* Context: drain, fork child. */
void pie_access_sampler_set_current(const struct pie_access_sampler_ops *sampler);
