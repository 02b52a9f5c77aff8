/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/retention/retention.h"

#include "profiler/base/clocks.h"
#include "profiler/ports/retention.h"
#include "runtime/retention/layout.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* The way of a question from the collection thread, which has no GIL, to Python's main thread and back: one place for
 * it, whose state says who may touch it.
 *
 *   FREE      the collection thread writes the question
 *   ASKED     the main thread takes it when the interpreter runs its pending calls
 *   DEFERRED  it came amid a garbage collection, or in a subinterpreter; the collection thread asks again
 *   ANSWERED  the collection thread reads the answer
 *
 * Scheduling a call needs a lock that the interpreter frees at its end. So the door is shut before that, when the
 * interpreter lets go of its own dictionary; the collection thread schedules with the door's lock held. */

enum state { FREE, ASKED, DEFERRED, ANSWERED };

static _Atomic uint32_t state; /* fork child: FREE */

static struct {
    struct pie_node_id node;
    size_t count;
    uintptr_t blocks[PIE_RETENTION_BLOCKS_MAX];
    uint64_t budget_ns;
    char text[PIE_RETENTION_TEXT_BYTES];
} question; /* fork child: no one's */

/* Order: before the interpreter's lock of its pending calls. Fork child: made anew. */
static pthread_mutex_t door_lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_door_open; /* under door_lock. Fork child: as it was */

static _Atomic uint64_t spent_ns; /* relaxed: a sum. Fork child: 0 */

uint64_t pie_retention_spent_ns(void) {
    return atomic_load_explicit(&spent_ns, memory_order_relaxed);
}

/* On the main thread. A call may come twice, or in a forked child whose parent asked. */
static int answer(void *unused) {
    /* acquire: the question, released in pie_retention_ask() */
    if (atomic_load_explicit(&state, memory_order_acquire) != ASKED)
        return 0;
    uint64_t begun_ns = pie_thread_cpu_ns();
    int r = PyInterpreterState_Get() != PyInterpreterState_Main()
                ? -EAGAIN
                : pie_retention_find(question.blocks, question.count, question.budget_ns, question.text,
                                     sizeof question.text);
    atomic_fetch_add_explicit(&spent_ns, pie_thread_cpu_ns() - begun_ns, memory_order_relaxed);
    /* release: the answer, acquired in pie_retention_answer() */
    atomic_store_explicit(&state, r == -EAGAIN ? DEFERRED : ANSWERED, memory_order_release);
    return 0;
}

/* False: the door is shut, Python is not up, or its queue is full. is_scheduled: the call waits already. */
static bool schedule(bool is_scheduled) {
    pthread_mutex_lock(&door_lock);
    bool r = is_door_open && Py_IsInitialized() && (is_scheduled || pie_retention_schedule(answer));
    if (r)
        pie_retention_wake();
    pthread_mutex_unlock(&door_lock);
    return r;
}

bool pie_retention_ask(struct pie_node_id node, const uintptr_t *blocks, size_t count, uint64_t budget_ns) {
    /* relaxed: only this thread leaves FREE, and has read the last answer */
    if (atomic_load_explicit(&state, memory_order_relaxed) != FREE)
        return false;
    question.node = node;
    question.count = count < PIE_RETENTION_BLOCKS_MAX ? count : PIE_RETENTION_BLOCKS_MAX;
    memcpy(question.blocks, blocks, question.count * sizeof *blocks);
    question.budget_ns = budget_ns;
    question.text[0] = '\0';
    /* release: the question, acquired in answer(); before the call can run */
    atomic_store_explicit(&state, ASKED, memory_order_release);
    if (schedule(false))
        return true;
    atomic_store_explicit(&state, FREE,
                          memory_order_relaxed); /* no call was scheduled that could look at it */
    return false;
}

static void ask_again(void) {
    atomic_store_explicit(&state, ASKED, memory_order_release); /* as in pie_retention_ask() */
    if (!schedule(false))
        atomic_store_explicit(&state, DEFERRED, memory_order_relaxed);
}

bool pie_retention_answer(struct pie_node_id *ret_node, char *text, size_t size) {
    /* acquire: the answer, released in answer() */
    uint32_t now = atomic_load_explicit(&state, memory_order_acquire);

    if (now == DEFERRED)
        ask_again();
    else if (now == ASKED)
        schedule(true);
    if (now != ANSWERED)
        return false;
    *ret_node = question.node;
    snprintf(text, size, "%s", question.text);
    atomic_store_explicit(&state, FREE, memory_order_relaxed); /* only this thread acts on FREE */
    return true;
}

const struct pie_retention_ops *pie_runtime_retention_ops(void) {
    static const struct pie_retention_ops ops = {
        .ask = pie_retention_ask, .answer = pie_retention_answer, .spent_ns = pie_retention_spent_ns};

    return &ops;
}

static void shut_door(PyObject *capsule) {
    pthread_mutex_lock(&door_lock);
    is_door_open = false;
    pthread_mutex_unlock(&door_lock);
}

void pie_retention_install(void) {
    static const char NAME[] = "pieprof.retention";
    PyObject *dict = PyInterpreterState_GetDict(PyInterpreterState_Get());
    PyObject *capsule = dict ? PyCapsule_New(&door_lock, NAME, shut_door) : NULL;
    bool is_watched = capsule && PyDict_SetItemString(dict, NAME, capsule) == 0;

    PyErr_Clear();
    if (is_watched) { /* else there is no memory: nothing can be asked for */
        pthread_mutex_lock(&door_lock);
        is_door_open = true;
        pthread_mutex_unlock(&door_lock);
    }
    Py_XDECREF(capsule);
}

void pie_retention_fork_child(void) {
    atomic_store_explicit(&spent_ns, 0, memory_order_relaxed);
    door_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    atomic_store_explicit(&state, FREE, memory_order_relaxed); /* one thread */
}
