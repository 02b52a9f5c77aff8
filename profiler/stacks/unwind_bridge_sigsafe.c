/* SPDX-License-Identifier: Apache-2.0 */

/* Hand-written kernels (Intel's IPP and MKL), Go and generated code have no call frame information: from there no rule
 * leads to the caller. But above lies the C frame of an evaluation loop, known by the marker of its Python frame, and
 * all that is between it and the loop's frame is what the loop has called. So:
 *
 *   1. the loop's frame: below the marker is the word that returns into the loop's function, such that by its own rule
 *      the frame that begins there contains the marker, and returns to a place behind a call. Compilers lay what they
 *      take for rare elsewhere, which is most of the loop in Debian's executables of 3.14 and 3.15;
 *   2. the blind code's caller: from its stack pointer upwards, the first word that returns to a place behind a call,
 *      from which rules alone lead to exactly that frame. What a function left on the stack when it returned may look
 *      like that. So a direct call must have called the function whose frame lies below it.
 *
 * If there is no such caller, the loop is taken for it: coarse, but never wrong. Code that runs on a stack of its own
 * (Go's) has nothing but 1. RBP may hold anything in blind code: where a rule needs it, the words below the return
 * address are tried, where functions save it.
 *
 * Every load may fail, and all loops are bounded. */

#include "profiler/base/safe_load.h"
#include "profiler/code/cfi.h"
#include "profiler/code/find_object.h"
#include "profiler/ports/pystack.h"
#include "profiler/stacks/unwind.h"
#include "profiler/stacks/unwind_internal.h"

#include <stdatomic.h>
#include <string.h>

enum {
    GAPS_MAX = 4,
    LOOP_WORDS_MAX = 1024,
    LOOP_FRAME_WORDS_MAX = 512,
    GAP_BYTES_MAX = 64 * 1024,
    LOOKS_MAX = 1024, /* at what may be an address of code, 20 ns each */
    LOOKS_A_TRY = 48, /* what it costs to walk from one */
    SAVED_WORDS_MAX = 8,
    FRAMES_BETWEEN_MAX = 64,
    CODE_LOWEST = 0x10000,
    CALL_BYTES_MAX = 8,
    STUB_BYTES = 16,
    SKIPS_MAX = 31,
    ENTRY_BYTES_MAX = 4,
    JUMPS_BYTES_MAX = 4096,
    PARTS_MAX = 4,
    PART_JUMPS_MIN = 2,
};

static const uintptr_t STACK_BYTES = (uintptr_t)8 << 20;

struct gap {
    struct pie_unwind_registers from; /* of the blind frame */
    struct pie_unwind_registers loop; /* of the loop's frame, as far as they are known */
};

/* --- Calls --- */

/* E8 rel32, or FF /2 with any addressing. */
static bool is_call(const uint8_t bytes[CALL_BYTES_MAX]) {
    static const uint8_t lengths[] = {2, 3, 4, 6, 7};

    if (bytes[CALL_BYTES_MAX - 5] == 0xe8)
        return true;
    for (size_t i = 0; i < sizeof lengths; i++) {
        const uint8_t *at = bytes + CALL_BYTES_MAX - lengths[i];
        if (at[0] == 0xff && (at[1] >> 3 & 7) == 2)
            return true;
    }
    return false;
}

static bool is_after_call(uintptr_t address) {
    uint8_t bytes[CALL_BYTES_MAX];

    return pie_safe_copy(bytes, (const void *)(address - sizeof bytes), sizeof bytes) && is_call(bytes);
}

/* Through an entry of the procedure linkage table, [endbr64] [bnd] jmp *disp(%rip), to the function itself. */
static uintptr_t behind_stub(uintptr_t target) {
    static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
    uint8_t bytes[STUB_BYTES];
    size_t at = 0;
    int32_t offset;
    uintptr_t function;

    if (!pie_safe_copy(bytes, (const void *)target, sizeof bytes))
        return target;
    at += memcmp(bytes, endbr, sizeof endbr) == 0 ? sizeof endbr : 0;
    at += bytes[at] == 0xf2;
    if (bytes[at] != 0xff || bytes[at + 1] != 0x25)
        return target;
    memcpy(&offset, bytes + at + 2, sizeof offset);
    return pie_safe_load((const void *)(target + at + 6 + (uintptr_t)(intptr_t)offset), &function) ? function
                                                                                                   : target;
}

struct function {
    uintptr_t begin, end;
};

/* Frame information may begin behind an endbr64. */
static bool is_entry(const struct function *function, uintptr_t target) {
    return target + ENTRY_BYTES_MAX >= function->begin && target < function->end;
}

/* Does the function at `target` end in a jump to another one, a call that leaves no frame? Looked for in the bytes of
 * E9 rel32, without decoding. */
static bool jumps_to(uintptr_t target, const struct function *function) {
    uintptr_t begin, end, word;
    int32_t offset;

    if (!pie_cfi_function_range(target + ENTRY_BYTES_MAX, &begin, &end) || end - begin > JUMPS_BYTES_MAX)
        return false;
    for (uintptr_t at = begin; at + 5 <= end; at++) {
        if (!pie_safe_copy(&word, (const void *)at, sizeof word))
            return false;
        memcpy(&offset, (const char *)&word + 1, sizeof offset);
        uintptr_t to = at + 5 + (uintptr_t)(intptr_t)offset;
        if ((word & 0xff) == 0xe9 && (is_entry(function, to) || is_entry(function, behind_stub(to))))
            return true;
    }
    return false;
}

/* Can the call before `address` have led to the function that contains `callee`? Only of direct calls it is known. */
static bool may_have_called(uintptr_t address, uintptr_t callee) {
    struct function function;
    uint8_t bytes[5];
    int32_t offset;

    if (!pie_safe_copy(bytes, (const void *)(address - sizeof bytes), sizeof bytes) || bytes[0] != 0xe8 ||
        !pie_cfi_function_range(callee, &function.begin, &function.end))
        return true;
    memcpy(&offset, bytes + 1, sizeof offset);
    uintptr_t target = address + (uintptr_t)(intptr_t)offset;
    if (is_entry(&function, target))
        return true;
    target = behind_stub(target);
    return is_entry(&function, target) || jumps_to(target, &function);
}

/* --- The loop's frame --- */

/* Of the loop's function, in two parts; it never goes away. Relaxed: who sees the begin without the rest, asks
 * again. */
static struct {
    _Atomic uintptr_t begin, end, other_begin, other_end;
} loop_code;

static uintptr_t get(_Atomic uintptr_t *value) {
    return atomic_load_explicit(value, memory_order_relaxed);
}

static void set(_Atomic uintptr_t *value, uintptr_t to) {
    atomic_store_explicit(value, to, memory_order_relaxed);
}

/* Where E9 rel32 or 0F 80+cc rel32 leads to; 0: it is neither. */
static uintptr_t target_of_jump(uintptr_t at, uint64_t bytes) {
    size_t opcode = (bytes & 0xff) == 0xe9 ? 1 : (bytes & 0xf0ff) == 0x800f ? 2 : 0;
    int32_t offset;

    memcpy(&offset, (const char *)&bytes + opcode, sizeof offset);
    return opcode ? at + opcode + sizeof offset + (uintptr_t)(intptr_t)offset : 0;
}

/* Code with frame information of its own, into the middle of which the function jumps: other functions are jumped to at
 * their beginning. Bytes are not decoded, so one jump is no proof. end 0: there is none. */
static struct function find_other_part(const struct function *loop) {
    struct function parts[PARTS_MAX] = {{0}}, to;
    int jumps[PARTS_MAX] = {0}, most = 0;
    uint64_t bytes;

    for (uintptr_t at = loop->begin; at + sizeof bytes <= loop->end && at < loop->begin + JUMPS_BYTES_MAX;
         at++) {
        uintptr_t target =
            pie_safe_copy(&bytes, (const void *)at, sizeof bytes) ? target_of_jump(at, bytes) : 0;
        if (!target || is_entry(loop, target) || !pie_cfi_function_range(target, &to.begin, &to.end) ||
            target <= to.begin + ENTRY_BYTES_MAX)
            continue;
        int i = 0;
        while (i < PARTS_MAX - 1 && jumps[i] && parts[i].begin != to.begin)
            i++;
        jumps[i] = parts[i].begin == to.begin ? jumps[i] + 1 : 1;
        parts[i] = to;
        most = jumps[i] > jumps[most] ? i : most;
    }
    return jumps[most] >= PART_JUMPS_MIN ? parts[most] : (struct function){0};
}

static bool find_loop_code(uintptr_t loop) {
    struct function function;

    if (get(&loop_code.begin) == loop && get(&loop_code.end))
        return true;
    if (!pie_cfi_function_range(loop, &function.begin, &function.end))
        return false;
    struct function other = find_other_part(&function);
    set(&loop_code.other_begin, other.begin);
    set(&loop_code.other_end, other.end);
    set(&loop_code.end, function.end);
    set(&loop_code.begin, loop);
    return true;
}

static bool returns_to_loop(uintptr_t word) {
    return (word > get(&loop_code.begin) && word <= get(&loop_code.end)) ||
           (word > get(&loop_code.other_begin) && word <= get(&loop_code.other_end));
}

/* A frame of the loop that is addressed by RBP: from the marker upwards, the first word that is followed by a return
 * address is where RBP points. */
static bool find_loop_bp(uintptr_t marker, uintptr_t *ret_bp) {
    uintptr_t at = (marker + 7) & ~(uintptr_t)7, word;

    for (int i = 0; i < LOOP_FRAME_WORDS_MAX; i++, at += 8) {
        if (!pie_safe_load((const void *)(at + 8), &word))
            return false;
        if (word > CODE_LOWEST && pie_unwind_rule(word - 1).kind != PIE_CFI_NONE && is_after_call(word)) {
            *ret_bp = at;
            return true;
        }
    }
    return false;
}

static bool is_loop_frame(struct pie_unwind_registers *loop, uintptr_t marker) {
    struct pie_cfi_rule rule = pie_unwind_rule(loop->ip - 1);
    struct pie_unwind_registers caller;

    if (rule.kind == PIE_CFI_NORMAL && rule.cfa == PIE_CFI_CFA_RBP && !find_loop_bp(marker, &loop->bp))
        return false;
    caller = *loop;
    return pie_unwind_step(&rule, &caller) && marker < caller.sp && is_after_call(caller.ip) &&
           pie_unwind_rule(caller.ip - 1).kind != PIE_CFI_NONE;
}

static bool find_loop(uintptr_t function, uintptr_t marker, struct pie_unwind_registers *ret_loop) {
    uintptr_t at = (marker & ~(uintptr_t)7) - 8, word;

    if (!find_loop_code(function))
        return false;
    for (int i = 0; i < LOOP_WORDS_MAX; i++, at -= 8) {
        if (!pie_safe_load((const void *)at, &word))
            return false;
        struct pie_unwind_registers loop = {.ip = word, .sp = at + 8};
        if (returns_to_loop(word) && is_after_call(word) && is_loop_frame(&loop, marker)) {
            *ret_loop = loop;
            return true;
        }
    }
    return false;
}

/* --- The caller of the blind code --- */

/* Do rules alone lead from here to the loop's frame? is_known: they did before, by the same calls. *ret_uses_bp: that
 * depended on RBP. */
static bool leads_to_loop(struct pie_unwind_registers r, const struct gap *gap, bool is_known,
                          bool *ret_uses_bp) {
    *ret_uses_bp = false;
    for (int i = 0; i < FRAMES_BETWEEN_MAX; i++) {
        struct pie_cfi_rule rule = pie_unwind_rule(r.ip - 1);
        uintptr_t callee = r.ip - 1;
        *ret_uses_bp |= rule.cfa == PIE_CFI_CFA_RBP || rule.cfa == PIE_CFI_CFA_RBP_DEREF;
        if (!pie_unwind_step(&rule, &r) || r.sp > gap->loop.sp ||
            (!is_known && !may_have_called(r.ip, callee)))
            return false;
        if (r.sp == gap->loop.sp)
            return r.ip == gap->loop.ip;
    }
    return false;
}

/* at: where the return address `word` lies. Fills r->bp. */
static bool is_caller(uintptr_t at, uintptr_t word, const struct gap *gap, struct pie_unwind_registers *r) {
    uintptr_t saved;
    bool uses_bp;

    *r = (struct pie_unwind_registers){.ip = word, .sp = at + 8, .bp = gap->from.bp, .bx = gap->from.bx};
    if (leads_to_loop(*r, gap, false, &uses_bp))
        return true;
    for (int i = 1; uses_bp && i <= SAVED_WORDS_MAX && at - (uintptr_t)i * 8 >= gap->from.sp; i++) {
        if (!pie_safe_load((const void *)(at - (uintptr_t)i * 8), &saved) || saved <= at ||
            saved >= gap->loop.sp || saved % 8 != 0)
            continue;
        r->bp = saved;
        if (leads_to_loop(*r, gap, false, &uses_bp))
            return true;
        uses_bp = true;
    }
    return false;
}

static bool may_be_code(uintptr_t word, const struct gap *gap) {
    return word > CODE_LOWEST && word >> 47 == 0 &&
           (word < gap->from.sp - STACK_BYTES || word > gap->loop.sp + STACK_BYTES);
}

/* Looks from *at on, for a while; *at says how far it got. */
static bool find_caller(const struct gap *gap, uintptr_t *at, struct pie_unwind_registers *ret_caller) {
    uintptr_t word;

    for (int looks = 0; *at < gap->loop.sp - 8 && looks < LOOKS_MAX; *at += 8) {
        if (!pie_safe_load((const void *)*at, &word)) {
            *at = gap->loop.sp;
            return false;
        }
        if (!may_be_code(word, gap))
            continue;
        looks++;
        if (!pie_is_in_object(word) || !is_after_call(word))
            continue;
        if (is_caller(*at, word, gap, ret_caller))
            return true;
        looks += LOOKS_A_TRY;
    }
    return false;
}

static bool is_found_again(const struct pie_unwind_found *found, const struct gap *gap,
                           struct pie_unwind_registers *ret_caller) {
    uintptr_t word;
    bool uses_bp;

    if (!found->at || found->loop_sp != gap->loop.sp || found->at < gap->from.sp ||
        found->at >= gap->loop.sp || !pie_safe_load((const void *)found->at, &word) || word != found->word)
        return false;
    *ret_caller =
        (struct pie_unwind_registers){.ip = word, .sp = found->at + 8, .bp = found->bp, .bx = gap->from.bx};
    return leads_to_loop(*ret_caller, gap, true, &uses_bp);
}

/* What one sample finds no time for, the next ones do, as long as they come from the same place. */
static bool search(const struct gap *gap, struct pie_unwind_found *found,
                   struct pie_unwind_registers *ret_caller) {
    bool is_over = found->searched_to >= gap->loop.sp - 8;

    if (gap->from.sp >= gap->loop.sp || gap->loop.sp - gap->from.sp > GAP_BYTES_MAX)
        return false;
    if (found->searched_sp != gap->from.sp || found->searched_loop_sp != gap->loop.sp ||
        (is_over && found->skips++ >= SKIPS_MAX)) {
        found->searched_sp = gap->from.sp;
        found->searched_loop_sp = gap->loop.sp;
        found->searched_to = (gap->from.sp + 7) & ~(uintptr_t)7;
        found->skips = 0;
    }
    return find_caller(gap, &found->searched_to, ret_caller);
}

/* The caller of the blind code, else the loop. */
static struct pie_unwind_registers caller_of(const struct gap *gap, struct pie_unwind_found *found) {
    struct pie_unwind_registers caller;

    if (is_found_again(found, gap, &caller))
        return caller;
    if (!search(gap, found, &caller))
        return gap->loop;
    *found = (struct pie_unwind_found){
        .at = caller.sp - 8, .word = caller.ip, .loop_sp = gap->loop.sp, .bp = caller.bp};
    return caller;
}

/* The marker of the innermost evaluation loop that none of the first n frames is; 0: there is none. Both are in the
 * order of the stack. */
static uintptr_t next_marker(const struct pie_native_frame *frames, size_t n,
                             const struct pie_pyframe *python, size_t n_python) {
    size_t i = 0;

    for (size_t p = 0; p < n_python; p++) {
        uintptr_t marker = python[p].marker;
        if (!marker)
            continue;
        while (i < n && !(marker >= frames[i].sp && marker < frames[i + 1].sp))
            i++;
        if (i == n)
            return marker;
    }
    return 0;
}

size_t pie_unwind_bridge(const ucontext_t *ucontext, uintptr_t loop, const struct pie_pyframe *python,
                         size_t n_python, struct pie_unwind_found *found, struct pie_native_frame *frames,
                         size_t n, size_t max, unsigned *flags) {
    struct pie_unwind_registers registers = pie_unwind_registers_of(ucontext);
    struct pie_unwind_blind blind;
    unsigned known = 0;

    if (!loop)
        return n;
    n = pie_unwind_from(registers, true, frames, 0, max, flags, &blind);
    for (int i = 0; i < GAPS_MAX && *flags & PIE_UNWIND_BLIND; i++) {
        struct gap gap = {.from = blind.registers};
        uintptr_t marker = next_marker(frames, blind.index, python, n_python);
        if (!marker || !find_loop(loop, marker, &gap.loop))
            break;
        known |= PIE_UNWIND_BRIDGED;
        n = pie_unwind_from(caller_of(&gap, found), false, frames, blind.index + 1, max, flags, &blind);
    }
    *flags |= known;
    return n;
}
