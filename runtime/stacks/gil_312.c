/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/stacks/gil.h"

#include <stdatomic.h>

#include "runtime/stacks/pyframe.h"
#include "runtime/stacks/state_offsets.h"

#include "profiler/base/safe_load.h"

/* CPython 3.12 and later: the thread's interpreter points to the one that it uses. Its last holder still is it while it
 * is locked. */
#if PY_VERSION_HEX < 0x030c0000
#error "this file is for CPython 3.12 and later"
#endif

const bool pie_gil_is_there = true;

static atomic_bool is_off; /* relaxed: the reader may be late */

void pie_gil_disable(void) {
    atomic_store_explicit(&is_off, true, memory_order_relaxed);
}

static bool load(uintptr_t base, size_t offset, uintptr_t *ret) {
    return pie_pyframe_is_pointer(base) && pie_safe_load((const void *)(base + offset), ret);
}

bool pie_gil_read(uintptr_t tstate, struct pie_gil *ret_gil) {
    const struct pie_state_offsets at = pie_state_offsets();
    uintptr_t interpreter, gil, holder;
    int locked;

    if (atomic_load_explicit(&is_off, memory_order_relaxed) || !load(tstate, at.interpreter, &interpreter) ||
        !load(interpreter, at.gil, &gil) || !load(gil, at.gil_holder, &holder) ||
        !pie_safe_copy(&locked, (const void *)(gil + at.gil_locked), sizeof locked))
        return false;
    *ret_gil = (struct pie_gil){
        .low = gil, .high = gil + sizeof(struct _gil_runtime_state), .holder = locked == 1 ? holder : 0};
    return true;
}
