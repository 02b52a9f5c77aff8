/* SPDX-License-Identifier: Apache-2.0 */

/* Instructions by Zydis. Its operand lists are complete (implicit ones included) but for what is put right here: an
 * operand on the stack is given as RSP whatever the order of access and change, string instructions do not always say
 * that they move RSI and RDI (CMPS, SCAS), bit tests with a register reach beyond their operand, XLAT hides its index,
 * and the size of what XSAVE writes is known to the processor alone. Operands that are no access: NOP, prefetch, cache
 * control and LEA. */

#include "profiler/code/decode.h"
#include "profiler/code/instruction.h"

#include <Zydis/Zydis.h>

#include <errno.h>

enum {
    WIDEST_BYTES = 64,
    /* With AMX, the largest that exists (Intel SDM vol. 1, 13.5): 2.7 KB and two times 4 KB and a bit. */
    XSAVE_BYTES = 11264,
    /* How late a repeated string instruction may report a breakpoint. 128 bytes were seen; fast strings work in groups
     * within a page (Intel SDM vol. 3, 17.2.4). */
    REPEATED_BYTES = 4096,
};

struct decoded {
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    uint64_t ip;
    uint32_t overwritten; /* general registers: a bit each */
};

bool pie_decode_is_available(void) {
    return true;
}

static const ZydisDecoder *decoder(void) {
    static ZydisDecoder made;
    static bool is_made; /* the collection thread alone decodes */

    if (!is_made)
        is_made = ZYAN_SUCCESS(ZydisDecoderInit(&made, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64));
    return is_made ? &made : NULL;
}

/* JMP with ModRM: a table of addresses is indexed, or the address was computed; a bare pointer is a tail call. */
static enum pie_instruction_flow indirect_jump(const ZydisDecodedInstruction *in) {
    bool has_index = in->raw.modrm.rm == 4 && (in->raw.sib.index != 4 || in->raw.rex.X);

    return in->meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR && (in->raw.modrm.mod == 3 || has_index)
               ? PIE_FLOW_SWITCH
               : PIE_FLOW_END;
}

static bool is_trap(ZydisMnemonic mnemonic) {
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_INT3:
        return true;
    default:
        return false;
    }
}

static enum pie_instruction_flow flow_of(const ZydisDecodedInstruction *in, bool is_direct) {
    switch (in->meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
        return is_direct ? PIE_FLOW_BRANCH : PIE_FLOW_NEXT;
    case ZYDIS_CATEGORY_UNCOND_BR:
        return is_direct ? PIE_FLOW_JUMP : indirect_jump(in);
    case ZYDIS_CATEGORY_CALL:
        return PIE_FLOW_CALL;
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_SYSRET:
        return PIE_FLOW_END;
    default:
        return is_trap(in->mnemonic) ? PIE_FLOW_END : PIE_FLOW_NEXT;
    }
}

static bool is_string(const ZydisDecodedInstruction *in) {
    return in->meta.category == ZYDIS_CATEGORY_STRINGOP || in->meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
}

/* They are an operand, which is hidden. */
static bool has_flags(const ZydisDecodedInstruction *in) {
    const ZydisAccessedFlags *flags = in->cpu_flags;

    return flags && (flags->tested | flags->modified | flags->set_0 | flags->set_1 | flags->undefined) != 0;
}

/* Told without decoding the operands, which takes longer than all else. What has no ModRM byte touches the stack, or
 * nothing, but for strings and MOV with an address; with registers in ModRM an operand in memory is hidden. */
static bool may_list(const ZydisDecodedInstruction *in) {
    bool has_modrm = in->attributes & ZYDIS_ATTRIB_HAS_MODRM;
    bool is_on_stack = in->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && in->raw.modrm.rm == 4 &&
                       in->raw.sib.base == 4 && !in->raw.rex.B;

    if (!has_modrm)
        return is_string(in) || in->raw.disp.size != 0;
    if (in->raw.modrm.mod == 3)
        return in->operand_count > in->operand_count_visible + has_flags(in);
    return !is_on_stack && in->mnemonic != ZYDIS_MNEMONIC_LEA && in->mnemonic != ZYDIS_MNEMONIC_NOP;
}

static struct pie_instruction describe(const ZydisDecodedInstruction *in, uint64_t ip) {
    bool is_direct = in->raw.imm[0].size != 0 && in->raw.imm[0].is_relative;

    return (struct pie_instruction){
        .target = is_direct ? ip + in->length + (uint64_t)in->raw.imm[0].value.s : 0,
        .length = in->length,
        .flow = flow_of(in, is_direct),
        .is_padding = in->meta.category == ZYDIS_CATEGORY_NOP ||
                      in->meta.category == ZYDIS_CATEGORY_WIDENOP || in->mnemonic == ZYDIS_MNEMONIC_INT3,
        .may_list = may_list(in),
    };
}

/* The operand in memory is a hint, or an address that nobody follows. */
static bool touches_nothing(const ZydisDecodedInstruction *in) {
    switch (in->meta.category) {
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_PREFETCHWT1:
    case ZYDIS_CATEGORY_CLFLUSHOPT:
    case ZYDIS_CATEGORY_CLWB:
    case ZYDIS_CATEGORY_CLDEMOTE:
    case ZYDIS_CATEGORY_MPX:
        return true;
    case ZYDIS_CATEGORY_GATHER:
    case ZYDIS_CATEGORY_SCATTER:
        return (in->mnemonic >= ZYDIS_MNEMONIC_VGATHERPF0DPD &&
                in->mnemonic <= ZYDIS_MNEMONIC_VGATHERPF1QPS) ||
               (in->mnemonic >= ZYDIS_MNEMONIC_VSCATTERPF0DPD &&
                in->mnemonic <= ZYDIS_MNEMONIC_VSCATTERPF1QPS);
    default:
        return in->mnemonic == ZYDIS_MNEMONIC_CLFLUSH;
    }
}

static uint8_t register_of(ZydisRegister name) {
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);

    if (name == ZYDIS_REGISTER_RIP || name == ZYDIS_REGISTER_EIP)
        return PIE_ACCESS_RIP;
    if (whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15)
        return (uint8_t)(whole - ZYDIS_REGISTER_RAX);
    return PIE_ACCESS_NO_REGISTER;
}

static uint32_t overwritten_by(const struct decoded *d) {
    uint32_t mask = 0;

    for (unsigned i = 0; i < d->instruction.operand_count; i++) {
        const ZydisDecodedOperand *operand = &d->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
            (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
            mask |= UINT32_C(1) << register_of(operand->reg.value);
    }
    return mask;
}

/* References and statistics: one more or one less, or an atomic addition. */
static bool is_counting(const struct decoded *d) {
    const ZydisDecodedOperand *by = &d->operands[1];

    switch (d->instruction.mnemonic) {
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
    case ZYDIS_MNEMONIC_XADD:
        return true;
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
        return by->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && (by->imm.value.s == 1 || by->imm.value.s == -1);
    default:
        return false;
    }
}

/* What it touches is not told by the operand. */
static bool is_irregular(const struct decoded *d) {
    switch (d->instruction.mnemonic) {
    case ZYDIS_MNEMONIC_BT:
    case ZYDIS_MNEMONIC_BTC:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTS:
        return d->operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
    case ZYDIS_MNEMONIC_XLAT:
    case ZYDIS_MNEMONIC_ENTER:
        return true;
    default:
        return false;
    }
}

/* State of the processor, not data. */
static bool saves_state(const ZydisDecodedInstruction *in) {
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_FXSAVE:
    case ZYDIS_MNEMONIC_FXSAVE64:
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
    case ZYDIS_MNEMONIC_FNSAVE:
    case ZYDIS_MNEMONIC_FRSTOR:
    case ZYDIS_MNEMONIC_FNSTENV:
    case ZYDIS_MNEMONIC_FLDENV:
        return true;
    default:
        return in->meta.category == ZYDIS_CATEGORY_XSAVE || in->meta.category == ZYDIS_CATEGORY_XSAVEOPT ||
               in->meta.category == ZYDIS_CATEGORY_SYSTEM;
    }
}

static uint8_t access_flags(const struct decoded *d, const ZydisDecodedOperand *operand) {
    const ZydisInstructionAttributes repeats =
        ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
    bool is_hidden = operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
    uint8_t flags = 0;

    if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
        flags |= PIE_ACCESS_LOAD;
    if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
        flags |= PIE_ACCESS_STORE;
    if (is_string(&d->instruction) && (d->instruction.attributes & repeats))
        flags |= PIE_ACCESS_REP;
    if (is_counting(d) && flags & PIE_ACCESS_STORE)
        flags |= PIE_ACCESS_COUNTING;
    if (operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB || operand->size == 0) /* AMX: a tile, row by row */
        flags |= PIE_ACCESS_GATHER;
    if (register_of(operand->mem.base) == PIE_ACCESS_RSP ||
        (is_hidden && operand->mem.segment == ZYDIS_REGISTER_SS)) /* LEAVE: by RBP */
        flags |= PIE_ACCESS_STACK;
    if (operand->mem.segment == ZYDIS_REGISTER_FS || operand->mem.segment == ZYDIS_REGISTER_GS)
        flags |= PIE_ACCESS_TLS;
    return flags;
}

/* How far RSP moves, for those that touch the stack without naming it. */
static int32_t stack_step(const struct decoded *d) {
    const ZydisDecodedInstruction *in = &d->instruction;

    for (unsigned i = 0; i < in->operand_count; i++) {
        const ZydisDecodedOperand *operand = &d->operands[i];
        int32_t bytes = operand->size / 8;
        if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY ||
            operand->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN || operand->mem.base != ZYDIS_REGISTER_RSP)
            continue;
        if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
            return -bytes;
        return in->mnemonic == ZYDIS_MNEMONIC_RET ? bytes + (int32_t)in->raw.imm[0].value.u : bytes;
    }
    return 0;
}

/* RSP: PUSH writes below it, POP reads at it, and an operand of POP that names it means the new one. */
static void adjust_for_stack(const struct decoded *d, const ZydisDecodedOperand *operand,
                             struct pie_operand *ret) {
    int32_t step = stack_step(d);
    bool is_hidden = operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;

    if (step < 0 && is_hidden)
        ret->access.disp += step;
    if (step > 0 && !is_hidden)
        ret->access.disp += step;
    ret->after_disp = ret->access.disp - step;
    if (d->instruction.mnemonic == ZYDIS_MNEMONIC_POP && d->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
        d->operands[0].reg.value == ZYDIS_REGISTER_RSP)
        ret->traits |= PIE_OPERAND_HIDDEN_ADDRESS;
}

static void set_after(const struct decoded *d, const ZydisDecodedOperand *operand, struct pie_operand *ret) {
    uint32_t changed =
        d->overwritten & ~(UINT32_C(1) << PIE_ACCESS_RIP | UINT32_C(1) << PIE_ACCESS_NO_REGISTER);
    bool is_repeated = ret->access.flags & PIE_ACCESS_REP;

    ret->after_base = ret->access.base;
    ret->after_disp = ret->access.disp;
    ret->reach_bytes = ret->access.size_bytes;
    if (d->instruction.mnemonic == ZYDIS_MNEMONIC_LEAVE) {
        ret->after_base = PIE_ACCESS_RSP;
        ret->after_disp = -(int32_t)ret->access.size_bytes;
    } else if (ret->access.base == PIE_ACCESS_RSP && stack_step(d) != 0) {
        adjust_for_stack(d, operand, ret);
    } else if (is_string(&d->instruction)) {
        ret->traits |= PIE_OPERAND_STRING;
        ret->reach_bytes = is_repeated ? REPEATED_BYTES : ret->access.size_bytes;
    } else if (changed >> ret->access.base & 1 || changed >> ret->access.index & 1) {
        ret->traits |= PIE_OPERAND_HIDDEN_ADDRESS;
    }
    if (d->instruction.meta.category == ZYDIS_CATEGORY_XSAVE ||
        d->instruction.meta.category == ZYDIS_CATEGORY_XSAVEOPT)
        ret->reach_bytes = XSAVE_BYTES;
}

static bool may_be_watched(const struct decoded *d, const struct pie_operand *operand) {
    const struct pie_access *access = &operand->access;
    bool is_constant =
        access->base >= PIE_ACCESS_REGISTERS && access->index == PIE_ACCESS_NO_REGISTER; /* its address is */
    const unsigned unwatched = PIE_ACCESS_COUNTING | PIE_ACCESS_STACK | PIE_ACCESS_TLS | PIE_ACCESS_GATHER;

    return !(access->flags & unwatched) && !(is_constant && !(access->flags & PIE_ACCESS_STORE)) &&
           access->size_bytes <= WIDEST_BYTES && !(operand->traits & PIE_OPERAND_NARROW) &&
           !is_irregular(d) && !saves_state(&d->instruction) &&
           d->instruction.meta.category != ZYDIS_CATEGORY_IOSTRINGOP;
}

static void fill(const struct decoded *d, const ZydisDecodedOperand *operand, struct pie_operand *ret) {
    bool fits =
        operand->mem.disp.value == (int32_t)operand->mem.disp.value; /* else MOV with a 64-bit address */

    *ret = (struct pie_operand){
        .access = {.ip = d->ip,
                   .disp = fits ? (int32_t)operand->mem.disp.value : 0,
                   .size_bytes = operand->size ? operand->size / 8 : WIDEST_BYTES,
                   .length = d->instruction.length,
                   .base = register_of(operand->mem.base),
                   .index = operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB ? PIE_ACCESS_NO_REGISTER
                                                                       : register_of(operand->mem.index),
                   .scale = operand->mem.scale ? operand->mem.scale : 1,
                   .flags = access_flags(d, operand)},
        .traits = d->instruction.address_width == 64 ? 0 : PIE_OPERAND_NARROW,
    };
    set_after(d, operand, ret);
    if (!fits || is_irregular(d) || ret->access.flags & (PIE_ACCESS_TLS | PIE_ACCESS_GATHER))
        ret->traits |= PIE_OPERAND_HIDDEN_ADDRESS;
    if (fits && may_be_watched(d, ret))
        ret->traits |= PIE_OPERAND_LISTED;
}

static int operands_of(const struct decoded *d, struct pie_operand *operands) {
    int n = 0;

    if (touches_nothing(&d->instruction))
        return 0;
    for (unsigned i = 0; i < d->instruction.operand_count && n < PIE_OPERANDS_MAX; i++) {
        const ZydisDecodedOperand *operand = &d->operands[i];
        bool is_access =
            operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
            (operand->mem.type == ZYDIS_MEMOP_TYPE_MEM || operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB);
        if (is_access)
            fill(d, operand, &operands[n++]);
    }
    return n;
}

int pie_instruction_decode(const uint8_t *code, size_t size, uint64_t ip,
                           struct pie_instruction *ret_instruction,
                           struct pie_operand operands[PIE_OPERANDS_MAX]) {
    ZydisDecoderContext context;
    struct decoded d;

    if (!decoder())
        return -ENOSYS;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder(), &context, code, size, &d.instruction)))
        return -EILSEQ;
    *ret_instruction = describe(&d.instruction, ip);
    if (!operands)
        return 0;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeOperands(decoder(), &context, &d.instruction, d.operands,
                                                 d.instruction.operand_count)))
        return -EILSEQ;
    for (unsigned i = d.instruction.operand_count; i < 2; i++)
        d.operands[i].type = ZYDIS_OPERAND_TYPE_UNUSED;
    d.ip = ip;
    d.overwritten = overwritten_by(&d);
    return operands_of(&d, operands);
}
