/* SPDX-License-Identifier: Apache-2.0 */

/* libunwind's cached backtrace gives no stack pointers, its cursor costs half a microsecond a frame, opens pipes inside the
 * handler to test addresses, and reads program headers of libraries that may just be unloaded. So the walk is ours: four
 * registers (RIP, RSP, RBP, RBX) are taken from frame to frame by rules from .eh_frame (profiler/cfi.h), cached by address
 * for the whole process. tests/engine/test_unwind.c holds it against libunwind, instruction by instruction.
 *
 * The cache is a hash table of (address, rule) in two atomic words, filled by handlers of all threads. A reader takes the
 * rule only if the address is the same before and after, so that a slot that is given to another address meanwhile is
 * never mixed up. A full neighbourhood is overwritten at its first slot. It survives fork: the child has the same code.
 *
 * Each step is checked: the stack pointer rises, stays within a bounded distance, loads may fail. So garbage ends a walk
 * but never harms. */

#include "profiler/unwind.h"

#include "profiler/cfi.h"
#include "profiler/safe_load.h"

#include <stdatomic.h>

enum {
    CACHE_SLOTS = 1 << 16,
    CACHE_PROBES = 4,
};

static const uintptr_t STACK_STEP_MAX = (uintptr_t)64 << 20;

/* Offsets of saved registers from RSP in a signal trampoline: struct ucontext lies there (asm/ucontext.h). */
static const uintptr_t UCONTEXT_RBP = 120, UCONTEXT_RBX = 128, UCONTEXT_RSP = 160, UCONTEXT_RIP = 168;

static struct {
    _Atomic uintptr_t pc;
    _Atomic uint64_t rule; /* packed; 0: being written */
} cache[CACHE_SLOTS];

struct registers {
    uintptr_t ip, sp, bp, bx;
};

static size_t cache_slot(uintptr_t pc) {
    return (size_t)((pc * UINT64_C(0x9e3779b97f4a7c15)) >> 48) % CACHE_SLOTS;
}

static uint64_t cache_get(uintptr_t pc) {
    size_t slot = cache_slot(pc);

    for (size_t i = 0; i < CACHE_PROBES; i++) {
        size_t at = (slot + i) % CACHE_SLOTS;
        if (atomic_load_explicit(&cache[at].pc, memory_order_acquire) != pc)
            continue;
        /* acquire: pairs with cache_put's release of the rule; the second look at pc follows it */
        uint64_t rule = atomic_load_explicit(&cache[at].rule, memory_order_acquire);
        if (rule && atomic_load_explicit(&cache[at].pc, memory_order_relaxed) == pc)
            return rule;
    }
    return 0;
}

static void cache_put(uintptr_t pc, uint64_t rule) {
    size_t slot = cache_slot(pc), at = slot;

    for (size_t i = 0; i < CACHE_PROBES; i++) {
        at = (slot + i) % CACHE_SLOTS;
        uintptr_t expected = 0;
        if (atomic_compare_exchange_strong_explicit(&cache[at].pc, &expected, pc, memory_order_relaxed,
                                                    memory_order_relaxed) ||
            expected == pc) {
            atomic_store_explicit(&cache[at].rule, rule, memory_order_release);
            return;
        }
    }
    /* Take over the first slot: empty the rule before the address changes. */
    uint64_t old = atomic_exchange_explicit(&cache[slot].rule, 0, memory_order_acq_rel);
    if (old == 0)
        return; /* somebody else is at it */
    atomic_store_explicit(&cache[slot].pc, pc, memory_order_release);
    atomic_store_explicit(&cache[slot].rule, rule, memory_order_release);
}

void *pie_unwind_cache(size_t *ret_bytes) {
    *ret_bytes = sizeof cache;
    return cache;
}

void pie_unwind_flush_cache(void) {
    for (size_t i = 0; i < CACHE_SLOTS; i++) {
        atomic_store_explicit(&cache[i].rule, 0, memory_order_release);
        atomic_store_explicit(&cache[i].pc, 0, memory_order_release);
    }
}

static struct pie_cfi_rule rule_at(uintptr_t pc) {
    uint64_t packed = cache_get(pc);

    if (!packed) {
        packed = pie_cfi_pack(pie_cfi_find(pc));
        cache_put(pc, packed);
    }
    return pie_cfi_unpack(packed);
}

static bool cfa_of(const struct pie_cfi_rule *rule, const struct registers *r, uintptr_t *ret_cfa) {
    switch (rule->cfa) {
    case PIE_CFI_CFA_RSP:
        *ret_cfa = r->sp + (uintptr_t)(intptr_t)rule->cfa_offset;
        return true;
    case PIE_CFI_CFA_RBP:
        *ret_cfa = r->bp + (uintptr_t)(intptr_t)rule->cfa_offset;
        return true;
    case PIE_CFI_CFA_RBX:
        *ret_cfa = r->bx + (uintptr_t)(intptr_t)rule->cfa_offset;
        return true;
    case PIE_CFI_CFA_RBP_DEREF:
        return pie_safe_load((const void *)(r->bp + (uintptr_t)(intptr_t)rule->cfa_offset), ret_cfa);
    case PIE_CFI_CFA_PLT:
        *ret_cfa = r->sp + ((r->ip & 15) >= 11 ? 16 : 8);
        return true;
    }
    return false;
}

static bool is_further(uintptr_t sp, uintptr_t cfa) {
    return cfa > sp && cfa - sp < STACK_STEP_MAX && (cfa & 7) == 0;
}

static bool step_normal(const struct pie_cfi_rule *rule, struct registers *r) {
    struct registers caller = *r;
    bool ok = true;

    if (!cfa_of(rule, r, &caller.sp) || !is_further(r->sp, caller.sp) ||
        !pie_safe_load((const void *)(caller.sp - 8), &caller.ip))
        return false;
    if (rule->rbp == PIE_CFI_RBP_AT_CFA)
        ok = pie_safe_load((const void *)(caller.sp + (uintptr_t)(intptr_t)rule->rbp_offset), &caller.bp);
    else if (rule->rbp == PIE_CFI_RBP_AT_RBP)
        ok = pie_safe_load((const void *)(r->bp + (uintptr_t)(intptr_t)rule->rbp_offset), &caller.bp);
    if (ok && rule->rbx_offset)
        ok = pie_safe_load((const void *)(caller.sp + (uintptr_t)(intptr_t)rule->rbx_offset), &caller.bx);
    if (!ok || caller.ip == 0)
        return false;
    *r = caller;
    return true;
}

static bool step_signal(struct registers *r) {
    struct registers caller;

    if (!pie_safe_load((const void *)(r->sp + UCONTEXT_RIP), &caller.ip) ||
        !pie_safe_load((const void *)(r->sp + UCONTEXT_RSP), &caller.sp) ||
        !pie_safe_load((const void *)(r->sp + UCONTEXT_RBP), &caller.bp) ||
        !pie_safe_load((const void *)(r->sp + UCONTEXT_RBX), &caller.bx) || caller.ip == 0)
        return false;
    *r = caller;
    return true;
}

/* Code without call frame information: assume that it keeps a frame pointer, and believe it only if what it leads to
 * is code that has some. */
static bool step_frame_pointer(struct registers *r) {
    struct registers caller = {.sp = r->bp + 16, .bx = r->bx};

    if (!is_further(r->sp, caller.sp) || !pie_safe_load((const void *)(r->bp + 8), &caller.ip) ||
        !pie_safe_load((const void *)r->bp, &caller.bp))
        return false;
    if (rule_at(caller.ip - 1).kind == PIE_CFI_NONE)
        return false;
    *r = caller;
    return true;
}

size_t pie_unwind(const ucontext_t *context, struct pie_native_frame *frames, size_t max,
                  unsigned *ret_flags) {
    const greg_t *gregs = context->uc_mcontext.gregs;
    struct registers r = {(uintptr_t)gregs[REG_RIP], (uintptr_t)gregs[REG_RSP], (uintptr_t)gregs[REG_RBP],
                          (uintptr_t)gregs[REG_RBX]};
    bool interrupted = true; /* ip is an instruction to be executed, not a return address */
    size_t n = 0;

    *ret_flags = 0;
    while (n < max) {
        frames[n++] = (struct pie_native_frame){r.ip, r.sp};
        struct pie_cfi_rule rule = rule_at(interrupted ? r.ip : r.ip - 1);
        bool ok = true;
        interrupted = false;
        switch (rule.kind) {
        case PIE_CFI_OUTERMOST:
            return n;
        case PIE_CFI_EXOTIC:
            *ret_flags |= PIE_UNWIND_EXOTIC;
            ok = false;
            break;
        case PIE_CFI_NORMAL:
            ok = step_normal(&rule, &r);
            break;
        case PIE_CFI_SIGNAL:
            ok = interrupted = step_signal(&r);
            break;
        case PIE_CFI_NONE:
            ok = step_frame_pointer(&r);
            break;
        }
        if (!ok)
            break;
    }
    *ret_flags |= PIE_UNWIND_TRUNCATED;
    return n;
}
