/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

struct pie_thread;

/* Clocks that sample CPU time: one file per kind behind this table. A clock makes a signal arrive on a thread each time
 * it has used another period of CPU time. */

/* How much CPU time a sample accounts for. */
struct pie_sample_time {
    uint64_t user_ns, system_ns; /* in user code, in the kernel */
};

enum { PIE_CLOCK_SIGNALS = 2 };

struct pie_clock_ops {
    const char *name;
    int signals[PIE_CLOCK_SIGNALS]; /* that it raises; 0: none */

    /* Gives a thread its clock. Returns 0 or -errno. Called on the collection thread, whose descriptor table is its
     * own: nothing here is visible to the program. Context: drain. */
    int (*arm)(struct pie_thread *thread, uint64_t period_ns);
    /* Takes it away; the thread may be gone. Context: drain. */
    void (*disarm)(struct pie_thread *thread);
    /* Changes the period, so that samples do not fall into step with the program. Context: drain. */
    void (*set_period)(struct pie_thread *thread, uint64_t period_ns);

    /* Is this signal ours? Context: signal. */
    bool (*is_ours)(const siginfo_t *info);
    /* cpu_ns: the CPU time since the thread's previous sample. Says what of it belongs to the context that was
     * interrupted now. False: this signal makes no sample, and the time goes on to count. Context: signal. */
    bool (*account)(struct pie_thread *thread, const siginfo_t *info, const ucontext_t *ucontext,
                    uint64_t cpu_ns, struct pie_sample_time *ret_time);
};

extern const struct pie_clock_ops pie_clock_perf;      /* kernel included */
extern const struct pie_clock_ops pie_clock_perf_user; /* user code only */
extern const struct pie_clock_ops pie_clock_timer;
extern const struct pie_clock_ops pie_clock_itimer;

/* The process's clock; NULL: none, or not chosen yet. Context: signal. */
const struct pie_clock_ops *pie_clock_current(void);
/* Context: drain, fork child. */
void pie_clock_set_current(const struct pie_clock_ops *clock);
/* The program wants this clock's means for itself: no more samples, if it is the one. Context: hook. */
void pie_clock_give_up(const struct pie_clock_ops *clock);

/* A signal of the clock came that takes no sample: what it cost is none of the program's time. Context: signal. */
void pie_sample_passed(struct pie_thread *thread);

/* Does the instruction before the interrupted one enter the kernel? Context: signal. */
bool pie_sample_is_after_syscall(const ucontext_t *ucontext);

/* A time of which `kernel` of `kernel + user` periods ended in the kernel; rounding keeps the sum. Context: any. */
struct pie_sample_time pie_sample_split(uint64_t cpu_ns, uint64_t user, uint64_t kernel);
