/* SPDX-License-Identifier: Apache-2.0 */

/* Debug registers by ptrace (ptrace_registers.h), where perf events are refused: one call for all four registers, so
 * what is disarmed waits for the next call or the end of the handler (catch_up).
 *
 * Their trap differs from that of an event. It has no cookie: an execute breakpoint is known by its address, for data
 * DR6 is asked, in the call that also takes away what fired. And it is forced: if SIGTRAP is blocked, the kernel sets
 * the default action and the process dies. So SIGTRAP stays open in all handlers while this is in use
 * (runtime/libc/signals.h), nothing is armed on a thread where it is blocked after all, and registers are taken away
 * for the time of pthread_create() and fork(), inside of which the C library blocks all signals. */

#include "profiler/watch/debug_registers.h"

#include "profiler/base/clocks.h"
#include "profiler/machine/ptrace_registers.h"
#include "profiler/thread/thread.h"
#include "profiler/watch/watch.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A helper's work takes 16 us, and 130 where virtual processors sleep and have to be woken for it; what wall time shows
 * beyond this was another process's turn. */
static const uint64_t CALL_MAX_NS = 250000;

/* What is refused is not asked for again at each end of a handler. */
static const uint64_t RETRY_NS = 100000000;

/* The C library keeps what belongs to a thread behind the address that names it, and touches it under blocked
 * signals. */
enum { CONTROL_BLOCK_BYTES = 4096 };

/* Of this process. Kept in a forked child until it chooses anew. */
static _Atomic bool is_used;

bool pie_debug_ptrace_is_used(void) {
    return atomic_load_explicit(&is_used, memory_order_relaxed);
}

void pie_debug_ptrace_use(bool use) {
    atomic_store_explicit(&is_used, use, memory_order_relaxed);
}

/* Makes the registers what is wanted. */
static int apply(struct pie_thread *thread, bool drops_fired, uint64_t *ret_status) {
    struct pie_debug_ptrace *state = &pie_watch_of(thread)->ptrace;
    struct pie_ptrace_request request = {.control = state->wanted, .drops_fired = drops_fired};
    uint32_t inside = thread->inside;

    if (state->paused)
        return -EAGAIN;
    if (state->is_over)
        return -EPERM;
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++)
        request.address[i] = state->address[i];
    if (!inside)
        pie_thread_enter(thread, PIE_INSIDE_HOOK);
    uint64_t start_ns = pie_monotonic_ns(), start_cpu_ns = pie_thread_cpu_ns();
    int r = pie_ptrace_set(&request);
    uint64_t cpu_ns = pie_thread_cpu_ns() - start_cpu_ns, took_ns = pie_monotonic_ns() - start_ns;
    took_ns = took_ns < CALL_MAX_NS ? took_ns : CALL_MAX_NS;
    state->waited_ns += took_ns > cpu_ns ? took_ns - cpu_ns : 0;
    thread->inside = inside;
    if (r != -EPERM && r != -EBUSY) /* those before anything was touched */
        state->set = request.control;
    if (r == 0)
        state->wanted = request.control;
    *ret_status = request.status;
    return r;
}

/* A program that has become another user may not be traced (PR_SET_DUMPABLE), and registers that nobody can take away
 * cost a trap for each touch. So it may, for the time of one call. */
static int take_away(struct pie_thread *thread, uint64_t *ret_status) {
    int r = -EPERM;

    pie_watch_of(thread)->ptrace.wanted = 0;
    if (prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0 || prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0)
        return r;
    r = apply(thread, false, ret_status);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return r;
}

/* Returns 0 or -errno; what is refused is asked for again after a while. */
static int try_again(struct pie_thread *thread, bool drops_fired, uint64_t *ret_status) {
    struct pie_debug_ptrace *state = &pie_watch_of(thread)->ptrace;
    uint64_t now_ns = pie_monotonic_ns();

    if (now_ns < state->retry_ns)
        return -EAGAIN;
    int r = apply(thread, drops_fired, ret_status);
    if (r == -EPERM)
        r = take_away(thread, ret_status);
    state->retry_ns = r < 0 ? now_ns + RETRY_NS : 0;
    return r;
}

static void catch_up(struct pie_thread *thread) {
    uint64_t status;

    if (pie_watch_of(thread)->ptrace.set != pie_watch_of(thread)->ptrace.wanted)
        try_again(thread, false, &status);
}

/* Nor may what every handler touches first be watched, which is errno: its trap would end in itself. */
static bool is_of_c_library(uint64_t address, unsigned length) {
    uint64_t error = (uintptr_t)&errno;

    if (address < error + sizeof(int) && error < address + length)
        return true;
    for (size_t i = 0; i < pie_thread_count(); i++) {
        uintptr_t block = atomic_load_explicit(&pie_thread_at(i)->control_block, memory_order_relaxed);
        if (address - block < CONTROL_BLOCK_BYTES)
            return true;
    }
    return false;
}

static int arm(struct pie_thread *thread, unsigned index, enum pie_debug_kind kind, uint64_t address,
               unsigned length, uint64_t cookie) {
    static const unsigned types[] = {
        [PIE_DEBUG_EXECUTE] = PIE_PTRACE_EXECUTE,
        [PIE_DEBUG_STORE] = PIE_PTRACE_STORE,
        [PIE_DEBUG_LOAD_STORE] = PIE_PTRACE_LOAD_STORE,
    };
    struct pie_debug_ptrace *state = &pie_watch_of(thread)->ptrace;
    uint64_t status;

    if (kind != PIE_DEBUG_EXECUTE && is_of_c_library(address, length))
        return -EINVAL;
    state->wanted &= ~pie_ptrace_control_mask(index);
    uint64_t others = state->wanted;
    state->wanted |= pie_ptrace_control(index, types[kind], kind == PIE_DEBUG_EXECUTE ? 1 : length);
    state->address[index] = address;
    int r = apply(thread, false, &status);
    if (r < 0) {
        state->wanted = others;
        catch_up(thread);
    }
    return r;
}

static void disarm(struct pie_thread *thread, unsigned index) {
    pie_watch_of(thread)->ptrace.wanted &= ~pie_ptrace_control_mask(index);
    pie_watch_of(thread)->ptrace.resumed &= ~pie_ptrace_control_mask(index);
}

static void release(struct pie_thread *thread) {
    pie_watch_of(thread)->ptrace.wanted = pie_watch_of(thread)->ptrace.resumed = 0;
    pie_watch_of(thread)->ptrace.retry_ns = 0;
    catch_up(thread);
}

static bool is_execute_at(const struct pie_debug_ptrace *state, unsigned index, uint64_t rip) {
    return (state->set >> (2 * index) & 1) && (state->set >> (16 + 4 * index) & 3) == PIE_PTRACE_EXECUTE &&
           state->address[index] == rip;
}

unsigned pie_debug_ptrace_fired(struct pie_thread *thread, uint64_t rip) {
    struct pie_debug_ptrace *state = &pie_watch_of(thread)->ptrace;
    unsigned fired = 0;
    uint64_t before = state->set, status;

    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++)
        fired |= (unsigned)is_execute_at(state, i, rip) << i;
    if (fired)
        return fired;
    if (try_again(thread, true, &status) < 0)
        return 0;
    for (unsigned i = 0; i < PIE_DEBUG_REGISTERS; i++)
        if ((status >> i & 1) && (before >> (2 * i) & 1) && !(state->set >> (2 * i) & 1))
            fired |= 1u << i;
    return fired;
}

void pie_debug_ptrace_pause(struct pie_thread *thread) {
    struct pie_debug_ptrace *state = thread ? &pie_watch_of(thread)->ptrace : NULL;
    int error = errno;

    if (!state || !pie_debug_ptrace_is_used() || thread->inside || syscall(SYS_gettid) != thread->tid)
        return; /* the last: a child of vfork() has its parent's memory and registers of its own */
    pie_thread_enter(thread, PIE_INSIDE_HOOK);
    state->resumed = state->wanted;
    state->wanted = 0;
    state->retry_ns = 0;
    catch_up(thread);
    state->paused = true;
    pie_thread_leave(thread);
    errno = error;
}

void pie_debug_ptrace_resume(struct pie_thread *thread) {
    struct pie_debug_ptrace *state = thread ? &pie_watch_of(thread)->ptrace : NULL;
    int error = errno;

    if (!state || !state->paused)
        return;
    pie_thread_enter(thread, PIE_INSIDE_HOOK);
    state->paused = false;
    state->wanted = state->resumed;
    catch_up(thread);
    pie_thread_leave(thread);
    errno = error;
}

void pie_debug_ptrace_end(struct pie_thread *thread) {
    pie_debug_ptrace_pause(thread);
    if (thread && pie_watch_of(thread)->ptrace.paused)
        pie_watch_of(thread)->ptrace.is_over = true;
}

const struct pie_debug_ops pie_debug_ptrace = {
    .arm = arm, .disarm = disarm, .release = release, .catch_up = catch_up};
