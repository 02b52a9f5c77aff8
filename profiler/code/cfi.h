/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How to get from one native frame to its caller, taken from the .eh_frame of the module at an address. Only what a
 * walk needs: the canonical frame address (CFA), where the caller's RBP and RBX are; the return address is at CFA -
 * 8. */

enum pie_cfi_kind {
    PIE_CFI_NONE, /* no call frame information for this address (generated code) */
    PIE_CFI_NORMAL,
    PIE_CFI_OUTERMOST, /* the return address is undefined: the thread's first frame */
    PIE_CFI_SIGNAL,    /* a signal trampoline: the interrupted registers lie at RSP */
    PIE_CFI_EXOTIC,    /* described in a way that is not modelled here: the walk ends */
};

enum pie_cfi_cfa {
    PIE_CFI_CFA_RSP,       /* RSP + offset */
    PIE_CFI_CFA_RBP,       /* RBP + offset */
    PIE_CFI_CFA_RBX,       /* RBX + offset: the loader's _dl_runtime_resolve */
    PIE_CFI_CFA_RBP_DEREF, /* *(RBP + offset): functions that realign their stack */
    PIE_CFI_CFA_PLT,       /* RSP + 8, or + 16 from byte 11 of a 16-byte PLT entry on */
};

enum pie_cfi_rbp {
    PIE_CFI_RBP_SAME,
    PIE_CFI_RBP_AT_CFA, /* saved at CFA + offset */
    PIE_CFI_RBP_AT_RBP, /* saved at RBP + offset */
};

struct pie_cfi_rule {
    enum pie_cfi_kind kind;
    enum pie_cfi_cfa cfa;
    enum pie_cfi_rbp rbp;
    int32_t cfa_offset; /* bytes */
    int32_t rbp_offset; /* bytes */
    int32_t rbx_offset; /* bytes from the CFA; 0: RBX is unchanged */
    uint16_t module;    /* number of the module at the address (profiler/code/modules.h); not packed */
};

/* The rule in force at pc, and whose code it is. Reads mapped memory through pie_safe_load; finds the module by
 * pie_find_object(). 0.3 to 2 us. Context: signal. */
struct pie_cfi_rule pie_cfi_find(uintptr_t pc);

/* The first address of the function that contains pc, as its frame description entry says (also in stripped
 * libraries); 0 if there is none. Context: signal. */
uintptr_t pie_cfi_function(uintptr_t pc);
/* The same with the address behind its last byte. False: there is none. A part that the compiler split off (f.cold) is
 * a function of its own. Context: signal. */
bool pie_cfi_function_range(uintptr_t pc, uintptr_t *ret_begin, uintptr_t *ret_end);

/* A rule in 64 bits, never 0, and back. Rules whose offsets do not fit become EXOTIC. Context: any. */
uint64_t pie_cfi_pack(struct pie_cfi_rule rule);
struct pie_cfi_rule pie_cfi_unpack(uint64_t packed);
