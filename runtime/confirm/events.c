/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/confirm/sites.h"

#include <pthread.h>

#include "profiler/base/clocks.h"

/* From one event to the next one of an instruction that does nothing: the median. */
static double step_ns = 80;

/* A step of one nanosecond towards each, and so their median. */
void pie_confirm_event_idle(const struct pie_confirm_thread *thread, uint64_t now_ns) {
    step_ns += (double)(now_ns - thread->left_ns) > step_ns ? 1 : -1;
}

static PyObject *result_of(const struct pie_confirm_site *site, PyObject **top) {
    bool is_store = site->kind == PIE_CONFIRM_STORE || site->kind == PIE_CONFIRM_STORE_SLICE;

    return is_store ? Py_None : top[-1];
}

void pie_confirm_event_end(struct pie_confirm_thread *thread, struct pie_confirm_ongoing *ongoing,
                           PyObject **top, uint64_t now_ns) {
    (void)pie_confirm_cpu_ns(thread, now_ns);            /* before the result is read */
    if (ongoing->site->kind == PIE_CONFIRM_NEXT && !top) /* the iteration is over */
        pie_confirm_call_drop(thread, &ongoing->call);
    else
        pie_confirm_call_end(thread, &ongoing->call, now_ns, (uint64_t)step_ns,
                             top ? result_of(ongoing->site, top) : NULL);
}

/* The arguments are read in here, which is no time of the call's, nor of one around it. */
bool pie_confirm_event_begin(struct pie_confirm_thread *thread, struct pie_confirm_ongoing *ongoing,
                             struct pie_confirm_site *site, PyObject **top, uint64_t now_ns) {
    uint64_t now_cpu_ns = pie_confirm_cpu_ns(thread, now_ns), read_ns = pie_monotonic_ns(),
             read_cpu_ns = pie_confirm_cpu_ns(thread, read_ns);
    bool counts = site && pie_confirm_site_read(site, top, &ongoing->call);
    uint64_t ready_ns = counts ? pie_monotonic_ns() : read_ns;

    thread->spent_ns += (uint64_t)step_ns + pie_confirm_used_ns(now_ns, now_cpu_ns, ready_ns);
    ongoing->site = site;
    if (counts)
        pie_confirm_call_begin(thread, &ongoing->call, pie_confirm_used_ns(read_ns, read_cpu_ns, ready_ns));
    thread->left_ns = counts ? ongoing->call.begun_ns : ready_ns; /* no look at the clock within the call */
    return counts;
}

bool pie_confirm_stack_is_short(void) {
    static __thread uintptr_t stack_end; /* NULL: not known yet */
    enum { ROOM_BYTES = 1 << 20 };
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;

    if (!stack_end) {
        stack_end = 1; /* not known: no address is below */
        if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
            if (pthread_attr_getstack(&attributes, &low, &size) == 0)
                stack_end = (uintptr_t)low + (size > 4 * ROOM_BYTES ? ROOM_BYTES : size / 4);
            pthread_attr_destroy(&attributes);
        }
    }
    return (uintptr_t)__builtin_frame_address(0) < stack_end;
}
