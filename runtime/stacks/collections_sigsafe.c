/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/stacks/state_offsets.h"

#include "runtime/stacks/collections.h"
#include "runtime/stacks/pyframe.h"

#include "profiler/base/safe_load.h"

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
    if (!load_int(gc, offsetof(struct _gc_runtime_state, collecting), &collecting) || !collecting ||
        !load_int(gc, offsetof(struct _gc_runtime_state, generations[1].count), &of_first) ||
        !load_int(gc, offsetof(struct _gc_runtime_state, generations[2].count), &of_second))
        return -1;
    if (of_first > 0)
        return 0;
    return of_second > 0 ? 1 : 2;
}
