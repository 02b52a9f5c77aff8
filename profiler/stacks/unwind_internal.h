/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profiler/code/cfi.h"
#include "profiler/stacks/unwind.h"

/* Shared by the walk (unwind_sigsafe.c) and the bridge over what it cannot walk (unwind_bridge_sigsafe.c). All in the
 * context `signal`. */

struct pie_unwind_registers {
    uintptr_t ip, sp, bp, bx;
};

/* The first frame that no rule leads on from. */
struct pie_unwind_blind {
    size_t index;
    struct pie_unwind_registers registers;
};

struct pie_unwind_registers pie_unwind_registers_of(const ucontext_t *ucontext);

/* The rule at an address, from the cache. */
struct pie_cfi_rule pie_unwind_rule(uintptr_t pc);

/* To the caller, by a rule of kind NORMAL only. False: no way on; registers are as they were. */
bool pie_unwind_step(const struct pie_cfi_rule *rule, struct pie_unwind_registers *registers);

/* Walks from registers on; frames are added behind the first n. interrupted: their ip is an instruction to be executed,
 * not a return address. *ret_blind is filled with PIE_UNWIND_BLIND only. Returns the number of frames. */
size_t pie_unwind_from(struct pie_unwind_registers registers, bool interrupted,
                       struct pie_native_frame *frames, size_t n, size_t max, unsigned *ret_flags,
                       struct pie_unwind_blind *ret_blind);
