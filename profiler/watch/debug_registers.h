/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The debug registers of the calling thread, behind one table so that the policy of watching (watch.h) is tested
 * without hardware: two ways to perf breakpoint events, one by ptrace, and a fake in the tests. */

struct pie_thread;

enum { PIE_DEBUG_REGISTERS = 4 };

enum pie_debug_kind {
    PIE_DEBUG_EXECUTE,    /* before the instruction at the address */
    PIE_DEBUG_STORE,      /* after a store */
    PIE_DEBUG_LOAD_STORE, /* after a load or a store: x86 has no loads alone */
};

struct pie_debug_ops {
    /* Arms register `index` of the calling thread. length: 1, 2, 4 or 8, and the address a multiple of it (1 and any
     * address for EXECUTE). The trap carries `cookie`. Returns 0 or -errno: -EAGAIN soon, -ENOSPC no register free (a
     * debugger), -EMFILE … no descriptor, -EINVAL an address that cannot be watched. Context: signal. */
    int (*arm)(struct pie_thread *thread, unsigned index, enum pie_debug_kind kind, uint64_t address,
               unsigned length, uint64_t cookie);
    /* Disarms it; it costs nothing then. Context: signal. */
    void (*disarm)(struct pie_thread *thread, unsigned index);
    /* At the end of a handler: does the disarming that was put off. NULL: nothing is put off. Context: signal. */
    void (*catch_up)(struct pie_thread *thread);
    /* The thread ends: gives everything back. Context: hook (on the thread). */
    void (*release)(struct pie_thread *thread);
};

extern const struct pie_debug_ops pie_debug_own_table; /* any kernel with sigtrap */
extern const struct pie_debug_ops pie_debug_hidden;    /* Linux 6.9 */
extern const struct pie_debug_ops pie_debug_ptrace;    /* where perf events are refused */

struct perf_event_attr;
/* A breakpoint as both want it. Context: signal. */
void pie_debug_prepare(struct perf_event_attr *attr, enum pie_debug_kind kind, uint64_t address,
                       unsigned length, uint64_t cookie);

/* In a forked child, before the region is replaced: closes the copies of all threads' descriptors without touching the
 * parent's events. Context: fork child. */
void pie_debug_own_table_forget(void);

/* Can descriptors stay hidden in the calling thread's table, which is not the program's? Notes that it is this
 * thread's. Context: drain. */
bool pie_debug_hidden_begin(void);
/* Opens the events of threads that asked for them, closes those of a thread that has ended. Context: drain. */
void pie_debug_hidden_serve(struct pie_thread *thread);
void pie_debug_hidden_close(struct pie_thread *thread);

/* Around code that puts a descriptor into the program's table that is not noted yet, or never. enter: false, the
 * process forks, not now. Context: signal. */
bool pie_debug_enter(void);
void pie_debug_leave(void);
/* As enter, but it waits for forks, a second at most; not in handlers. Context: hook. */
bool pie_debug_enter_late(void);
/* Around a fork, so that its child gets no such descriptor; it waits for those there are, a second at most.
 * Context: fork, fork child. */
void pie_debug_before_fork(void);
void pie_debug_after_fork(void);
void pie_debug_fork_child(void);

/* By ptrace: a thread's registers as they are and as they should be. Written by the thread only. */
struct pie_debug_ptrace {
    uint64_t address[PIE_DEBUG_REGISTERS];
    uint64_t wanted, set; /* DR7 as it should be, and as it stands */
    uint64_t resumed;     /* paused: wanted afterwards */
    uint64_t retry_ns;    /* refused: not before this time again */
    uint64_t waited_ns;   /* for helpers, since it was last looked at */
    bool paused, is_over;
};

/* Registers of this process are set by ptrace: its traps are known by this, and SIGTRAP must not be blocked. use: set
 * before the first register is armed. Context: drain, any. */
void pie_debug_ptrace_use(bool use);
bool pie_debug_ptrace_is_used(void);
/* Which registers fired, as bits, by the instruction pointer of the trap; those for data are disarmed with that. 0:
 * nobody knows. Context: signal. */
unsigned pie_debug_ptrace_fired(struct pie_thread *thread, uint64_t rip);
/* The thread (NULL: none) is about to block all signals for a moment: its registers are away until resume.
 * Context: hook (on the thread). */
void pie_debug_ptrace_pause(struct pie_thread *thread);
void pie_debug_ptrace_resume(struct pie_thread *thread);
/* For good: the next child of this thread would be the first process of a PID namespace, which ends with it.
 * Context: hook (on the thread). */
void pie_debug_ptrace_end(struct pie_thread *thread);
