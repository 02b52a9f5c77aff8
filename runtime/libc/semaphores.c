/* SPDX-License-Identifier: Apache-2.0 */

/* A lock of Python is a semaphore, which does not say who holds it. So the functions that take one note the thread. */

#include "profiler/thread/lock_holders.h"
#include "runtime/libc/export.h"

#include <dlfcn.h>
#include <semaphore.h>
#include <stdint.h>
#include <time.h>

/* Set once, before the program has threads: no lock and no barrier. */
static struct {
    int (*trywait)(sem_t *);
    int (*wait)(sem_t *);
    int (*timedwait)(sem_t *, const struct timespec *);
    int (*clockwait)(sem_t *, clockid_t, const struct timespec *);
} libc;

/* dlsym() takes locks, and a vfork child must not. A library's constructor may come even before this one. */
static __attribute__((constructor(101))) void resolve(void) {
    *(void **)&libc.wait = dlsym(RTLD_NEXT, "sem_wait");
    *(void **)&libc.timedwait = dlsym(RTLD_NEXT, "sem_timedwait");
    *(void **)&libc.clockwait = dlsym(RTLD_NEXT, "sem_clockwait");
    *(void **)&libc.trywait = dlsym(RTLD_NEXT, "sem_trywait");
}

static void need_libc(void) {
    if (!libc.trywait)
        resolve();
}

static int noted(int r, const sem_t *semaphore) {
    if (r == 0)
        pie_lock_taken((uintptr_t)semaphore);
    return r;
}

PIE_EXPORT int sem_trywait(sem_t *semaphore) {
    need_libc();
    return noted(libc.trywait(semaphore), semaphore);
}

PIE_EXPORT int sem_wait(sem_t *semaphore) {
    need_libc();
    pie_lock_wait((uintptr_t)semaphore);
    int r = libc.wait(semaphore);
    pie_lock_wait(0);
    return noted(r, semaphore);
}

PIE_EXPORT int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until) {
    need_libc();
    pie_lock_wait((uintptr_t)semaphore);
    int r = libc.timedwait(semaphore, until);
    pie_lock_wait(0);
    return noted(r, semaphore);
}

PIE_EXPORT int sem_clockwait(sem_t *restrict semaphore, clockid_t clock,
                             const struct timespec *restrict until) {
    need_libc();
    pie_lock_wait((uintptr_t)semaphore);
    int r = libc.clockwait(semaphore, clock, until);
    pie_lock_wait(0);
    return noted(r, semaphore);
}
