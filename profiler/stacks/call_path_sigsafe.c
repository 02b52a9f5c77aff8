/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/stacks/call_path.h"

#include "profiler/base/counters.h"
#include "profiler/base/home.h"
#include "profiler/stacks/cct.h"
#include "profiler/thread/thread.h"

static void begin(struct pie_thread *thread) {
    pie_call_path_of(thread)->last_depth = 0;
}

struct pie_thread_part pie_call_path_part = {.bytes = sizeof(struct pie_call_path_thread), .begin = begin};

struct pie_cct_id pie_call_path_insert(struct pie_thread *thread, const uint64_t *path, size_t depth) {
    struct pie_call_path_thread *last = pie_call_path_of(thread);
    struct pie_cct_id node = pie_cct_root();
    size_t i = 0;

    if (last->last_depth > 0 && pie_cct_half(last->last_nodes[0]) != pie_cct_half(node))
        last->last_depth = 0; /* those will be cleared */
    while (i < depth && i < last->last_depth && last->last_keys[i] == path[depth - 1 - i])
        node = last->last_nodes[i++];
    for (; i < depth; i++) {
        uint64_t key = path[depth - 1 - i];
        node = pie_cct_child(node, key);
        if (pie_cct_is_full(node)) {
            pie_counter_add(PIE_COUNTER_CCT_FULL, 1);
            break;
        }
        last->last_keys[i] = key;
        last->last_nodes[i] = node;
    }
    last->last_depth = (uint32_t)i;
    return node;
}

static bool any_foreign(const struct pie_native_frame *frames, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!pie_home_contains(frames[i].ip))
            return true;
    return false;
}

/* The interpreter's own work is Python time; what a called C function or another library does is native time. In
 * between stand the helpers of operators (`a + b` on integers): native frames on top of the loop, but the loop is not
 * at a call, and they are distinguished from a library's operator (`a + b` on arrays) by where they lie. */
static bool is_python_time(const struct pie_call_path *taken, unsigned py_flags, bool foreign_on_top) {
    const struct pie_hybrid *hybrid = &taken->hybrid;

    if (!(py_flags & PIE_PYSTACK_PYTHON_THREAD) || hybrid->top_depth == hybrid->depth)
        return false;
    if (hybrid->native_on_top == 0)
        return true;
    return !(py_flags & PIE_PYSTACK_IN_CALL) && !foreign_on_top;
}

static void count_flags(unsigned py_flags, unsigned native_flags, const struct pie_hybrid *hybrid) {
    if (py_flags & PIE_PYSTACK_INVALID)
        pie_counter_add(PIE_COUNTER_PYTHON_INVALID, 1);
    if (py_flags & PIE_PYSTACK_TRUNCATED)
        pie_counter_add(PIE_COUNTER_PYTHON_TRUNCATED, 1);
    if (native_flags & PIE_UNWIND_TRUNCATED)
        pie_counter_add(PIE_COUNTER_NATIVE_TRUNCATED, 1);
    if (native_flags & PIE_UNWIND_BRIDGED)
        pie_counter_add(PIE_COUNTER_NATIVE_BRIDGED, 1);
    if (native_flags & PIE_UNWIND_EXOTIC)
        pie_counter_add(PIE_COUNTER_NATIVE_EXOTIC, 1);
    if (hybrid->unmatched)
        pie_counter_add(PIE_COUNTER_EVAL_UNMATCHED, 1);
}

struct stacks {
    size_t n_native, n_python;
    unsigned native_flags, py_flags;
};

static void walk(const struct pie_pystack_ops *ops, struct pie_thread *thread, const ucontext_t *ucontext,
                 struct stacks *ret_stacks) {
    struct pie_call_path_thread *frames = pie_call_path_of(thread);
    struct stacks stacks = {0};

    stacks.n_native = pie_unwind(ucontext, frames->native, PIE_FRAMES_MAX, &stacks.native_flags);
    stacks.n_python = ops->walk(frames->python, PIE_FRAMES_MAX, &stacks.py_flags);
    if (stacks.native_flags & PIE_UNWIND_BLIND && stacks.n_python)
        stacks.n_native = pie_unwind_bridge(ucontext, (uintptr_t)ops->eval_loop, frames->python,
                                            stacks.n_python, &frames->unwind_found, frames->native,
                                            stacks.n_native, PIE_FRAMES_MAX, &stacks.native_flags);
    *ret_stacks = stacks;
}

/* Both stacks as one path. ours: the number of native frames to leave out. */
static void take(const struct pie_pystack_ops *ops, struct pie_thread *thread, const struct stacks *stacks,
                 size_t ours, struct pie_call_path *ret_path) {
    struct pie_call_path_thread *frames = pie_call_path_of(thread);
    const struct pie_native_frame *native = frames->native + ours;
    size_t n_native = stacks->n_native - ours;
    struct pie_call_path taken = {.native = native,
                                  .native_count = n_native,
                                  .python = frames->python,
                                  .python_count = stacks->n_python,
                                  .path = frames->path};

    taken.hybrid = pie_hybrid_merge(ops, native, n_native, frames->python, stacks->n_python, frames->path);
    count_flags(stacks->py_flags, stacks->native_flags, &taken.hybrid);
    bool foreign_on_top = any_foreign(native, taken.hybrid.native_on_top);
    taken.is_python = is_python_time(&taken, stacks->py_flags, foreign_on_top);
    taken.is_foreign = foreign_on_top && taken.hybrid.native_on_top < n_native;
    taken.is_own_call = (stacks->py_flags & PIE_PYSTACK_IN_CALL) && !foreign_on_top &&
                        taken.hybrid.native_on_top > 0 && taken.hybrid.native_on_top < n_native &&
                        taken.hybrid.top_depth < taken.hybrid.depth;
    taken.node = pie_call_path_insert(thread, frames->path, taken.hybrid.depth);
    *ret_path = taken;
}

void pie_call_path_take(const struct pie_pystack_ops *ops, struct pie_thread *thread,
                        const ucontext_t *ucontext, bool is_after, struct pie_call_path *ret_path) {
    struct stacks stacks;

    walk(ops, thread, ucontext, &stacks);
    pie_call_path_of(thread)->native[0].ip -=
        is_after; /* unwound from where the registers are, named by what was done */
    take(ops, thread, &stacks, 0, ret_path);
}

/* The registers that pie_unwind() goes by. */
static void get_registers(ucontext_t *ucontext) {
    greg_t *gregs = ucontext->uc_mcontext.gregs;

    __asm__ volatile("lea 0(%%rip), %%rax\n\t"
                     "mov %%rax, %0\n\t"
                     "mov %%rsp, %1\n\t"
                     "mov %%rbp, %2\n\t"
                     "mov %%rbx, %3"
                     : "=m"(gregs[REG_RIP]), "=m"(gregs[REG_RSP]), "=m"(gregs[REG_RBP]), "=m"(gregs[REG_RBX])
                     :
                     : "rax");
}

enum { FRAMES_OF_OURS_MAX = 8 };

static size_t count_ours(const struct pie_native_frame *frames, size_t n, const void *caller) {
    for (size_t i = 0; i < n && i < FRAMES_OF_OURS_MAX; i++)
        if (frames[i].ip == (uintptr_t)caller)
            return i;
    return 0;
}

void pie_call_path_take_at_call(const struct pie_pystack_ops *ops, struct pie_thread *thread,
                                const void *caller, struct pie_call_path *ret_path) {
    ucontext_t here; /* only what get_registers() sets is read */
    struct stacks stacks;

    get_registers(&here);
    walk(ops, thread, &here, &stacks);
    struct pie_native_frame *native = pie_call_path_of(thread)->native;
    size_t ours = count_ours(native, stacks.n_native, caller);
    native[ours].ip--; /* a return address: the call is before it */
    take(ops, thread, &stacks, ours, ret_path);
}
