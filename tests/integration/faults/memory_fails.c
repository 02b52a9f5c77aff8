/* SPDX-License-Identifier: Apache-2.0 */

/* Preloaded: an allocator on top of the next one, of which every n-th call fails. In all threads from the beginning
 * with FAIL_EVERY=n in the environment, and after FAIL_AFTER=m calls; or from fail_every_in_all_threads(n) on; or in
 * the thread that calls fail_every(n), until it calls fail_every(0). A crash is named by the exported function that it
 * happens in. With -DPARTIAL it replaces only a part of the C library's functions, as some tools do. */

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

static __thread unsigned own_every __attribute__((tls_model("initial-exec")));
static __thread unsigned own_calls __attribute__((tls_model("initial-exec")));
static long all_every = -1, all_after, all_calls;

static volatile int crashed;

void fail_every(unsigned n);
void fail_every_in_all_threads(long n);

void fail_every(unsigned n) {
    own_every = n;
    own_calls = 0;
}

static void on_crash(int signal_number, siginfo_t *info, void *context) {
    Dl_info found = {0};
    char text[256];

    (void)info;
    crashed = 1;
    dladdr((void *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP], &found);
    int length = snprintf(text, sizeof text, "crashed in %s\n", found.dli_sname ? found.dli_sname : "?");
    (void)!write(2, text, (size_t)length);
    signal(signal_number, SIG_DFL); /* the instruction is run again */
}

static void name_crashes(void) {
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO};

    sigaction(SIGSEGV, &action, NULL);
}

__attribute__((constructor)) static void name_crashes_from_the_start(void) {
    if (getenv("FAIL_EVERY"))
        name_crashes();
}

void fail_every_in_all_threads(long n) {
    name_crashes();
    all_after = all_calls;
    all_every = n;
}

static int fails(void) {
    if (crashed)
        return 0;
    if (own_every && ++own_calls % own_every == 0) {
        errno = ENOMEM;
        return 1;
    }
    if (all_every < 0) {
        extern char **environ;
        if (!environ)
            return 0; /* the C library is not ready */
        all_every = getenv("FAIL_EVERY") ? atol(getenv("FAIL_EVERY")) : 0;
        all_after = getenv("FAIL_AFTER") ? atol(getenv("FAIL_AFTER")) : 0;
    }
    if (!all_every || __atomic_add_fetch(&all_calls, 1, __ATOMIC_RELAXED) <= all_after ||
        (all_calls - all_after) % all_every != 0)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

void *malloc(size_t size) {
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
    return size && fails() ? NULL : __libc_realloc(block, size);
}

#ifndef PARTIAL
void free(void *block) {
    __libc_free(block);
}

void *memalign(size_t alignment, size_t size) {
    return fails() ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    void *got = memalign(alignment, size);

    if (!got)
        return ENOMEM;
    *block = got;
    return 0;
}

size_t malloc_usable_size(void *block) {
    static size_t (*real)(void *);

    if (!real)
        real = (size_t (*)(void *))dlsym(RTLD_NEXT, "malloc_usable_size");
    return real(block);
}
#endif
