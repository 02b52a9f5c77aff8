/* SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/memory/pymem_answers.h"

#include "runtime/libc/export.h"
#include "runtime/interpreter/methods.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef const char *(*name_function)(void);
typedef int (*stats_function)(FILE *out);

/* CPython's internal headers declare them from 3.13 on. */
PIE_EXPORT const char *_PyMem_GetCurrentAllocatorName(void);
PIE_EXPORT int _PyObject_DebugMallocStats(FILE *out);

/* CPython's own in a static libpython; a shared one has them under their own names. */
__attribute__((weak)) const char *pie_python_PyMem_GetCurrentAllocatorName(void);
__attribute__((weak)) int pie_python_PyObject_DebugMallocStats(FILE *out);

static const PyMemAllocatorEx *beneath; /* by domain; NULL: there are no hooks */
static const char *name_beneath;
static PyCFunction own_method; /* sys._debugmallocstats() */

/* CPython's own: behind us in a shared libpython, before us in a static interpreter that we are a guest of. */
static void *find_own(const char *name) {
    void *own = dlsym(RTLD_NEXT, name);
    return own ? own : dlsym(RTLD_DEFAULT, name);
}

static const char *own_name(void) {
    if (pie_python_PyMem_GetCurrentAllocatorName)
        return pie_python_PyMem_GetCurrentAllocatorName();
    name_function own = (name_function)find_own("_PyMem_GetCurrentAllocatorName");
    return own ? own() : NULL;
}

static int own_stats(FILE *out) {
    if (pie_python_PyObject_DebugMallocStats)
        return pie_python_PyObject_DebugMallocStats(out);
    stats_function own = (stats_function)find_own("_PyObject_DebugMallocStats");
    return own ? own(out) : 0;
}

void pie_pymem_answers_install(const void *originals) {
    name_beneath = own_name();
    beneath = originals;
}

/* False: there is none, or the program has set an allocator over it (tracemalloc does), and that is what counts. */
static bool get_hook(PyMemAllocatorDomain domain, PyMemAllocatorEx *hook) {
    PyMem_GetAllocator(domain, hook);
    return beneath && hook->ctx == &beneath[domain];
}

const char *_PyMem_GetCurrentAllocatorName(void) {
    PyMemAllocatorEx hook;

    for (int i = PYMEM_DOMAIN_RAW; i <= PYMEM_DOMAIN_OBJ; i++)
        if (!get_hook((PyMemAllocatorDomain)i, &hook))
            return own_name();
    return name_beneath;
}

/* From 3.12 on interpreters may run at once, each with a GIL of its own. */
static bool has_one_interpreter(void) {
    PyInterpreterState *first = PyInterpreterState_Head();

    return !first || !PyInterpreterState_Next(first);
}

/* What CPython looks for is the address of malloc(). pymalloc's does not look at its ctx, so the hook's may stay:
 * whoever allocates at that moment in another interpreter finds two things that go together. Those of the debug hooks
 * do. */
static bool make_bare(const PyMemAllocatorEx *hook, PyMemAllocatorEx *bare) {
    const PyMemAllocatorEx *original = &beneath[PYMEM_DOMAIN_OBJ];

    if (original->ctx && !has_one_interpreter())
        return false;
    *bare = original->ctx ? *original : *hook;
    bare->malloc = original->malloc;
    return true;
}

/* False: no hook hides what is asked for, or it must stay. */
static bool uncover(PyMemAllocatorEx *hook) {
    PyMemAllocatorEx bare;

    if (!get_hook(PYMEM_DOMAIN_OBJ, hook) || !make_bare(hook, &bare))
        return false;
    PyMem_SetAllocator(PYMEM_DOMAIN_OBJ, &bare);
    return true;
}

/* With the GIL, as CPython calls it; nothing is allocated meanwhile. */
int _PyObject_DebugMallocStats(FILE *out) {
    PyMemAllocatorEx hook;
    bool is_bare = uncover(&hook);
    int printed = own_stats(out);

    if (is_bare)
        PyMem_SetAllocator(PYMEM_DOMAIN_OBJ, &hook);
    return printed;
}

static PyObject *debugmallocstats(PyObject *self, PyObject *none) {
    PyMemAllocatorEx hook;
    bool is_bare = uncover(&hook);
    PyObject *result = own_method(self, none);

    if (is_bare)
        PyMem_SetAllocator(PYMEM_DOMAIN_OBJ, &hook);
    return result;
}

void pie_pymem_answers_in_sys(void) {
    PyObject *function = PySys_GetObject("_debugmallocstats");

    if (beneath && !own_method && !pie_python_PyObject_DebugMallocStats)
        own_method = pie_function_exchange(function, "_debugmallocstats", METH_NOARGS, debugmallocstats);
}
