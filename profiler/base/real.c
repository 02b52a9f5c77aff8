/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/base/real.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

typedef int (*pthread_create_fn)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static pthread_create_fn real_pthread_create; /* the same in a forked child */

void pie_real_init(void) {
    if (!real_pthread_create)
        real_pthread_create = (pthread_create_fn)dlsym(RTLD_NEXT, "pthread_create");
}

int pie_real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *),
                            void *argument) {
    pie_real_init(); /* a library's constructor may come before main() */
    return real_pthread_create ? real_pthread_create(thread, attributes, routine, argument) : EAGAIN;
}
