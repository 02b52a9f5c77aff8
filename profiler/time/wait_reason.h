/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/ports/ids.h"
#include "profiler/ports/sink.h"

#include <stdbool.h>
#include <stdint.h>

/* Why a thread that is asleep waits. */

struct pie_pystack_ops;
struct pie_thread;

/* Of all resources that were waited for, this number keep their names. */
enum { PIE_WAIT_RESOURCES_MAX = 256 };

struct pie_wait_reason {
    enum pie_wait_cause cause;
    uint32_t resource;      /* pie_wait_resource(); 0: none is known */
    struct pie_cct_id peer; /* where the thread was that held the lock; 0: not known */
    /* Of a task of an event loop: where its own coroutine begins (0: it is no task), and its name (tasks.h). */
    struct pie_cct_id coroutine;
    uint16_t task;
    bool holds_gil;
    bool is_for_native; /* LOCK: a futex of native code, and no lock of Python's; no part of the reason */
};

/* A thread that holds a lock, by what is known of it; 0: not known. */
struct pie_wait_holder {
    uintptr_t tstate; /* Python thread state */
    int32_t tid;
    uint32_t id_bits; /* the lowest of its id in the profile (thread/lock_holders.h) */
    /* Once it was found: the index of its slot, plus one, and its id. */
    uint32_t slot, id;
};

/* Where that thread was seen last; 0: not known. Finds its slot. */
typedef struct pie_cct_id (*pie_wait_peer_fn)(struct pie_wait_holder *holder);

/* The reason of a stopped thread with this Python thread state, without the peer, and who holds the lock. The caller
 * checks by its CPU clock that it did not run meanwhile. Counts those that cannot be found. Context: drain. */
void pie_wait_reason_find(const struct pie_thread *thread, uintptr_t tstate,
                          const struct pie_pystack_ops *ops, struct pie_wait_reason *ret_reason,
                          struct pie_wait_holder *ret_holder);

/* The name of a resource, NULL for 0. Valid until pie_wait_resources_forget(). Context: drain. */
const char *pie_wait_resource(uint32_t resource);
/* In a forked child, whose memory of the collection thread is given up with the rest of it. */
void pie_wait_resources_forget(void);
