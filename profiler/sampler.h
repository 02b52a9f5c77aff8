/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

struct pie_thread;
struct pie_pystack_ops;

/* Samplers of CPU time: one file per kind behind this table. A sampler makes a signal arrive on a thread each time
 * it has used another period of CPU time. */

/* What a clock can say about the time since the thread's previous sample. */
struct pie_ticks {
    uint32_t user, kernel; /* periods that ended in user code and in the kernel; both 0: unknown */
};

struct pie_sampler_ops {
    const char *name;
    int signal; /* the signal that it raises */

    /* Gives a thread its clock. Returns 0 or -errno. Called on the collection thread, whose descriptor table is its own:
     * nothing here is visible to the program. Context: drain. */
    int (*arm)(struct pie_thread *thread, uint64_t period_ns);
    /* Takes it away; the thread may be gone. Context: drain. */
    void (*disarm)(struct pie_thread *thread);
    /* Changes the period, so that samples do not fall into step with the program. Context: drain. */
    void (*set_period)(struct pie_thread *thread, uint64_t period_ns);

    /* Is this signal ours? Context: signal. */
    bool (*is_ours)(const siginfo_t *info);
    /* Counts the periods since the last call. cpu_ns: CPU time since then. Context: signal. */
    struct pie_ticks (*count)(struct pie_thread *thread, const ucontext_t *context, uint64_t cpu_ns);
};

extern const struct pie_sampler_ops pie_sampler_perf;      /* kernel included */
extern const struct pie_sampler_ops pie_sampler_perf_user; /* user code only */
extern const struct pie_sampler_ops pie_sampler_timer;
extern const struct pie_sampler_ops pie_sampler_itimer;

/* Takes one sample of the calling thread, interrupted at context. Context: signal (one handler at a time per thread). */
void pie_sample_take(const struct pie_sampler_ops *sampler, const struct pie_pystack_ops *ops,
                     struct pie_thread *thread, const ucontext_t *context);

/* Inserts a path (keys, innermost first) into the calling context tree; 0 if the tree is full. Remembers it in the
 * thread, so that the common beginning of two paths is found by comparing. Context: signal. */
uint32_t pie_sample_insert(struct pie_thread *thread, const uint64_t *path, size_t depth);

/* Does the instruction before the interrupted one enter the kernel? Context: signal. */
bool pie_sample_is_after_syscall(const ucontext_t *context);

/* The time of a sample, split by its ticks; rounding keeps the sum. Context: any. */
void pie_sample_split(struct pie_ticks ticks, uint64_t cpu_ns, uint64_t *ret_user_ns,
                      uint64_t *ret_system_ns);
