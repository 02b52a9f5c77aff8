/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>

#include "runtime/stacks/locks.h"
#include "runtime/stacks/pyframe.h"

#include "profiler/base/safe_load.h"

#include <string.h>

/* CPython 3.11 to 3.13.
 *
 * The call that waits for a reentrant lock has it on its frame's evaluation stack: the lock, or for `with` its bound
 * __exit__. What lies there may be old, but the lock must be of that type and wait at that futex. It is a structure
 * without a public declaration: behind the object's head come its semaphore and its owner. Every load is
 * fault-tolerant. */
#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030e0000
#error "this file is for CPython 3.11 to 3.13"
#endif

enum {
    SLOTS_MAX = 512, /* of the frame that are looked at */
    SEMAPHORE_AT = sizeof(PyObject),
    OWNER_AT = SEMAPHORE_AT + sizeof(PyThread_type_lock),
    SEMAPHORE_BYTES = 32, /* of the C library, its futex included */
};

static bool load(uintptr_t base, size_t offset, uintptr_t *ret) {
    return pie_pyframe_is_pointer(base) && pie_safe_load((const void *)(base + offset), ret);
}

static bool is_rlock(uintptr_t object) {
    static const char name[] = "_thread.RLock";
    uintptr_t type, at;
    char text[sizeof name];

    return load(object, offsetof(PyObject, ob_type), &type) &&
           load(type, offsetof(PyTypeObject, tp_name), &at) &&
           pie_safe_copy(text, (const void *)at, sizeof text) && memcmp(text, name, sizeof name) == 0;
}

/* What a bound method of native code is bound to, or the object itself. */
static uintptr_t unbound(uintptr_t object) {
    uintptr_t type, self;

    if (load(object, offsetof(PyObject, ob_type), &type) && type == (uintptr_t)&PyCFunction_Type &&
        load(object, offsetof(PyCFunctionObject, m_self), &self))
        return self;
    return object;
}

static uintptr_t owner_at(uintptr_t object, uintptr_t futex) {
    uintptr_t semaphore, owner;

    if (!is_rlock(object) || !load(object, SEMAPHORE_AT, &semaphore) || futex < semaphore ||
        futex - semaphore >= SEMAPHORE_BYTES || !load(object, OWNER_AT, &owner))
        return 0;
    return owner;
}

static size_t slots_of(uintptr_t code) {
    int locals, stack;

    if (!pie_safe_copy(&locals, (const void *)(code + offsetof(PyCodeObject, co_nlocalsplus)),
                       sizeof locals) ||
        !pie_safe_copy(&stack, (const void *)(code + offsetof(PyCodeObject, co_stacksize)), sizeof stack) ||
        locals < 0 || stack < 0 || locals > SLOTS_MAX || stack > SLOTS_MAX)
        return 0;
    return (size_t)locals + (size_t)stack;
}

uintptr_t pie_rlock_owner(uintptr_t tstate, uintptr_t futex) {
    uintptr_t frame, code, object;

    if (!pie_pyframe_find_first(tstate, &frame) || !load(frame, pie_pyframe_stack.code_at, &code))
        return 0;
    size_t slots = slots_of(code);
    for (size_t i = 0; i < slots; i++) {
        uintptr_t owner = 0;
        if (!load(frame, pie_pyframe_stack.locals_at + i * sizeof object, &object))
            return 0;
        if (object)
            owner = owner_at(unbound(object), futex);
        if (owner)
            return owner;
    }
    return 0;
}
