/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/stacks/state_offsets.h"

#include "runtime/stacks/collections.h"
#include "runtime/stacks/pyframe.h"

#include "profiler/base/safe_load.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* A collection begins by setting the counts of its generation and of the younger ones to 0, and by counting itself in
 * the next older one. Objects that are made or freed meanwhile change the youngest's count only. 3.14.0 to 3.14.4
 * collect in steps instead, with other data in the place of the generations; 3.14.5 collects as 3.13 does. */
#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x03100000
#error "this file is for CPython 3.11 to 3.15"
#endif

enum {
    STEPS_BEGIN = 0x030e0000,
    STEPS_END = 0x030e05c0
}; /* the release candidate of 3.14.5 was the first without */

/* That of the interpreter which runs, and not of the headers. */
static bool has_generations(void) {
    return Py_Version < STEPS_BEGIN || Py_Version >= STEPS_END;
}

/* Of the lists in the collector's state; 0: there are none. Relaxed: a number. Fork child: as it was. */
static _Atomic size_t lists_at = offsetof(struct _gc_runtime_state, generations);

#if PY_VERSION_HEX < 0x030e0000
enum {
    HEADS = 3,
    LINK_FLAGS = 3, /* below the address of the one before */
    LIST_BYTES = sizeof(struct gc_generation)
};

/* The last of a list has its head as the next one, and the first has it as the one before. */
static bool is_ring(uintptr_t head) {
    uintptr_t first, last, before, after;
    return pie_safe_load((const void *)head, &first) &&
           pie_safe_load((const void *)(head + sizeof head), &last) &&
           pie_safe_load((const void *)(first + sizeof head), &before) &&
           pie_safe_load((const void *)(last & ~(uintptr_t)LINK_FLAGS), &after) &&
           (before & ~(uintptr_t)LINK_FLAGS) == head && after == head;
}

static bool are_rings(uintptr_t list) {
    for (int i = 0; i < HEADS; i++)
        if (!is_ring(list + (uintptr_t)i * LIST_BYTES))
            return false;
    return true;
}

/* They follow an int. Later releases of 3.13, as 3.13.5, align a list to 4 bytes only, earlier ones to 8. */
size_t pie_collections_find_lists(uintptr_t gc) {
    size_t packed = offsetof(struct _gc_runtime_state, debug) + sizeof(int),
           aligned = (packed + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *),
           at = are_rings(gc + aligned)  ? aligned
                : are_rings(gc + packed) ? packed
                                         : 0;
    atomic_store_explicit(&lists_at, at, memory_order_relaxed);
    return at;
}
#endif

void pie_collections_verify(uintptr_t tstate) {
#if PY_VERSION_HEX < 0x030e0000
    const struct pie_state_offsets at = pie_state_offsets();
    uintptr_t interpreter;
    if (pie_safe_load((const void *)(tstate + at.interpreter), &interpreter))
        pie_collections_find_lists(interpreter + at.collector);
#endif
}

static bool load_int(uintptr_t base, size_t offset, int *ret) {
    return pie_safe_copy(ret, (const void *)(base + offset), sizeof *ret);
}

int pie_collections_generation(uintptr_t tstate) {
    const struct pie_state_offsets at = pie_state_offsets();
    uintptr_t interpreter;
    int collecting, of_first, of_second;

    if (!has_generations() || !pie_pyframe_is_pointer(tstate) ||
        !pie_safe_load((const void *)(tstate + at.interpreter), &interpreter) ||
        !pie_pyframe_is_pointer(interpreter))
        return -1;
    uintptr_t gc = interpreter + at.collector;
    size_t lists = atomic_load_explicit(&lists_at, memory_order_relaxed);
    size_t count = lists + offsetof(struct gc_generation, count);
    if (!lists || !load_int(gc, offsetof(struct _gc_runtime_state, collecting), &collecting) || !collecting ||
        !load_int(gc, count + sizeof(struct gc_generation), &of_first) ||
        !load_int(gc, count + 2 * sizeof(struct gc_generation), &of_second))
        return -1;
    if (of_first > 0)
        return 0;
    return of_second > 0 ? 1 : 2;
}
