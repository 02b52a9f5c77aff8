/* SPDX-License-Identifier: Apache-2.0 */

/* Instructions are recognised by their mnemonics: those of a family begin alike. Instructions outside the
 * table compute. */

#include "profiler/copies/loop.h"
#include "profiler/copies/loop_code.h"

#include <Zydis/Zydis.h>

#include <errno.h>
#include <string.h>

static const struct family {
    const char *prefix; /* of the mnemonic, without the V of AVX */
    enum pie_copy_action action;
} families[] = {
    /* exceptions first: the first that fits counts */
    {"movmsk", PIE_COPY_COMPUTE}, {"pmovmsk", PIE_COPY_COMPUTE}, {"movdir", PIE_COPY_COMPUTE},
    {"pslldq", PIE_COPY_MOVE},    {"psrldq", PIE_COPY_MOVE},     {"punpck", PIE_COPY_UNPACK},
    {"unpck", PIE_COPY_UNPACK},   {"pack", PIE_COPY_PACK},       {"mov", PIE_COPY_MOVE},
    {"cmov", PIE_COPY_MOVE},      {"kmov", PIE_COPY_MOVE},       {"pmov", PIE_COPY_MOVE},
    {"cvt", PIE_COPY_MOVE},       {"pshuf", PIE_COPY_MOVE},      {"shuf", PIE_COPY_MOVE},
    {"perm", PIE_COPY_MOVE},      {"broadcast", PIE_COPY_MOVE},  {"pbroadcast", PIE_COPY_MOVE},
    {"insert", PIE_COPY_MOVE},    {"extract", PIE_COPY_MOVE},    {"pinsr", PIE_COPY_MOVE},
    {"pextr", PIE_COPY_MOVE},     {"palignr", PIE_COPY_MOVE},    {"align", PIE_COPY_MOVE},
    {"blend", PIE_COPY_MOVE},     {"pblend", PIE_COPY_MOVE},     {"gather", PIE_COPY_MOVE},
    {"pgather", PIE_COPY_MOVE},   {"lddqu", PIE_COPY_MOVE},      {"bswap", PIE_COPY_MOVE},
    {"xchg", PIE_COPY_MOVE},      {"cbw", PIE_COPY_MOVE},        {"cwde", PIE_COPY_MOVE},
    {"cdqe", PIE_COPY_MOVE},      {"pandn", PIE_COPY_COMPUTE},   {"pand", PIE_COPY_MASK},
    {"pcmpgt", PIE_COPY_SIGN},    {"por", PIE_COPY_COMBINE},     {"zero", PIE_COPY_IGNORE},
};

/* Looked up once for each mnemonic; the collection thread alone decodes. */
static enum pie_copy_action family_of(ZydisMnemonic mnemonic) {
    static uint8_t known[ZYDIS_MNEMONIC_MAX_VALUE + 1]; /* action, and 1 */
    const char *name = known[mnemonic] ? NULL : ZydisMnemonicGetString(mnemonic);

    if (known[mnemonic])
        return (enum pie_copy_action)(known[mnemonic] - 1);
    enum pie_copy_action action = PIE_COPY_COMPUTE;
    for (size_t i = 0; name && i < sizeof families / sizeof *families; i++)
        if (strncmp(name + (name[0] == 'v'), families[i].prefix, strlen(families[i].prefix)) == 0) {
            action = families[i].action;
            break;
        }
    known[mnemonic] = (uint8_t)(action + 1);
    return action;
}

static const ZydisDecoder *decoder(void) {
    static ZydisDecoder made;
    static bool is_made; /* the collection thread alone decodes */

    if (!is_made)
        is_made = ZYAN_SUCCESS(ZydisDecoderInit(&made, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64));
    return is_made ? &made : NULL;
}

static uint8_t register_of(ZydisRegister name) {
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);

    if (whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15)
        return (uint8_t)(whole - ZYDIS_REGISTER_RAX);
    if (whole >= ZYDIS_REGISTER_ZMM0 && whole <= ZYDIS_REGISTER_ZMM31)
        return (uint8_t)(PIE_COPY_GENERAL + (whole - ZYDIS_REGISTER_ZMM0));
    if (whole >= ZYDIS_REGISTER_K0 && whole <= ZYDIS_REGISTER_K7)
        return (uint8_t)(PIE_COPY_GENERAL + PIE_COPY_VECTORS + (whole - ZYDIS_REGISTER_K0));
    return PIE_COPY_NO_REGISTER;
}

static void add(uint8_t *list, uint8_t *n, uint8_t name) {
    if (name != PIE_COPY_NO_REGISTER && *n < PIE_COPY_OPERANDS)
        list[(*n)++] = name;
}

static void note_registers(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands,
                           struct pie_copy_code *code) {
    if (in->meta.category == ZYDIS_CATEGORY_STRINGOP) /* MOVS: its registers are addresses */
        return;
    for (unsigned i = 0; i < in->operand_count; i++) {
        const ZydisDecodedOperand *operand = &operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN) {
            add(code->inputs, &code->n_inputs, register_of(operand->mem.base)); /* LEA computes with them */
            add(code->inputs, &code->n_inputs, register_of(operand->mem.index));
        }
        if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
            continue;
        uint8_t name = register_of(operand->reg.value);
        if (operand->actions & (ZYDIS_OPERAND_ACTION_MASK_READ | ZYDIS_OPERAND_ACTION_CONDWRITE))
            add(code->inputs, &code->n_inputs, name);
        if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
            add(code->outputs, &code->n_outputs, name);
    }
}

static bool is_register(const ZydisDecodedOperand *operand) {
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER;
}

/* XOR of a register with itself, and the like. */
static bool clears(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands) {
    unsigned n = in->operand_count_visible;

    if (n < 2 || !is_register(&operands[n - 1]) || !is_register(&operands[n - 2]) ||
        operands[n - 1].reg.value != operands[n - 2].reg.value)
        return false;
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_PXOR:
    case ZYDIS_MNEMONIC_XORPS:
    case ZYDIS_MNEMONIC_XORPD:
    case ZYDIS_MNEMONIC_VPXOR:
    case ZYDIS_MNEMONIC_VPXORD:
    case ZYDIS_MNEMONIC_VPXORQ:
    case ZYDIS_MNEMONIC_VXORPS:
    case ZYDIS_MNEMONIC_VXORPD:
    case ZYDIS_MNEMONIC_PCMPEQB:
    case ZYDIS_MNEMONIC_PCMPEQD:
    case ZYDIS_MNEMONIC_VPCMPEQB:
    case ZYDIS_MNEMONIC_VPCMPEQD:
        return true;
    default:
        return false;
    }
}

/* The bytes of a 16-bit element change places. */
static bool swaps_bytes(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands) {
    return (in->mnemonic == ZYDIS_MNEMONIC_ROL || in->mnemonic == ZYDIS_MNEMONIC_ROR) &&
           operands[0].size == 16 && operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
           operands[1].imm.value.u == 8;
}

/* Half of a byte swap, or a sign for a widening. */
static bool shifts_part(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands) {
    const ZydisDecodedOperand *by = &operands[in->operand_count_visible ? in->operand_count_visible - 1 : 0];

    if (by->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return false;
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_PSLLW:
    case ZYDIS_MNEMONIC_PSRLW:
    case ZYDIS_MNEMONIC_VPSLLW:
    case ZYDIS_MNEMONIC_VPSRLW:
        return by->imm.value.u == 8;
    case ZYDIS_MNEMONIC_PSRAW:
    case ZYDIS_MNEMONIC_VPSRAW:
        return by->imm.value.u == 15;
    case ZYDIS_MNEMONIC_PSRAD:
    case ZYDIS_MNEMONIC_VPSRAD:
        return by->imm.value.u == 31;
    default:
        return false;
    }
}

static enum pie_copy_action action_of(const ZydisDecodedInstruction *in,
                                      const ZydisDecodedOperand *operands) {
    switch (in->meta.category) {
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
        return PIE_COPY_IGNORE;
    default:
        break;
    }
    if (clears(in, operands))
        return PIE_COPY_CLEAR;
    if (swaps_bytes(in, operands))
        return PIE_COPY_MOVE;
    if (shifts_part(in, operands))
        return PIE_COPY_SHIFT;
    return family_of(in->mnemonic);
}

static void note_step_by(const ZydisDecodedOperand *by, int sign, struct pie_copy_code *code) {
    if (by->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        code->step_bytes = sign * by->imm.value.s;
    } else if (is_register(by)) {
        code->step_register = register_of(by->reg.value);
        code->step_factor = (int8_t)sign;
    } else {
        code->stepped = PIE_COPY_NO_REGISTER;
    }
}

/* LEA that adds to its own base. */
static void note_step_lea(const ZydisDecodedOperand *address, struct pie_copy_code *code) {
    if (address->mem.base == ZYDIS_REGISTER_NONE || register_of(address->mem.base) != code->stepped) {
        code->stepped = PIE_COPY_NO_REGISTER;
        return;
    }
    code->step_bytes = address->mem.disp.value;
    if (address->mem.index != ZYDIS_REGISTER_NONE) {
        code->step_register = register_of(address->mem.index);
        code->step_factor = (int8_t)address->mem.scale;
    }
}

static void note_step(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands,
                      struct pie_copy_code *code) {
    code->stepped = code->step_register = PIE_COPY_NO_REGISTER;
    if (in->operand_count_visible == 0 || !is_register(&operands[0]) || operands[0].size < 32)
        return;
    uint8_t name = register_of(operands[0].reg.value);
    code->stepped = name < PIE_COPY_GENERAL ? name : PIE_COPY_NO_REGISTER;
    if (code->stepped == PIE_COPY_NO_REGISTER)
        return;
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
        note_step_by(&operands[1], 1, code);
        break;
    case ZYDIS_MNEMONIC_SUB:
        note_step_by(&operands[1], -1, code);
        break;
    case ZYDIS_MNEMONIC_INC:
        code->step_bytes = 1;
        break;
    case ZYDIS_MNEMONIC_DEC:
        code->step_bytes = -1;
        break;
    case ZYDIS_MNEMONIC_LEA:
        note_step_lea(&operands[1], code);
        break;
    default:
        code->stepped = PIE_COPY_NO_REGISTER;
    }
}

int pie_copy_code_decode(const uint8_t *code, size_t size, struct pie_copy_code *ret_code) {
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecodedInstruction in;

    if (!decoder())
        return -ENOSYS;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder(), code, size, &in, operands)))
        return -EILSEQ;
    bool converts = in.meta.category == ZYDIS_CATEGORY_CONVERT;
    *ret_code = (struct pie_copy_code){.action = (uint8_t)action_of(&in, operands), .work = converts ? 2 : 1};
    note_registers(&in, operands, ret_code);
    note_step(&in, operands, ret_code);
    return 0;
}
