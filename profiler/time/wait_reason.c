/* SPDX-License-Identifier: Apache-2.0 */

/* The kernel says in which system call a thread is, and the call what it waits for (wait_call.c). A futex in the GIL's
 * structure is the GIL. The GIL and a mutex of the C library name their holder; of Python's locks it is noted who took
 * them (thread/lock_holders.h). A thread that waits for what it took itself waits for another to wake it: it has no
 * holder. A thread that forks or ends the process waits for the profiler itself, with the GIL: nothing of the program
 * is to blame for that. */

#include "profiler/time/wait_reason.h"

#include "profiler/base/counters.h"
#include "profiler/base/own_memory.h"
#include "profiler/base/proc_file.h"
#include "profiler/ports/pystack.h"
#include "profiler/thread/lock_holders.h"
#include "profiler/thread/thread.h"
#include "profiler/time/wait_call.h"

#include <string.h>

/* Collection thread only. Fork child: pie_wait_resources_forget(). */
static struct names {
    char *names[PIE_WAIT_RESOURCES_MAX];
    uint32_t count;
} resources;

/* The last place is for all that came later. */
static const char others[] = "(other)";

static uint32_t intern(struct names *names, const char *name) {
    uint32_t i = 0;

    if (!name[0])
        return 0;
    while (i < names->count && strcmp(names->names[i], name) != 0)
        i++;
    if (i < names->count)
        return i + 1;
    if (i >= PIE_WAIT_RESOURCES_MAX - 1) {
        if (i == PIE_WAIT_RESOURCES_MAX)
            return i;
        name = others;
    }
    size_t size = strlen(name) + 1;
    char *copy = pie_malloc(size);
    if (!copy)
        return 0;
    memcpy(copy, name, size);
    names->names[names->count++] = copy;
    return names->count;
}

const char *pie_wait_resource(uint32_t resource) {
    return resource ? resources.names[resource - 1] : NULL;
}

void pie_wait_resources_forget(void) {
    resources.count = 0;
}

static bool read_target(int32_t tid, struct pie_wait_target *ret_target) {
    struct pie_wait_call call;
    char text[256];

    if (pie_proc_read_task(tid, "syscall", text, sizeof text) <= 0 || pie_wait_call_parse(text, &call) < 0)
        return false;
    pie_wait_call_target(&call, tid, ret_target);
    return true;
}

static bool read_gil(const struct pie_pystack_ops *ops, uintptr_t tstate, struct pie_gil *ret_gil) {
    return ops->gil && ops->gil(tstate, ret_gil);
}

/* The thread's own part in the GIL: it waits for it, or has it. */
static void see_gil(const struct pie_wait_target *target, uintptr_t tstate, const struct pie_gil *gil,
                    struct pie_wait_reason *reason, struct pie_wait_holder *holder) {
    if (target->futex >= gil->low && target->futex < gil->high) {
        reason->cause = PIE_WAIT_GIL;
        holder->tstate = gil->holder != tstate ? gil->holder : 0;
    } else {
        reason->holds_gil = gil->holder == tstate;
    }
}

static void see_lock(const struct pie_wait_target *target, const struct pie_thread *thread,
                     struct pie_wait_holder *holder) {
    uint32_t mask = (1u << PIE_LOCK_HOLDER_BITS) - 1, id_bits = pie_lock_holder_for(thread, target->futex);

    holder->tid = target->owner_tid != thread->tid ? target->owner_tid : 0;
    holder->id_bits = id_bits != (thread->id & mask) ? id_bits : 0;
}

void pie_wait_reason_find(const struct pie_thread *thread, uintptr_t tstate,
                          const struct pie_pystack_ops *ops, struct pie_wait_reason *ret_reason,
                          struct pie_wait_holder *ret_holder) {
    struct pie_wait_target target;
    struct pie_gil gil, again;

    *ret_reason = (struct pie_wait_reason){0};
    *ret_holder = (struct pie_wait_holder){0};
    if (atomic_load_explicit(&thread->waits_for_us, memory_order_relaxed)) {
        ret_reason->cause = PIE_WAIT_OTHER;
        ret_reason->resource = intern(&resources, "pieprof");
        return;
    }
    if (!read_target(thread->tid, &target)) {
        pie_counter_add(PIE_COUNTER_WAIT_UNKNOWN, 1);
        return;
    }
    ret_reason->cause = target.cause;
    ret_reason->resource = intern(&resources, target.resource);
    if (read_gil(ops, tstate, &gil))
        see_gil(&target, tstate, &gil, ret_reason, ret_holder);
    if (ret_reason->cause == PIE_WAIT_LOCK && target.futex) {
        see_lock(&target, thread, ret_holder);
        ret_reason->is_for_native = !atomic_load_explicit(&thread->semaphore, memory_order_relaxed);
    }
    /* Who takes the GIL enters its name a moment later; until then the one that had it before seems to hold it. */
    if (ret_reason->holds_gil)
        ret_reason->holds_gil = read_gil(ops, tstate, &again) && again.holder == tstate;
}
