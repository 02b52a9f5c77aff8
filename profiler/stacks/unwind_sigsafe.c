/* SPDX-License-Identifier: Apache-2.0 */

/* libunwind's cached backtrace gives no stack pointers, its cursor costs half a microsecond a frame, opens pipes inside
 * the handler to test addresses, and reads program headers of libraries that may just be unloaded. So the walk is ours:
 * four registers (RIP, RSP, RBP, RBX) are taken from frame to frame by rules from .eh_frame (profiler/code/cfi.h),
 * cached by address for the whole process. tests/profiler/stacks/test_unwind.c holds it against libunwind, instruction
 * by instruction.
 *
 * The cache is a hash table, filled by handlers of all threads. A slot is one unit by a sequence (as a seqlock):
 * whoever fills it makes the sequence odd, and a reader takes the rule only if the slot's state was even and the same
 * before and after. Nobody waits: a slot that is being filled is passed over. The state also carries the generation in
 * which the rule was looked up. To flush is to begin a new one, so a rule that was looked up before a library went is
 * never found after that, even if its slot is filled later. A full neighbourhood is overwritten at its first slot.
 * Slots are hashes, so only the first ones are used until many have been overwritten; then four times as many are, and
 * what was known moves when it is asked for. The cache survives fork: the child has the same code; a slot that another
 * thread was filling just then stays closed.
 *
 * Each step is checked: the stack pointer rises, stays within a bounded distance, loads may fail. So garbage ends a
 * walk but never harms. */

#include "profiler/stacks/unwind.h"

#include "profiler/base/hash.h"
#include "profiler/base/safe_load.h"
#include "profiler/code/cfi.h"
#include "profiler/code/generation.h"
#include "profiler/code/modules.h"
#include "profiler/stacks/unwind_internal.h"

#include <stdatomic.h>

enum {
    CACHE_SLOTS = 1 << 16,
    CACHE_FIRST_SLOTS = 1 << 12,
    CACHE_GROWTH = 4,
    CACHE_PROBES = 4,
    CROWDED_SHIFT = 6, /* so much of the slots has been overwritten: a load of about a half */
};

static const uintptr_t STACK_STEP_MAX = (uintptr_t)64 << 20;

/* Offsets of saved registers from RSP in a signal trampoline: struct ucontext lies there (asm/ucontext.h). */
static const uintptr_t UCONTEXT_RBP = 120, UCONTEXT_RBX = 128, UCONTEXT_RSP = 160, UCONTEXT_RIP = 168;

enum { BUSY = 1, SEQUENCE_STEP = 2, SEQUENCE_BITS = 16, MODULE_BITS = 16 };

static struct {
    _Atomic uint64_t state; /* sequence, module, generation (0: empty) from the lowest bit on */
    _Atomic uintptr_t pc;
    _Atomic uint64_t rule; /* packed */
} cache[CACHE_SLOTS];
static _Atomic uint32_t slots_used = CACHE_FIRST_SLOTS; /* a power of two */
static _Atomic uint32_t overwritten;                    /* since slots_used changed */

static size_t cache_slot(uintptr_t pc, size_t slots) {
    return (size_t)(pie_hash_upper(pc) >> 48) % slots;
}

/* A rule of a full neighbourhood goes. With more slots, what is known is out of place. */
static void overwrite(uint32_t slots) {
    if (slots < CACHE_SLOTS &&
        atomic_fetch_add_explicit(&overwritten, 1, memory_order_relaxed) >= slots >> CROWDED_SHIFT &&
        atomic_compare_exchange_strong_explicit(&slots_used, &slots, slots * CACHE_GROWTH,
                                                memory_order_relaxed, memory_order_relaxed))
        atomic_store_explicit(&overwritten, 0, memory_order_relaxed);
}

static uint32_t generation_of(uint64_t state) {
    return (uint32_t)(state >> (SEQUENCE_BITS + MODULE_BITS));
}

static bool find_among(size_t slots, uintptr_t pc, uint32_t now, struct pie_cfi_rule *ret_rule) {
    size_t slot = cache_slot(pc, slots);

    for (size_t i = 0; i < CACHE_PROBES; i++) {
        size_t at = (slot + i) % slots;
        /* acquire, three times: each load comes after the one before; they pair with the releases of cache_put() */
        uint64_t state = atomic_load_explicit(&cache[at].state, memory_order_acquire);
        if ((state & BUSY) || generation_of(state) != now ||
            atomic_load_explicit(&cache[at].pc, memory_order_acquire) != pc)
            continue;
        uint64_t rule = atomic_load_explicit(&cache[at].rule, memory_order_acquire);
        if (atomic_load_explicit(&cache[at].state, memory_order_relaxed) != state)
            continue;
        *ret_rule = pie_cfi_unpack(rule);
        ret_rule->module = (uint16_t)(state >> SEQUENCE_BITS);
        return true;
    }
    return false;
}

/* A rule from when fewer slots were used. */
static bool is_out_of_place(uintptr_t pc, size_t at, size_t slots) {
    return (at - cache_slot(pc, slots)) % slots >= CACHE_PROBES;
}

/* The slot for pc: free, out of place or of an older generation, or its own, else the first. */
static size_t slot_to_fill(uintptr_t pc, uint32_t now) {
    uint32_t slots = atomic_load_explicit(&slots_used, memory_order_relaxed);
    size_t slot = cache_slot(pc, slots);

    for (size_t i = 0; i < CACHE_PROBES; i++) {
        size_t at = (slot + i) % slots;
        uint64_t state = atomic_load_explicit(&cache[at].state, memory_order_relaxed);
        uintptr_t found = atomic_load_explicit(&cache[at].pc, memory_order_relaxed);
        if (!(state & BUSY) &&
            (generation_of(state) != now || found == pc || is_out_of_place(found, at, slots)))
            return at;
    }
    overwrite(slots);
    return slot;
}

/* now: the generation from before the rule was looked up. */
static void cache_put(uintptr_t pc, uint32_t now, const struct pie_cfi_rule *rule) {
    size_t at = slot_to_fill(pc, now);
    uint64_t state = atomic_load_explicit(&cache[at].state, memory_order_relaxed);

    if ((state & BUSY) ||
        !atomic_compare_exchange_strong_explicit(&cache[at].state, &state, state | BUSY, memory_order_acquire,
                                                 memory_order_relaxed))
        return; /* somebody else is at it */
    /* release: whoever sees one of them sees the slot busy, or newer */
    atomic_store_explicit(&cache[at].pc, pc, memory_order_release);
    atomic_store_explicit(&cache[at].rule, pie_cfi_pack(*rule), memory_order_release);
    uint64_t sequence = (state + SEQUENCE_STEP) & ((1 << SEQUENCE_BITS) - 1);
    atomic_store_explicit(&cache[at].state,
                          (uint64_t)now << (SEQUENCE_BITS + MODULE_BITS) |
                              (uint64_t)rule->module << SEQUENCE_BITS | sequence,
                          memory_order_release);
}

/* A rule from when fewer slots were used comes to its place. */
static bool cache_get(uintptr_t pc, uint32_t now, struct pie_cfi_rule *ret_rule) {
    size_t slots = atomic_load_explicit(&slots_used, memory_order_relaxed);

    if (find_among(slots, pc, now, ret_rule))
        return true;
    if (slots == CACHE_FIRST_SLOTS || !find_among(slots / CACHE_GROWTH, pc, now, ret_rule))
        return false;
    cache_put(pc, now, ret_rule);
    return true;
}

void *pie_unwind_cache(size_t *ret_bytes) {
    *ret_bytes = sizeof *cache * atomic_load_explicit(&slots_used, memory_order_relaxed);
    return cache;
}

static struct pie_cfi_rule rule_at(uintptr_t pc) {
    uint32_t now = pie_code_generation();
    struct pie_cfi_rule rule;

    if (pie_code_is_unloading())
        return pie_cfi_find(pc); /* what lies there may change at any moment */
    if (!cache_get(pc, now, &rule)) {
        rule = pie_cfi_find(pc);
        if (rule.module == PIE_CODE_MODULE_NOWHERE)
            return rule; /* a library may come there, which begins no generation */
        cache_put(pc, now, &rule);
        uint16_t module = rule.module;
        rule = pie_cfi_unpack(pie_cfi_pack(rule)); /* as the next one will get it */
        rule.module = module;
    }
    return rule;
}

static bool cfa_of(const struct pie_cfi_rule *rule, const struct pie_unwind_registers *r,
                   uintptr_t *ret_cfa) {
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

static bool step_normal(const struct pie_cfi_rule *rule, struct pie_unwind_registers *r) {
    struct pie_unwind_registers caller = *r;
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

static bool step_signal(struct pie_unwind_registers *r) {
    struct pie_unwind_registers caller;

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
static bool step_frame_pointer(struct pie_unwind_registers *r) {
    struct pie_unwind_registers caller = {.sp = r->bp + 16, .bx = r->bx};

    if (!is_further(r->sp, caller.sp) || !pie_safe_load((const void *)(r->bp + 8), &caller.ip) ||
        !pie_safe_load((const void *)r->bp, &caller.bp))
        return false;
    if (rule_at(caller.ip - 1).kind == PIE_CFI_NONE)
        return false;
    *r = caller;
    return true;
}

struct pie_cfi_rule pie_unwind_rule(uintptr_t pc) {
    return rule_at(pc);
}

bool pie_unwind_step(const struct pie_cfi_rule *rule, struct pie_unwind_registers *registers) {
    return rule->kind == PIE_CFI_NORMAL && step_normal(rule, registers);
}

/* From a frame to its caller, whatever kind it is of. *interrupted: as in pie_unwind_from(); kept up to date. */
static bool step(const struct pie_cfi_rule *rule, struct pie_unwind_registers *r, bool *interrupted) {
    *interrupted = rule->kind == PIE_CFI_SIGNAL;
    switch (rule->kind) {
    case PIE_CFI_NORMAL:
        return step_normal(rule, r);
    case PIE_CFI_SIGNAL:
        return step_signal(r);
    case PIE_CFI_NONE:
        return step_frame_pointer(r);
    case PIE_CFI_OUTERMOST:
    case PIE_CFI_EXOTIC:
        break;
    }
    return false;
}

size_t pie_unwind_from(struct pie_unwind_registers r, bool interrupted, struct pie_native_frame *frames,
                       size_t n, size_t max, unsigned *ret_flags, struct pie_unwind_blind *ret_blind) {
    *ret_flags = 0;
    while (n < max) {
        struct pie_cfi_rule rule = rule_at(interrupted ? r.ip : r.ip - 1);
        struct pie_unwind_registers before = r;
        frames[n] = (struct pie_native_frame){.ip = r.ip, .sp = r.sp, .module = rule.module};
        if (rule.kind == PIE_CFI_OUTERMOST)
            return n + 1;
        bool ok = step(&rule, &r, &interrupted);
        frames[n].is_blind = !ok || rule.kind == PIE_CFI_NONE;
        if (frames[n].is_blind && !(*ret_flags & PIE_UNWIND_BLIND)) {
            *ret_flags |= PIE_UNWIND_BLIND;
            *ret_blind = (struct pie_unwind_blind){.index = n, .registers = before};
        }
        n++;
        if (!ok) {
            *ret_flags |= rule.kind == PIE_CFI_EXOTIC ? PIE_UNWIND_EXOTIC : 0;
            break;
        }
    }
    *ret_flags |= PIE_UNWIND_TRUNCATED;
    return n;
}

struct pie_unwind_registers pie_unwind_registers_of(const ucontext_t *ucontext) {
    const greg_t *gregs = ucontext->uc_mcontext.gregs;

    return (struct pie_unwind_registers){.ip = (uintptr_t)gregs[REG_RIP],
                                         .sp = (uintptr_t)gregs[REG_RSP],
                                         .bp = (uintptr_t)gregs[REG_RBP],
                                         .bx = (uintptr_t)gregs[REG_RBX]};
}

size_t pie_unwind(const ucontext_t *ucontext, struct pie_native_frame *frames, size_t max,
                  unsigned *ret_flags) {
    struct pie_unwind_blind unused;

    return pie_unwind_from(pie_unwind_registers_of(ucontext), true, frames, 0, max, ret_flags, &unused);
}
