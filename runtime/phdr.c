/* SPDX-License-Identifier: Apache-2.0 */

/* The snapshot is refreshed at each iteration by the collection thread (which looks for new libraries at each flush), if
 * the loader's counters have moved. Old lists are never freed, since a handler may be reading one; they are small, and a
 * list is made at most once a second. */

#include "runtime/phdr.h"

#include "profiler/thread.h"
#include "runtime/export.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef int (*callback_fn)(struct dl_phdr_info *, size_t, void *);
typedef int (*iterate_fn)(callback_fn, void *);

struct snapshot {
    unsigned long long adds, subs;
    size_t count, room;
    struct dl_phdr_info modules[];
};

static iterate_fn real_iterate;
/* Release by publish(), acquire by handlers. The same libraries are there in a forked child. */
static _Atomic(struct snapshot *) published;

static struct snapshot *snapshot_new(size_t room) {
    struct snapshot *snapshot = malloc(sizeof *snapshot + room * sizeof snapshot->modules[0]);

    if (snapshot)
        *snapshot = (struct snapshot){.room = room};
    return snapshot;
}

static int collect(struct dl_phdr_info *info, size_t size, void *data) {
    struct snapshot **snapshot = data;
    struct snapshot *s = *snapshot;

    if (s->count == s->room) {
        struct snapshot *grown = realloc(s, sizeof *s + s->room * 2 * sizeof s->modules[0]);
        if (!grown)
            return 1;
        grown->room *= 2;
        *snapshot = s = grown;
    }
    s->modules[s->count++] = *info;
    s->adds = info->dlpi_adds;
    s->subs = info->dlpi_subs;
    return 0;
}

static int note_counters(struct dl_phdr_info *info, size_t size, void *data) {
    unsigned long long *counters = data;

    counters[0] = info->dlpi_adds;
    counters[1] = info->dlpi_subs;
    return 1; /* they are the same for all */
}

void pie_phdr_refresh(void) {
    unsigned long long counters[2] = {0, 0};
    struct snapshot *old = atomic_load_explicit(&published, memory_order_acquire);

    real_iterate(note_counters, counters);
    if (old && old->adds == counters[0] && old->subs == counters[1])
        return;
    struct snapshot *snapshot = snapshot_new(old ? old->count + 16 : 64);
    if (!snapshot)
        return;
    real_iterate(collect, &snapshot);
    atomic_store_explicit(&published, snapshot, memory_order_release);
}

void pie_phdr_init(void) {
    real_iterate = (iterate_fn)dlsym(RTLD_NEXT, "dl_iterate_phdr");
    if (real_iterate)
        pie_phdr_refresh();
}

static int iterate_snapshot(callback_fn callback, void *data) {
    struct snapshot *snapshot = atomic_load_explicit(&published, memory_order_acquire);
    int r = 0;

    for (size_t i = 0; snapshot && r == 0 && i < snapshot->count; i++) {
        struct dl_phdr_info module = snapshot->modules[i];
        r = callback(&module, sizeof module, data);
    }
    return r;
}

PIE_EXPORT int dl_iterate_phdr(callback_fn callback, void *data) {
    struct pie_thread *thread = pie_thread_self();

    if (thread && thread->inside)
        return iterate_snapshot(callback, data);
    if (!real_iterate)
        real_iterate = (iterate_fn)dlsym(RTLD_NEXT, "dl_iterate_phdr");
    if (!thread && real_iterate) /* the collection thread, or one that is not profiled */
        pie_phdr_refresh();
    return real_iterate ? real_iterate(callback, data) : 0;
}
