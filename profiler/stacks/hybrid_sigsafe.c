/* SPDX-License-Identifier: Apache-2.0 */

/* The rule (needs no symbols, so it holds on stripped libraries, link-time clones and custom evaluators): an evaluation
 * loop keeps an object of its own in its C frame, and the outermost Python frame that it runs carries that object's
 * address as its marker. So a native frame that contains the marker of the next marked Python frame *is* the loop: the
 * Python frames up to the marked one are put in its place.
 *
 * The interpreter's own frames next below a Python frame, through which one line called another, tell nothing that the
 * two lines do not: they are left out. All other native frames stay. */

#include "profiler/stacks/hybrid.h"

#include "profiler/base/counters.h"
#include "profiler/base/home.h"
#include "profiler/stacks/cct.h"

#include <stdatomic.h>

static _Atomic bool starting;

void pie_hybrid_set_starting(bool is_starting) {
    atomic_store_explicit(&starting, is_starting, memory_order_relaxed);
}

/* A return address names the instruction after the call: one less lies inside the call. */
static uint64_t native_key(const struct pie_native_frame *native, size_t index) {
    return pie_cct_module_key(native[index].module, index == 0 ? native[0].ip : native[index].ip - 1);
}

static size_t next_marked(const struct pie_pyframe *python, size_t n, size_t from) {
    while (from < n && !python[from].marker)
        from++;
    return from;
}

/* Where the last frame ends is not known. If the walk could not go on from there, only the interpreter's own code may
 * be a loop all the same: a foreign function without call frame information is none. */
static bool contains(const struct pie_native_frame *native, size_t n, size_t index, uintptr_t address) {
    const struct pie_native_frame *frame = &native[index];

    if (address < frame->sp)
        return false;
    if (index + 1 < n)
        return address < native[index + 1].sp;
    return !frame->is_blind || pie_home_contains(frame->ip);
}

static bool put_python(const struct pie_pystack_ops *ops, const struct pie_pyframe *frame, uint64_t *path) {
    uint32_t id = ops->intern(frame->code);

    if (!id) { /* its code is going, or its memory was not whole */
        pie_counter_add(PIE_COUNTER_PYTHON_INVALID, 1);
        return false;
    }
    if (id == PIE_CCT_CODE_FULL) {
        pie_counter_add(PIE_COUNTER_CODE_FULL, 1);
        *path = pie_cct_python_key(id, 0);
    } else {
        *path = pie_cct_python_key(id, ops->instr_offset(frame->code, frame->instr));
    }
    return true;
}

struct pie_hybrid pie_hybrid_merge(const struct pie_pystack_ops *ops, const struct pie_native_frame *native,
                                   size_t n_native, const struct pie_pyframe *python, size_t n_python,
                                   uint64_t *path) {
    struct pie_hybrid result = {0};
    size_t p = 0;
    bool is_starting = atomic_load_explicit(&starting, memory_order_relaxed);
    bool seen_loop = false, leaves_out = false; /* the interpreter's own frames, until one of others comes */

    for (size_t i = 0; i < n_native; i++) {
        size_t marked = next_marked(python, n_python, p);
        if (marked < n_python && contains(native, n_native, i, python[marked].marker)) {
            for (; p <= marked; p++)
                if (put_python(ops, &python[p], &path[result.depth]))
                    result.depth++;
            seen_loop = leaves_out = true;
            continue;
        }
        leaves_out = leaves_out && pie_home_contains(native[i].ip);
        if (!leaves_out)
            path[result.depth++] = native_key(native, i);
        leaves_out = leaves_out || is_starting;
        if (!seen_loop) {
            result.native_on_top++;
            result.top_depth = result.depth;
        }
    }
    for (; p < n_python; p++) {
        result.unmatched += python[p].marker != 0;
        if (put_python(ops, &python[p], &path[result.depth]))
            result.depth++;
    }
    return result;
}
