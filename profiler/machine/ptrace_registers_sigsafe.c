/* SPDX-License-Identifier: Apache-2.0 */

/* Registers that ptrace has set stay when the tracer lets go (arch/x86/kernel/ptrace.c keeps them in thread.ptrace_bps
 * until exec or the thread's end; children of fork and clone begin without), so the thread is traced for microseconds
 * only:
 *
 *   the thread   clone() a process that shares memory and descriptors  ->  waits for its end
 *   the process  PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_POKEUSER DR0 to DR3 and DR7, PTRACE_DETACH  ->  ends
 *
 * A process that stays would answer in 10 us instead of 16. But it would be seen: by whoever lists the program's
 * children or waits for all kinds of them, and it would have to follow each end of the program. This one has no exit
 * signal, so wait() and SIGCHLD know nothing of it, and it is gone before the handler goes on. Its stack lies in that
 * of the waiting thread. It runs where the kernel puts it: bound to the thread's processor it would wait its turn
 * behind whatever else runs there.
 *
 * CLONE_FS is not shared: an exec of another thread would find it so and not become setuid. CLONE_FILES is: closing
 * copies of the program's files could flush them. */

#include "profiler/machine/ptrace_registers.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK_BYTES = 4096 };

/* In older headers not yet defined: include/uapi/linux/prctl.h. */
enum { SET_PTRACER = 0x59616d61 };

/* yama (ptrace_scope 1) wants to be told which process may trace this one: found out by pie_ptrace_try(). */
static _Atomic bool is_announced;

struct helper {
    struct pie_ptrace_request *request;
    int32_t tid;                /* of the thread */
    _Atomic uint32_t may_begin; /* futex: yama has been told; release by the thread, acquire by the helper */
    _Atomic int32_t result; /* -EINPROGRESS until it is known; release by the helper, acquire by the thread */
};

uint64_t pie_ptrace_control(unsigned index, unsigned type, unsigned length) {
    static const uint64_t length_code[] = {[1] = 0, [2] = 1, [4] = 3, [8] = 2};

    return UINT64_C(1) << (2 * index) | (uint64_t)type << (16 + 4 * index) |
           length_code[length] << (18 + 4 * index);
}

uint64_t pie_ptrace_control_mask(unsigned index) {
    return UINT64_C(3) << (2 * index) | UINT64_C(15) << (16 + 4 * index);
}

static long poke(int32_t tid, unsigned index, uint64_t value) {
    return syscall(SYS_ptrace, PTRACE_POKEUSER, tid,
                   offsetof(struct user, u_debugreg) + index * sizeof(uint64_t), value);
}

static uint64_t without_fired(uint64_t control, uint64_t status) {
    for (unsigned i = 0; i < PIE_PTRACE_REGISTERS; i++)
        if ((status >> i & 1) && (control >> (16 + 4 * i) & 3) != PIE_PTRACE_EXECUTE)
            control &= ~pie_ptrace_control_mask(i);
    return control;
}

/* First all are switched off, since the kernel holds a new address against the old length. They are off as well after a
 * failure. */
static int change(int32_t tid, struct pie_ptrace_request *request) {
    uint64_t wanted = request->control;

    request->control = PIE_PTRACE_UNKNOWN;
    if (syscall(SYS_ptrace, PTRACE_PEEKUSER, tid, offsetof(struct user, u_debugreg[6]), &request->status) !=
            0 ||
        poke(tid, 7, 0) != 0)
        return -errno;
    request->control = 0;
    if (request->drops_fired)
        wanted = without_fired(wanted, request->status);
    for (unsigned i = 0; i < PIE_PTRACE_REGISTERS; i++)
        if ((wanted >> (2 * i) & 1) && poke(tid, i, request->address[i]) != 0)
            return -errno;
    if (wanted && poke(tid, 7, wanted) != 0) {
        int error = errno;
        if (poke(tid, 7, 0) != 0)
            request->control = PIE_PTRACE_UNKNOWN;
        return -error;
    }
    request->control = wanted;
    return 0;
}

/* A stop for a signal that came first is taken as well: the signal goes on with the thread. */
static int trace(int32_t tid, struct pie_ptrace_request *request) {
    int status = 0;
    long waited;

    if (syscall(SYS_ptrace, PTRACE_SEIZE, tid, 0, 0) != 0)
        return -errno;
    syscall(SYS_ptrace, PTRACE_INTERRUPT, tid, 0, 0);
    do
        waited = syscall(SYS_wait4, tid, &status, __WALL, NULL);
    while (waited < 0 && errno == EINTR);
    if (waited < 0 || !WIFSTOPPED(status))
        return -ESRCH; /* the program ends */
    int r = change(tid, request);
    long signal_number = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
    syscall(SYS_ptrace, PTRACE_DETACH, tid, 0, signal_number);
    return r;
}

/* Of all that glibc keeps by thread only errno is touched, which the waiting thread saves. A session of its own: no
 * signal to the program's process group stops it half-way. It never returns, so AddressSanitizer's marks of its frame
 * would stay. */
__attribute__((no_sanitize("address"))) static int help(void *argument) {
    struct helper *helper = argument;

    syscall(SYS_setsid);
    while (!atomic_load_explicit(&helper->may_begin, memory_order_acquire))
        syscall(SYS_futex, &helper->may_begin, FUTEX_WAIT, 0, NULL, NULL, 0);
    int r = trace(helper->tid, helper->request);
    atomic_store_explicit(&helper->result, r, memory_order_release);
    syscall(SYS_exit, 0);
    return 0;
}

static void await(pid_t child) {
    long r;

    do
        r = syscall(SYS_wait4, child, NULL, __WCLONE, NULL);
    while (r < 0 &&
           errno == EINTR); /* ECHILD: another thread waits for everything; it is gone all the same */
}

static int ask(struct pie_ptrace_request *request) {
    char stack[STACK_BYTES] __attribute__((aligned(16)));
    struct helper helper = {.request = request, .tid = (int32_t)syscall(SYS_gettid)};
    bool announces = atomic_load_explicit(&is_announced, memory_order_relaxed);

    atomic_init(&helper.may_begin, !announces);
    atomic_init(&helper.result, -EINPROGRESS);
    pid_t child = clone(help, stack + sizeof stack, CLONE_VM | CLONE_FILES | CLONE_UNTRACED, &helper);
    if (child < 0)
        return -EBUSY;
    if (announces) {
        prctl(SET_PTRACER, child, 0, 0, 0);
        atomic_store_explicit(&helper.may_begin, 1, memory_order_release);
        syscall(SYS_futex, &helper.may_begin, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
    await(child);
    int r = atomic_load_explicit(&helper.result, memory_order_acquire);
    if (r != -EINPROGRESS)
        return r;
    request->control = PIE_PTRACE_UNKNOWN; /* it was killed */
    return -EINTR;
}

int pie_ptrace_set(struct pie_ptrace_request *request) {
    uint64_t faults = UINT64_C(1) << (SIGSEGV - 1) | UINT64_C(1) << (SIGBUS - 1);
    uint64_t mask = ~(faults | UINT64_C(1) << (SIGTRAP - 1)), before;

    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, &before, sizeof mask);
    int r = ask(request);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
    return r;
}

void pie_ptrace_announce(bool announces) {
    atomic_store_explicit(&is_announced, announces, memory_order_relaxed);
}
