/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/ids.h"
#include "profiler/stacks/hybrid.h"
#include "profiler/thread/part.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

struct pie_pystack_ops;
struct pie_thread;

enum {
    PIE_FRAMES_MAX = 1024, /* of one kind; deeper stacks lose their outermost part */
    PIE_PATH_MAX = 2 * PIE_FRAMES_MAX,
};

/* A thread's part. Of its handlers and hooks, one at a time: an alternate stack must not need to hold it. */
struct pie_call_path_thread {
    struct pie_native_frame native[PIE_FRAMES_MAX];
    struct pie_unwind_found unwind_found;
    struct pie_pyframe python[PIE_FRAMES_MAX];
    uint64_t path[PIE_PATH_MAX]; /* CCT keys, innermost first */
    /* The path that was inserted last, outermost first, with its nodes: the next one often begins the same way. */
    uint64_t last_keys[PIE_PATH_MAX];
    struct pie_cct_id last_nodes[PIE_PATH_MAX];
    uint32_t last_depth;
};
extern struct pie_thread_part pie_call_path_part;

/* Context: signal. */
static inline struct pie_call_path_thread *pie_call_path_of(const struct pie_thread *thread) {
    return pie_thread_part_of(thread, &pie_call_path_part);
}

/* The call path of interrupted code: both stacks, merged, and their node of the calling context tree. All that it
 * points to stays in the thread's part until the next one is taken. */
struct pie_call_path {
    struct pie_cct_id node; /* pie_cct_is_full(): the tree has no room */
    struct pie_hybrid hybrid;
    const struct pie_native_frame *native; /* innermost first */
    size_t native_count;
    const struct pie_pyframe *python; /* innermost first */
    size_t python_count;
    const uint64_t *path; /* CCT keys, innermost first: hybrid.depth of them */
    bool is_python;       /* the interpreter itself is at work */
    bool is_own_call; /* a native function of the interpreter's own is at work, which Python called by name */
    bool is_foreign;  /* native code from outside the interpreter's home is at work, called from Python */
};

/* Takes it. is_after: the instruction of interest is the one before RIP, as after a data breakpoint. Counts what was
 * odd. Context: signal (one handler at a time per thread). */
void pie_call_path_take(const struct pie_pystack_ops *ops, struct pie_thread *thread,
                        const ucontext_t *ucontext, bool is_after, struct pie_call_path *ret_path);

/* The same for code that calls one of the exported functions, whose return address is `caller`: frames inside of that
 * one are ours and left out. Context: hook (guarded as a handler is). */
void pie_call_path_take_at_call(const struct pie_pystack_ops *ops, struct pie_thread *thread,
                                const void *caller, struct pie_call_path *ret_path);

/* Inserts a path (keys, innermost first) into the calling context tree; a node that pie_cct_is_full() if that has no
 * room, which is counted. Remembers it in the thread, so that the common beginning of two paths is found by comparing.
 * Context: signal. */
struct pie_cct_id pie_call_path_insert(struct pie_thread *thread, const uint64_t *path, size_t depth);
