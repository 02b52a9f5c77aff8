/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/profiler/code/stepping.h"

#include "profiler/base/safe_load.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { TRAP_FLAG = 0x100, REPEATS_MAX = 64 };

static struct step *steps;
static size_t n_steps, max_steps, mapped_bytes, repeats;

void stepping_registers(const void *context, uint64_t registers[PIE_ACCESS_REGISTERS]) {
    static const int order[PIE_ACCESS_REGISTERS] = {
        REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
        REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
    };
    const greg_t *gregs = ((const ucontext_t *)context)->uc_mcontext.gregs;

    for (int i = 0; i < PIE_ACCESS_REGISTERS; i++)
        registers[i] = (uint64_t)gregs[order[i]];
}

/* Once the log is full the rest runs at full speed. */
static void on_step(int signal, siginfo_t *info, void *context) {
    greg_t *gregs = ((ucontext_t *)context)->uc_mcontext.gregs;
    uint64_t rip = (uint64_t)gregs[REG_RIP];

    if (n_steps == max_steps) {
        gregs[REG_EFL] &= ~TRAP_FLAG;
        return;
    }
    bool is_gap = repeats > REPEATS_MAX;
    repeats = n_steps && steps[n_steps - 1].rip == rip ? repeats + 1 : 0;
    if (repeats > REPEATS_MAX)
        return;
    steps[n_steps].rip = rip;
    steps[n_steps].is_gap = is_gap;
    stepping_registers(context, steps[n_steps++].registers);
}

static void set_trap_flag(bool on) {
    if (on)
        __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
    else
        __asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
}

size_t stepping_run(void (*work)(void), size_t max, const struct step **ret_steps) {
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO | SA_ONSTACK}, old;

    if (steps)
        munmap(steps, mapped_bytes);
    mapped_bytes = max * sizeof *steps;
    steps =
        mmap(NULL, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (steps == MAP_FAILED) {
        steps = NULL;
        return 0;
    }
    n_steps = repeats = 0;
    max_steps = max;
    sigaction(SIGTRAP, &action, &old);
    set_trap_flag(true);
    work();
    set_trap_flag(false);
    sigaction(SIGTRAP, &old, NULL);
    *ret_steps = steps;
    return n_steps;
}

static void on_fault(int signal, siginfo_t *info, void *context) {
    greg_t *gregs = ((ucontext_t *)context)->uc_mcontext.gregs;
    uintptr_t go_on = pie_safe_load_fix((uintptr_t)gregs[REG_RIP]);

    if (!go_on)
        _exit(99);
    gregs[REG_RIP] = (greg_t)go_on;
}

void stepping_catch_faults(void) {
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};

    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}
