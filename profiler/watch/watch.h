/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/base/spsc.h"
#include "profiler/code/access.h"
#include "profiler/ports/ids.h"
#include "profiler/ports/pystack.h"
#include "profiler/thread/part.h"
#include "profiler/watch/debug_registers.h"

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* The three-stage watch of PieProf's CL algorithm (PieProf §4.2; three stages instead of two, see DESIGN.md):
 *
 *   1  a sample chose a memory access: execute breakpoint on it; when it fires the registers are exact
 *   2  execute breakpoint where the native call returns to the evaluation loop
 *   3  data breakpoint on the address: the next access is another native call's, by construction; compare values, and
 *      those of stores again when that call has returned
 *
 * Stage 3 asks another question of half of the calls that return a new object, or whose arguments can be read.
 * It compares the arguments and results of the next calls at the same place in the program with those of this one. This
 * is PieProf's second pattern, §3.2: the same call again, and objects of the same value returned again and again. Of
 * native functions of the interpreter's own only this is asked.
 *
 * watch_*_sigsafe.c are the policy, debug_registers.h its tools; watch/drain.c adds up the results. */

struct pie_basic_block;
struct pie_thread;

enum pie_watch_stage {
    PIE_WATCH_FREE,
    PIE_WATCH_ACCESS, /* stage 1 */
    PIE_WATCH_RETURN, /* stage 2 */
    PIE_WATCH_FIRST,  /* before stage 2 of a Python call (python_call_sigsafe.c): until it is made again */
    PIE_WATCH_OUTER, /* stage 2 of an outer call (outer_call_sigsafe.c): until its return address is read; of a Python
                       * call: until its result is stored */
    PIE_WATCH_DATA,        /* stage 3: the next access */
    PIE_WATCH_NEXT_RETURN, /* … was a store: the end of its call */
    PIE_WATCH_RESULT,      /* stage 3 of a call's result: the next return to the place that called */
    PIE_WATCH_SITE,        /* … which is far off: until the interpreter comes there again */
    PIE_WATCH_COPY,        /* of no access: is a word written? See pie_watch_copy() */
    PIE_WATCH_OUTER_NEXT,  /* … and then, for an outer or a Python call, as OUTER */
};

enum pie_watch_kind { PIE_WATCH_LOAD = 1, PIE_WATCH_STORE = 2 };

/* How a watch that reached stage 3 ended. */
enum pie_watch_outcome {
    PIE_WATCH_REDUNDANT = 1, /* the next access, in another native call, found or wrote the same value */
    PIE_WATCH_CHANGED,       /* … another value */
    PIE_WATCH_RELEASED,      /* the allocator touched it: the block was freed or handed out again */
    PIE_WATCH_EVICTED,       /* another access took the register first */
    PIE_WATCH_UNTOUCHED,     /* nobody touched it before the thread or the profile ended */
    PIE_WATCH_LOST,          /* the interpreter or the kernel touched it, or the trap came late */
};

/* The kind of memory that was watched. */
enum pie_watch_memory {
    PIE_WATCH_MEMORY_OTHER,  /* other memory of the native code: tables, descriptors, buffers */
    PIE_WATCH_MEMORY_OBJECT, /* a field of a Python object */
    PIE_WATCH_MEMORY_ARRAY,  /* the data of an array */
    PIE_WATCH_MEMORY_RETURNED =
        4, /* not memory: the value of the calls' results, as a store (PIE_WATCH_RESULT) */
    PIE_WATCH_MEMORY_CALL =
        5, /* not memory: the calls' arguments, and the value of their results if it can be read; as a store */
    PIE_WATCH_MEMORY_RESULT =
        3, /* of the object (or of the array) that the first call returned: recycled when it is written again */
};

enum pie_watch_traits {
    PIE_WATCH_IN_LOOP =
        1, /* the first access lies in a loop of machine code, or is repeated or wide: bulk work */
    PIE_WATCH_PARTLY = 2, /* RETURNED, CHANGED: half of the data at least is the same, word by word */
    PIE_WATCH_SEEN_BEFORE =
        4, /* RETURNED, CALL: what the same place got before, by the same arguments, if not from its last call */
    PIE_WATCH_FIRST_SEEN = 8,       /* … what it got for the first time, as far as that is remembered */
    PIE_WATCH_ARGUMENTS = 16,       /* RETURNED, CALL: the arguments could be compared */
    PIE_WATCH_OTHER_ARGUMENTS = 32, /* RETURNED, REDUNDANT: they were others */
    PIE_WATCH_OF_ARGUMENT = 64,     /* a load of the data of the only array that the call got */
    PIE_WATCH_WEAK =
        128, /* a store, REDUNDANT: no evidence, as the same value was equal at the place before */
    PIE_WATCH_NEW_VALUE = 256,  /* … evidence only beside others: a value that was not equal there before */
    PIE_WATCH_OUTER_CALL = 512, /* CALL: that of a line of own code, for which Python code was at work … */
    PIE_WATCH_OWN_CALL = 1024,  /* … that of a function of own code */
    PIE_WATCH_SAMPLED = 2048,   /* CALL: long arguments were looked at in part, the result cannot be read */
};

enum pie_watch_record_kind {
    PIE_WATCH_RECORD_REACHED = 1, /* stage 3 begins */
    PIE_WATCH_RECORD_ENDED,
};

/* A record from the handler to the collection thread. */
struct pie_watch_record {
    uint64_t time_ns;                         /* CLOCK_MONOTONIC */
    uint64_t address, size;                   /* of the watched word, bytes */
    uint64_t rip;                             /* ENDED by a trap: the instruction after the access, else 0 */
    uint64_t registers[PIE_ACCESS_REGISTERS]; /* ENDED by a trap */
    uint64_t length_ns; /* REACHED: from the access to the call's return, less the price of traps between */
    uint64_t gap_ns;    /* ENDED: since stage 3 began */
    uint64_t access_ip; /* of the first access */
    uint64_t access_bytes; /* that the first access touches: its operand, a REP string as a whole */
    /* second 0: none. REACHED, of an outer call: where the time was sampled that it stands for */
    struct pie_cct_id first_node, second_node;
    uint64_t value_before, value_after; /* ENDED by a trap: the watched word when stage 3 began and now */
    uint64_t array_bytes;               /* OF_ARGUMENT: of the whole array's data */
    uint64_t round_ns; /* OF_ARGUMENT, ENDED: the program's CPU time on this thread since the first access */
    uint64_t variety;  /* REACHED, RETURNED or CALL: of the result (struct pie_value) */
    /* REACHED, of an outer call, value_after: digest of its arguments with the state of what cannot be read */
    uint64_t arguments; /* REACHED, RETURNED or CALL: digest of the call's arguments; 0: not known */
    uint32_t serial;    /* of the watch in its thread */
    uint8_t record, kind, outcome, memory; /* enums above */
    uint16_t traits;                       /* enum pie_watch_traits */
    uint16_t module;                       /* ENDED by a trap: whose code is at rip (code/modules.h) */
    bool has_arguments; /* of a call, REACHED: they were read in full; ENDED, REDUNDANT: they were the same */
    uint8_t slot;
    uint16_t cost_us; /* ENDED: what the watch has taken, 65535 at most */
};
static_assert(sizeof(struct pie_watch_record) == 264, "records lie in the region");

enum { PIE_WATCH_RING_RECORDS = 128, PIE_WATCH_REQUESTS = 64 };
PIE_SPSC_RING(pie_watch_ring, struct pie_watch_record, PIE_WATCH_RING_RECORDS);
/* Addresses whose basic block is wanted. */
PIE_SPSC_RING(pie_watch_requests, uint64_t, PIE_WATCH_REQUESTS);

/* One debug register's watch. */
struct pie_watch_slot {
    struct pie_access access;
    const struct pie_basic_block *block; /* that it was chosen from; NULL: it was not */
    uint64_t began_ns;                   /* this stage */
    uint64_t site_cpu_ns;                /* SITE: the thread's CPU time when it began to wait there */
    uint64_t site;                       /* CCT key of the Python code unit that called */
    uintptr_t unit;                      /* address of that code unit; SITE */
    uint64_t return_ip, return_sp;       /* where the native call returns to, and RSP then */
    uint64_t below;          /* of an outer call: how far that is below where the loop's stack ends */
    uint64_t address, value; /* of the watched word */
    uint64_t bytes;          /* that the first access touches */
    uint64_t array_bytes;    /* of the array that the call got, which the word lies in; 0: none */
    uint64_t read_ns;        /* the program's CPU time at the first access, a load in a loop */
    uint64_t cost_ns;        /* what the watch has taken: traps, slower strings and faults */
    uint32_t generation;     /* of the block (basic_block.h) */
    uint32_t rewrites;       /* pie_code_modules_rewrites() when it began */
    uint16_t module;         /* that its code is of */
    uint32_t tries;          /* accesses of the block that turned out to be of no interest; RESULT: results
                                          * that differed, … */
    uint32_t tries_most;     /* … and how many of these are enough */
    uint32_t stage;          /* pie_watch_stage */
    uint32_t serial;         /* of the watch: traps of an earlier one carry another */
    uint32_t seen;           /* samples since it was last free or trapped: the reservoir's n */
    uint32_t strays;         /* traps in this stage other than the awaited one */
    uint32_t size;           /* of the watched word, bytes */
    struct pie_cct_id first_node;   /* __atomic, relaxed: the collection thread moves it (turn.h) */
    struct pie_value_words words;   /* of the returned object */
    struct pie_value_floats floats; /* … where there is a tolerance */
    struct pie_call_digest call;    /* of the call; content 0: not known */
    struct pie_watch_record touch;  /* NEXT_RETURN: the trap's record */
    uint8_t kind, memory;
    uint16_t traits;
    bool is_armed;          /* its register is */
    bool is_far;            /* RESULT: it was SITE before */
    bool is_call;           /* no access was chosen: the watch is about the call alone */
    bool is_unsure;         /* RESULT of a CALL: a later call may have had the same arguments, or not */
    _Atomic uint64_t *copy; /* COPY: whose word it is, … */
    uint64_t copy_armed;    /* … and what that says as long as it is */
    uint64_t copy_until_ns; /* CPU time of the thread at which it is given up */
    bool is_outer;          /* a call of own code for which Python code was at work */
    bool is_python;         /* … of a Python function */
    uint8_t touches; /* OUTER, OUTER_NEXT: of the return address by others; SITE of a Python call: likewise */
    uint32_t above;  /* nodes from first_node up to the call's */
    struct pie_python_call python; /* OUTER, OUTER_NEXT of a Python call */
};

enum { PIE_WATCH_SHUNNED_BITS = 4 };

/* A thread's part. Only the thread itself writes, but for the rings' tails. */
struct pie_watch_thread {
    /* Large, and not touched by a thread that is never watched. The rest begins behind it, so that it shares a page
     * with the beginning of the next part. */
    struct pie_watch_slot slots[PIE_DEBUG_REGISTERS];
    struct {
        uint64_t site, again_cpu_ns; /* … and the thread's CPU time from which on it may be tried again */
    } shunned
        [1 << PIE_WATCH_SHUNNED_BITS]; /* Python calls where a wait came to nothing, by a hash of the site */
    struct pie_watch_ring ring;
    /* Of debug_registers_*_sigsafe.c: descriptors, in the thread's own table or in the collection thread's; -1:
     * none. */
    _Atomic int32_t fds[PIE_DEBUG_REGISTERS];
    uint64_t ids[PIE_DEBUG_REGISTERS]; /* of their events */
    _Atomic uint32_t wants_registers;  /* set by the thread, answered by the collection thread */
    uint32_t
        put_off; /* of debug_registers_hidden_sigsafe.c: registers to be disarmed, as bits; the thread's only */
    struct pie_debug_ptrace ptrace; /* of debug_registers_ptrace_sigsafe.c */
    uint64_t retry_ns;              /* registers were refused: not before this time again */
    uint64_t random;
    uint32_t mean_interest; /* of the last samples; see watch/interest_sigsafe.c */
    uint32_t serial;
    int64_t credit_ns;          /* the time that watching may take now: the trap budget */
    uint64_t credit_program_ns; /* thread CPU time without spent_ns, up to which credit was given */
    uint64_t faults_seen;       /* page faults, … */
    uint64_t slow_cpu_ns;       /* … and thread CPU time, up to which slower strings were charged */
    bool debt_is_short;         /* how much debt from these ends all watches */
    _Atomic uint64_t spent_ns;  /* on watching: handlers and traps */
    struct pie_watch_requests requests;
};
extern struct pie_thread_part pie_watch_part;

/* Context: any. */
static inline struct pie_watch_thread *pie_watch_of(const struct pie_thread *thread) {
    return pie_thread_part_of(thread, &pie_watch_part);
}

/* Settings of all watches of a process; set by the collection thread, read by handlers. */
struct pie_watch_settings {
    const struct pie_debug_ops *registers; /* NULL: nothing is watched */
    const struct pie_pystack_ops *ops;
    double fp_tolerance; /* as in struct pie_config */
    double budget;       /* share of a thread's CPU time that watching may take, before pie_watch_allow() */
    bool is_adaptive;    /* lines whose redundant fraction is undecided come first */
    bool is_frugal;      /* the user named a budget: what cannot be paid back soon is not spent */
    uint64_t trap_price_ns; /* of one trap, without the handler's work */
    uint64_t
        sample_price_ns; /* of one signal of the sampler of accesses, the interrupt included; 0: it has none */
    uint64_t fault_tax_ns;  /* extra cost of a page fault while a data breakpoint is armed; 0: nothing */
    double fault_tax_share; /* … as a part of the fault's time then */
};

/* The share of a thread's CPU time that watching may take from now on; 0: the settings'. Context: drain. */
void pie_watch_allow(double share);

/* Sets how much a line of Python in its context is in need of watches, 0 to 1. Never forgotten: a forked child inherits
 * the parent's values. Context: drain. */
void pie_watch_set_interest(struct pie_cct_id line_node, double interest);

/* What a code unit returns is an item: watches of native calls there are about memory only. Context: drain. */
void pie_watch_set_item(uint64_t site);
void pie_watch_items_forget(void);

/* The innermost line of Python of a context, the root if there is none. Context: signal, drain. */
struct pie_cct_id pie_watch_line_node(struct pie_cct_id node);
/* The innermost line of own code, where one is known; else as above. Context: signal, drain. */
struct pie_cct_id pie_watch_own_line(const struct pie_pystack_ops *ops, struct pie_cct_id node);

/* NULL stops all watching; each armed register is disarmed at its next trap. settings live as long as the process.
 * Context: drain. */
void pie_watch_set(const struct pie_watch_settings *settings);

/* From now on `returned` is called in the handler when a watched call has returned to its evaluation loop, on its
 * thread; NULL: nothing is. Context: drain. */
void pie_watch_set_returned(void (*returned)(struct pie_thread *thread));

struct pie_call_path;
struct pie_sample;

/* The next two, where the process samples accesses, and the second only where samples of time begin watches. Context:
 * signal. */
void pie_watch_after_sample(struct pie_thread *thread, const struct pie_sample *sample);

/* A sample of time fell at `ucontext`, whatever code that is; system_ns of its time were the kernel's. Charges the
 * extra cost of string instructions while data breakpoints are armed, those of page faults and of the program. Under
 * too much debt all watches end. Context: signal. */
void pie_watch_charge_sample(struct pie_thread *thread, const ucontext_t *ucontext, uint64_t system_ns);

/* A sample fell at `ucontext`, whose stacks were just taken: perhaps begin a watch. Context: signal. */
void pie_watch_sample(struct pie_thread *thread, const ucontext_t *ucontext,
                      const struct pie_call_path *taken);

/* A sample fell into a native function of the interpreter's own that Python called: perhaps begin a watch of the call.
 * Context: signal. */
void pie_watch_call(struct pie_thread *thread, const ucontext_t *ucontext, const struct pie_call_path *taken);

/* Calls are not compared for now. While frames are evaluated one by one, a call is made at another instruction than
 * before, so its place would be another one. Context: any. */
void pie_watch_rest_calls(bool rest);
bool pie_watch_calls_rest(void);

/* A sample fell somewhere. If Python code is at work for a line of own code, perhaps begins a watch of the call that
 * this line makes. False: there is no such call, or it was not chosen. Context: signal. */
bool pie_watch_outer_call(struct pie_thread *thread, const ucontext_t *ucontext,
                          const struct pie_call_path *taken);

/* The end of a handler: registers that were put off are disarmed. Context: signal. */
void pie_watch_catch_up(struct pie_thread *thread);
/* SIGTRAP is about to be blocked on this thread (NULL: none), or is: all its watches end, as far as their traps could
 * not bear that. Context: signal. */
void pie_watch_yield(struct pie_thread *thread);

struct pie_access_sampler_ops;

/* A signal of a sampler of accesses: perhaps begin a watch; a known address is watched without stage 1.
 * Context: signal. */
void pie_watch_sampled(const struct pie_access_sampler_ops *sampler, struct pie_thread *thread,
                       const siginfo_t *info, const ucontext_t *ucontext);

/* Are there registers to watch with? Context: any. */
bool pie_watch_is_on(void);

/* Is a word written by this thread? What is known of it stands in a word of the asker's, which other threads may read:
 * serial * 4 + one of these. Whoever uses that word anew gives it another serial. */
enum pie_watch_copy_state { PIE_WATCH_COPY_KEPT = 1, PIE_WATCH_COPY_WRITTEN, PIE_WATCH_COPY_LOST };

/* Watches the 8 bytes at address, a multiple of 8, for stores, by one register of the thread at most: a newer word may
 * take the place of the one before, as any sample may. It is given up after longest_ns of CPU time, because it slows
 * down string instructions. False: there is no register, no credit, or the thread's watch stays where it is. Charges
 * the budget of watching. Context: hook (inside). */
bool pie_watch_copy(struct pie_thread *thread, uint64_t address, _Atomic uint64_t *word, uint32_t serial,
                    uint64_t longest_ns);
/* The asker does not ask any more. Without effect on a thread that does not watch. Context: hook (inside). */
void pie_watch_copy_over(struct pie_thread *thread, const _Atomic uint64_t *word);

/* Is this signal a debug register's trap? Context: signal. */
bool pie_watch_is_ours(const siginfo_t *info);
/* A debug register of the thread fired. Context: signal. */
void pie_watch_trap(struct pie_thread *thread, const siginfo_t *info, const ucontext_t *ucontext);
