/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/base/counters.h"
#include "profiler/code/access.h"
#include "profiler/ports/pystack.h"
#include "profiler/stacks/call_path.h"
#include "profiler/thread/thread.h"
#include "profiler/watch/debug_registers.h"
#include "profiler/watch/internal.h"
#include "profiler/watch/watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include <cmocka.h>

/* A stage for the policy of watching: debug registers that only record their orders, an interpreter of one
 * Python frame, and a real native call (a few instructions of assembly) under a C function that plays the evaluation
 * loop. A test's body runs inside that call, so contexts made from it unwind. */

/* Labels in the native call, in this order; all are foreign code under the evaluation loop. */
extern char scene_call[], scene_load[], scene_store[], scene_both[], scene_after[], scene_end[];

struct scene_order {
    enum { SCENE_ARM, SCENE_DISARM, SCENE_RELEASE } what;
    unsigned index, length;
    enum pie_debug_kind kind;
    uint64_t address, cookie;
};

enum {
    SCENE_ORDERS = 1 << 16,
    SCENE_OBJECTS = 8,
    SCENE_UNIT_TO_WAIT = 8, /* from the code unit of a call to where the caller's frame waits */
};

extern struct scene {
    /* The orders of the registers. */
    struct scene_order orders[SCENE_ORDERS];
    size_t n_orders;
    int refuse; /* what arm() returns instead of 0 */
    /* What the interpreter knows. */
    struct {
        uintptr_t address;
        enum pie_object_kind kind;
        uintptr_t low, high; /* of an array's data */
    } objects[SCENE_OBJECTS];
    uintptr_t frames_low, frames_high; /* the stack of Python frames */
    void (*during_walk)(void);         /* called by each walk of the Python stack */
    uintptr_t instr;                   /* code unit that the Python frame is at: 5 */
    uint64_t result_hash;              /* of the value of what native calls return; 0: nothing to compare */
    uint64_t array_bytes;           /* of the only array that the native call got, with all words; 0: none */
    bool is_read_out;               /* … is text, or a list or dict */
    struct pie_value_floats floats; /* … its numbers */
    struct pie_value_words words;   /* … words of its data */
    struct pie_call_digest call;    /* of the native call; content 0: its arguments cannot be found */
    /* A second Python frame, whose loop runs the first one's function; code 0: there is none. */
    struct {
        uintptr_t code, instr;
        bool is_at_site, has_returned; /* its loop is about to call; the call is over */
        bool acts;                     /* the function that it calls changes more than it returns */
    } caller;
    enum pie_code_owner owners[4]; /* by code */
    /* Of the native call that the body runs in. */
    uint64_t rsp, rbp, rbx;
    uint64_t *word; /* on the heap, 64 of them, aligned to 64 bytes */
} scene;

extern struct pie_thread *scene_thread;
extern struct pie_watch_settings scene_settings;

/* Plays a body (the test's initial state) in the native call, on a fresh thread, tree, table of blocks, and
 * counters. */
void scene_test(void **body);
#define SCENE(body) {#body, scene_test, NULL, NULL, (void *)(uintptr_t)(body)}

/* A load or store of `bytes` through RDI at a label. */
struct pie_access scene_access(const char *label, unsigned flags, unsigned bytes);
/* The block around all labels has these accesses. */
void scene_learn(const struct pie_access *accesses, uint32_t count);
void scene_learn_at(const char *ip, const struct pie_access *accesses, uint32_t count);

/* The native call, stopped at a label, with RDI at the watched word. */
ucontext_t scene_at(const char *rip);
/* The evaluation loop, where the native call has just returned to. */
ucontext_t scene_returned(void);

/* A sample of time at a label, 1 ms of CPU time after the last one. Returns the slot that was armed or began a watch,
 * -1 if none did. */
int scene_sample(const char *rip);
/* The same as if the native call were one of the interpreter's own functions. */
int scene_sample_call(const char *rip);
/* The same, where Python code is perhaps at work for a line of own code. */
int scene_sample_outer(const char *rip);
/* The trap of a slot's register, at this context. */
void scene_trap(unsigned index, const ucontext_t *context);
void scene_trap_with(uint64_t cookie, uint32_t flags, const ucontext_t *context);
/* The cookie that was given when the register was armed last. */
uint64_t scene_cookie(unsigned index);
const struct scene_order *scene_last_order(void);
size_t scene_arms(void);

/* Brings a watch to a stage; the access at scene_load or scene_store must have been learned. Returns its slot. */
unsigned scene_reach_return(void);
unsigned scene_reach_data(void);
/* Another native call touches the word, and returns: the trap of a slot in stage 3, and what follows it. */
void scene_touch(unsigned index, const ucontext_t *context);

/* The next record; there must be one. */
struct pie_watch_record scene_pop(void);
void scene_no_record(void);

/* Is chi-square of n counts against expectations below what one run in 100 000 exceeds by chance? */
bool scene_fits(const double *seen, const double *expected, size_t n);
