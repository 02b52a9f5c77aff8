/* SPDX-License-Identifier: Apache-2.0 */

/* A reader of .eh_frame (LSB Core, "Exception Frames"; DWARF 5 §6.4), cut down to what x86-64 code compiled in practice
 * contains. The search: pie_find_object() gives the module's .eh_frame_hdr, whose sorted table gives the frame
 * description entry (FDE) of the function; its call frame instructions are run up to pc, following only the CFA, RBP,
 * RBX and the return address. Compilers describe the CFA by an expression in two cases, both recognised by their bytes:
 * the linker's PLT (binutils elf_x86_64_eh_frame_plt) and functions that realign the stack through a saved pointer
 * (GCC's DRAP). Any other expression is EXOTIC. Tables may be hostile: all reads are checked, every loop is bounded. */

#include "profiler/code/cfi.h"

#include "profiler/base/safe_load.h"
#include "profiler/code/find_object.h"
#include "profiler/code/modules.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
    REG_RBX_DWARF = 3,
    REG_RBP_DWARF = 6,
    REG_RSP_DWARF = 7,
    REG_RA_DWARF = 16,
    REMEMBER_MAX = 8,
    INSTRUCTIONS_MAX = 65536,
};

enum rule_type { RULE_SAME, RULE_OFFSET, RULE_EXPRESSION, RULE_UNDEFINED, RULE_OTHER };

struct reg_rule {
    enum rule_type type;
    int64_t offset;
    const uint8_t *expression; /* at its length */
};

struct row {
    uint64_t cfa_reg;
    int64_t cfa_offset;
    const uint8_t *cfa_expression; /* at its length; NULL: register and offset */
    struct reg_rule rbp, rbx, ra;
    bool rsp_changed; /* RSP has a rule of its own: not modelled */
};

/* A reader over mapped bytes; `bad` sticks. Entries are read byte by byte, so the last word is kept. */
struct cursor {
    const uint8_t *at, *end;
    bool bad;
    uintptr_t word_at; /* 0: none is kept */
    uint64_t word;
};

struct cie {
    uint64_t code_align;
    int64_t data_align;
    uint8_t pointer_encoding;
    bool has_augmentation_data, is_signal;
    struct cursor instructions;
};

/* The bytes of the aligned word around `at`, those before it shifted out. False: they cannot be read. */
static bool load_from(struct cursor *c, uintptr_t at, uint64_t *ret_word) {
    uintptr_t skip = at % sizeof c->word;

    if (c->word_at != at - skip || !c->word_at) {
        c->word_at = pie_safe_load((const void *)(at - skip), (uintptr_t *)&c->word) ? at - skip : 0;
        if (!c->word_at)
            return false;
    }
    *ret_word = c->word >> (skip * 8);
    return true;
}

/* Little-endian, as x86-64 is; at most 8. A word is only loaded if one of the wanted bytes is in it. */
static uint64_t read_bytes(struct cursor *c, size_t size) {
    uintptr_t at = (uintptr_t)c->at;
    size_t here = sizeof c->word - at % sizeof c->word;
    uint64_t value, rest = 0;

    if (c->bad || (size_t)(c->end - c->at) < size || !load_from(c, at, &value) ||
        (size > here && !load_from(c, at + here, &rest))) {
        c->bad = true;
        return 0;
    }
    c->at += size;
    if (size > here)
        value |= rest << (here * 8);
    return size == sizeof value ? value : value & ((UINT64_C(1) << (size * 8)) - 1);
}

/* Most of an entry are single bytes of a word that is kept. */
static inline uint8_t read_byte(struct cursor *c) {
    uintptr_t at = (uintptr_t)c->at;

    if (c->at >= c->end || at - c->word_at >= sizeof c->word || c->bad)
        return (uint8_t)read_bytes(c, 1);
    c->at++;
    return (uint8_t)(c->word >> (at % sizeof c->word * 8));
}

/* LEB128 (DWARF 5 §7.6); a signed one is extended from the last byte's bit 6. */
static uint64_t read_leb(struct cursor *c, bool is_signed) {
    uint64_t value = 0;
    uint8_t byte;
    unsigned shift = 0;

    do {
        byte = read_byte(c);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (!c->bad && (byte & 0x80) && shift < 70);
    if (is_signed && shift < 64 && (byte & 0x40))
        value |= ~UINT64_C(0) << shift;
    return value;
}

static uint64_t read_uleb(struct cursor *c) {
    return read_leb(c, false);
}

static int64_t read_sleb(struct cursor *c) {
    return (int64_t)read_leb(c, true);
}

/* A factored offset (DWARF 5 §6.4.2), modulo 2^64: in a damaged file the product may be anything. */
static int64_t unfactored(uint64_t factored, const struct cie *cie) {
    return (int64_t)(factored * (uint64_t)cie->data_align);
}

static void skip(struct cursor *c, uint64_t size) {
    if (c->bad || (uint64_t)(c->end - c->at) < size)
        c->bad = true;
    else
        c->at += size;
}

/* Pointer encodings of the LSB: low four bits the format, the next three what it is relative to. */
static uint64_t read_encoded(struct cursor *c, uint8_t encoding, bool relative) {
    uintptr_t here = (uintptr_t)c->at;
    uint64_t value;

    switch (encoding & 0x0f) {
    case 0x00: /* absptr */
    case 0x04: /* udata8 */
    case 0x0c: /* sdata8 */
        value = read_bytes(c, 8);
        break;
    case 0x03: /* udata4 */
        value = read_bytes(c, 4);
        break;
    case 0x0b: /* sdata4 */
        value = (uint64_t)(int64_t)(int32_t)read_bytes(c, 4);
        break;
    default:
        c->bad = true;
        return 0;
    }
    if (relative && (encoding & 0x70) == 0x10)
        value += here;
    else if (relative && (encoding & 0x70) != 0)
        c->bad = true;
    return value;
}

static bool parse_augmentation(struct cursor *c, const char *text, struct cie *cie) {
    for (; *text; text++) {
        if (*text == 'R') {
            cie->pointer_encoding = read_byte(c);
        } else if (*text == 'P') {
            uint8_t encoding = read_byte(c);
            read_encoded(c, encoding, false);
        } else if (*text == 'L') {
            read_byte(c);
        } else if (*text == 'S') {
            cie->is_signal = true;
        } else if (*text != 'B') {
            return false;
        }
    }
    return !c->bad;
}

static bool parse_cie(const uint8_t *at, struct cie *cie) {
    struct cursor c = {at, at + 4, false, 0, 0};
    char augmentation[8] = "";
    size_t n = 0;

    uint64_t length = read_bytes(&c, 4);
    if (c.bad || length == 0 || length > 65536)
        return false;
    c.end = c.at + length;
    if (read_bytes(&c, 4) != 0) /* a CIE has id 0 */
        return false;
    uint64_t version = read_byte(&c);
    while (n < sizeof augmentation && (augmentation[n] = (char)read_byte(&c)) != 0)
        n++;
    if (n == sizeof augmentation || (version != 1 && version != 3))
        return false;
    *cie = (struct cie){.code_align = read_uleb(&c)};
    cie->data_align = read_sleb(&c);
    uint64_t ra_reg = version == 1 ? read_byte(&c) : read_uleb(&c);
    if (c.bad || ra_reg != REG_RA_DWARF)
        return false;
    if (augmentation[0] == 'z') {
        cie->has_augmentation_data = true;
        uint64_t size = read_uleb(&c);
        struct cursor data = c;
        skip(&c, size);
        if (!parse_augmentation(&data, augmentation + 1, cie))
            return false;
    } else if (augmentation[0] != 0) {
        return false;
    }
    cie->instructions = c;
    return !c.bad;
}

static void set_rule(struct row *row, uint64_t reg, struct reg_rule rule) {
    if (reg == REG_RBP_DWARF)
        row->rbp = rule;
    else if (reg == REG_RBX_DWARF)
        row->rbx = rule;
    else if (reg == REG_RA_DWARF)
        row->ra = rule;
    else if (reg == REG_RSP_DWARF)
        row->rsp_changed = true;
}

struct machine {
    struct row row, initial, remembered[REMEMBER_MAX];
    unsigned depth;
    uint64_t loc;
};

static void restore(struct machine *m, uint64_t reg) {
    if (reg == REG_RBP_DWARF)
        m->row.rbp = m->initial.rbp;
    else if (reg == REG_RBX_DWARF)
        m->row.rbx = m->initial.rbx;
    else if (reg == REG_RA_DWARF)
        m->row.ra = m->initial.ra;
    else if (reg == REG_RSP_DWARF)
        m->row.rsp_changed = m->initial.rsp_changed;
}

static const uint8_t *read_block(struct cursor *c) {
    const uint8_t *at = c->at;
    skip(c, read_uleb(c));
    return at;
}

/* Instructions that define the CFA. Returns false for others. */
static bool step_cfa(struct machine *m, struct cursor *c, const struct cie *cie, uint8_t op) {
    switch (op) {
    case 0x0c: /* def_cfa */
        m->row.cfa_reg = read_uleb(c);
        m->row.cfa_offset = (int64_t)read_uleb(c);
        break;
    case 0x12: /* def_cfa_sf */
        m->row.cfa_reg = read_uleb(c);
        m->row.cfa_offset = unfactored((uint64_t)read_sleb(c), cie);
        break;
    case 0x0d: /* def_cfa_register */
        m->row.cfa_reg = read_uleb(c);
        break;
    case 0x0e: /* def_cfa_offset */
        m->row.cfa_offset = (int64_t)read_uleb(c);
        break;
    case 0x13: /* def_cfa_offset_sf */
        m->row.cfa_offset = unfactored((uint64_t)read_sleb(c), cie);
        break;
    case 0x0f: /* def_cfa_expression */
        m->row.cfa_expression = read_block(c);
        return true;
    default:
        return false;
    }
    m->row.cfa_expression = NULL;
    return true;
}

static bool step_location(struct machine *m, struct cursor *c, const struct cie *cie, uint8_t op) {
    switch (op) {
    case 0x01: /* set_loc */
        m->loc = read_encoded(c, cie->pointer_encoding, true);
        return true;
    case 0x02:
    case 0x03:
    case 0x04: /* advance_loc1, 2, 4 */
        m->loc += read_bytes(c, (size_t)1 << (op - 2)) * cie->code_align;
        return true;
    default:
        return false;
    }
}

static bool step_state(struct machine *m, struct cursor *c, uint8_t op) {
    if (op == 0x0a) { /* remember_state */
        if (m->depth == REMEMBER_MAX)
            c->bad = true;
        else
            m->remembered[m->depth++] = m->row;
        return true;
    }
    if (op == 0x0b) { /* restore_state */
        if (m->depth == 0)
            c->bad = true;
        else
            m->row = m->remembered[--m->depth];
        return true;
    }
    return false;
}

static void step_register(struct machine *m, struct cursor *c, const struct cie *cie, uint8_t op) {
    uint64_t reg;

    switch (op) {
    case 0x05: /* offset_extended */
        reg = read_uleb(c);
        set_rule(&m->row, reg, (struct reg_rule){RULE_OFFSET, unfactored(read_uleb(c), cie), NULL});
        break;
    case 0x11: /* offset_extended_sf */
        reg = read_uleb(c);
        set_rule(&m->row, reg, (struct reg_rule){RULE_OFFSET, unfactored((uint64_t)read_sleb(c), cie), NULL});
        break;
    case 0x06: /* restore_extended */
        restore(m, read_uleb(c));
        break;
    case 0x07: /* undefined */
        set_rule(&m->row, read_uleb(c), (struct reg_rule){.type = RULE_UNDEFINED});
        break;
    case 0x08: /* same_value */
        set_rule(&m->row, read_uleb(c), (struct reg_rule){.type = RULE_SAME});
        break;
    case 0x10: /* expression */
        reg = read_uleb(c);
        set_rule(&m->row, reg, (struct reg_rule){RULE_EXPRESSION, 0, read_block(c)});
        break;
    case 0x16: /* val_expression */
        reg = read_uleb(c);
        read_block(c);
        set_rule(&m->row, reg, (struct reg_rule){.type = RULE_OTHER});
        break;
    case 0x09: /* register */
    case 0x14: /* val_offset */
        reg = read_uleb(c);
        read_uleb(c);
        set_rule(&m->row, reg, (struct reg_rule){.type = RULE_OTHER});
        break;
    case 0x2e: /* GNU_args_size */
        read_uleb(c);
        break;
    case 0x00: /* nop */
        break;
    default:
        c->bad = true;
    }
}

/* Runs instructions until the end or until they describe code beyond pc. */
static bool run(struct machine *m, struct cursor c, const struct cie *cie, uint64_t pc) {
    for (unsigned n = 0; c.at < c.end && m->loc <= pc; n++) {
        uint8_t op = read_byte(&c);
        uint8_t low = op & 0x3f;

        if (c.bad || n == INSTRUCTIONS_MAX)
            return false;
        if ((op & 0xc0) == 0x40) /* advance_loc */
            m->loc += low * cie->code_align;
        else if ((op & 0xc0) == 0x80) /* offset */
            set_rule(&m->row, low, (struct reg_rule){RULE_OFFSET, unfactored(read_uleb(&c), cie), NULL});
        else if ((op & 0xc0) == 0xc0) /* restore */
            restore(m, low);
        else if (!step_cfa(m, &c, cie, op) && !step_location(m, &c, cie, op) && !step_state(m, &c, op))
            step_register(m, &c, cie, op);
    }
    return !c.bad;
}

/* DW_OP_breg6 n, optionally followed by DW_OP_deref: fills *ret_offset. */
static bool is_rbp_expression(const uint8_t *at, bool deref, int32_t *ret_offset) {
    struct cursor c = {at, at + 16, false, 0, 0};
    uint64_t size = read_uleb(&c);

    c.end = c.at + (size < 16 ? size : 0);
    if (read_bytes(&c, 1) != 0x76)
        return false;
    int64_t offset = read_sleb(&c);
    if (deref && read_bytes(&c, 1) != 0x06)
        return false;
    *ret_offset = (int32_t)offset;
    return !c.bad && c.at == c.end && offset == (int32_t)offset;
}

static bool is_plt_expression(const uint8_t *at) {
    /* breg7 8; breg16 0; lit15; and; lit11 (or lit10 with CET); ge; lit3; shl; plus */
    static const uint8_t head[] = {11, 0x77, 8, 0x80, 0, 0x3f, 0x1a}, tail[] = {0x2a, 0x33, 0x24, 0x22};
    uint8_t bytes[12];

    return pie_safe_copy(bytes, at, sizeof bytes) && memcmp(bytes, head, sizeof head) == 0 &&
           bytes[7] == 0x3b && memcmp(bytes + 8, tail, sizeof tail) == 0;
}

static bool cfa_rule(const struct row *row, struct pie_cfi_rule *rule) {
    if (row->cfa_expression) {
        if (is_plt_expression(row->cfa_expression))
            rule->cfa = PIE_CFI_CFA_PLT;
        else if (is_rbp_expression(row->cfa_expression, true, &rule->cfa_offset))
            rule->cfa = PIE_CFI_CFA_RBP_DEREF;
        else
            return false;
        return true;
    }
    switch (row->cfa_reg) {
    case REG_RSP_DWARF:
        rule->cfa = PIE_CFI_CFA_RSP;
        break;
    case REG_RBP_DWARF:
        rule->cfa = PIE_CFI_CFA_RBP;
        break;
    case REG_RBX_DWARF:
        rule->cfa = PIE_CFI_CFA_RBX;
        break;
    default:
        return false;
    }
    rule->cfa_offset = (int32_t)row->cfa_offset;
    return row->cfa_offset == rule->cfa_offset;
}

static bool rbp_rule(const struct row *row, struct pie_cfi_rule *rule) {
    switch (row->rbp.type) {
    case RULE_SAME:
    case RULE_UNDEFINED:
        rule->rbp = PIE_CFI_RBP_SAME;
        return true;
    case RULE_OFFSET:
        rule->rbp = PIE_CFI_RBP_AT_CFA;
        rule->rbp_offset = (int32_t)row->rbp.offset;
        return row->rbp.offset == rule->rbp_offset;
    case RULE_EXPRESSION:
        rule->rbp = PIE_CFI_RBP_AT_RBP;
        return is_rbp_expression(row->rbp.expression, false, &rule->rbp_offset);
    default:
        return false;
    }
}

/* RBX matters only to the few frames that are addressed by it: a rule that is not modelled loses no more than those. */
static void rbx_rule(const struct row *row, struct pie_cfi_rule *rule) {
    if (row->rbx.type == RULE_OFFSET && row->rbx.offset == (int32_t)row->rbx.offset)
        rule->rbx_offset = (int32_t)row->rbx.offset;
}

static struct pie_cfi_rule rule_of(const struct row *row) {
    struct pie_cfi_rule rule = {.kind = PIE_CFI_NORMAL};

    if (row->ra.type == RULE_UNDEFINED)
        return (struct pie_cfi_rule){.kind = PIE_CFI_OUTERMOST};
    if (row->rsp_changed || row->ra.type != RULE_OFFSET || row->ra.offset != -8 || !cfa_rule(row, &rule) ||
        !rbp_rule(row, &rule))
        return (struct pie_cfi_rule){.kind = PIE_CFI_EXOTIC};
    rbx_rule(row, &rule);
    return rule;
}

/* Reads an FDE up to its addresses; c is left behind them. False: it is not one that covers pc. */
static bool open_fde(const uint8_t *at, uint64_t pc, struct cursor *c, struct cie *cie, uint64_t *ret_begin,
                     uint64_t *ret_size) {
    *c = (struct cursor){at, at + 4, false, 0, 0};
    uint64_t length = read_bytes(c, 4);
    if (c->bad || length < 4 || length > 1 << 24)
        return false;
    c->end = c->at + length;
    const uint8_t *id_at = c->at;
    uint64_t id = read_bytes(c, 4);
    if (id == 0 || !parse_cie(id_at - id, cie))
        return false;
    *ret_begin = read_encoded(c, cie->pointer_encoding, true);
    *ret_size = read_encoded(c, cie->pointer_encoding, false);
    return !c->bad && pc >= *ret_begin && pc - *ret_begin < *ret_size;
}

static struct pie_cfi_rule read_fde(const uint8_t *at, uint64_t pc) {
    const struct pie_cfi_rule none = {.kind = PIE_CFI_NONE}, exotic = {.kind = PIE_CFI_EXOTIC};
    struct cursor c;
    struct cie cie;
    uint64_t begin, size;

    if (!open_fde(at, pc, &c, &cie, &begin, &size))
        return none;
    if (cie.is_signal)
        return (struct pie_cfi_rule){.kind = PIE_CFI_SIGNAL};
    if (cie.has_augmentation_data)
        skip(&c, read_uleb(&c));
    struct machine m = {0};
    if (!run(&m, cie.instructions, &cie, 0))
        return exotic;
    m.initial = m.row;
    m.loc = begin;
    return run(&m, c, &cie, pc) ? rule_of(&m.row) : exotic;
}

/* A word of the table, of which linkers align each to its size. */
static bool load_offset(const uint8_t *at, int32_t *ret_offset) {
    uintptr_t skip = (uintptr_t)at % sizeof(uintptr_t), word;

    if (skip % sizeof *ret_offset != 0)
        return pie_safe_copy(ret_offset, at, sizeof *ret_offset);
    if (!pie_safe_load(at - skip, &word))
        return false;
    *ret_offset = (int32_t)(word >> (skip * 8));
    return true;
}

/* Binary search in the table of .eh_frame_hdr: pairs of 32-bit offsets from the header, sorted by first pc. */
static const uint8_t *search_table(const uint8_t *header, const uint8_t *table, uint64_t count, uint64_t pc) {
    uint64_t low = 0, high = count;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        int32_t begin;
        if (!load_offset(table + middle * 8, &begin))
            return NULL;
        if ((uint64_t)(uintptr_t)header + (uint64_t)(int64_t)begin <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    int32_t fde;
    if (low == 0 || !load_offset(table + (low - 1) * 8 + 4, &fde))
        return NULL;
    return header + fde;
}

/* The FDE of a module that may cover pc, NULL if there is none. */
static const uint8_t *find_fde_in(const struct pie_object *object, uintptr_t pc) {
    if (!object->eh_frame)
        return NULL;
    const uint8_t *header = object->eh_frame;
    struct cursor c = {header, header + 64, false, 0, 0};
    uint64_t version = read_bytes(&c, 1);
    uint8_t frame_encoding = (uint8_t)read_bytes(&c, 1), count_encoding = (uint8_t)read_bytes(&c, 1);
    uint8_t table_encoding = (uint8_t)read_bytes(&c, 1);
    if (version != 1 || table_encoding != 0x3b || count_encoding == 0xff)
        return NULL;
    read_encoded(&c, frame_encoding, false);
    uint64_t count = read_encoded(&c, count_encoding, false);
    if (c.bad || count > UINT32_MAX)
        return NULL;
    return search_table(header, c.at, count, pc);
}

static const uint8_t *find_fde(uintptr_t pc) {
    struct pie_object object;

    return pie_find_object(pc, &object) ? find_fde_in(&object, pc) : NULL;
}

struct pie_cfi_rule pie_cfi_find(uintptr_t pc) {
    struct pie_cfi_rule rule = {.kind = PIE_CFI_NONE, .module = PIE_CODE_MODULE_NOWHERE};
    struct pie_object object;

    if (!pie_find_object(pc, &object))
        return rule;
    const uint8_t *fde = find_fde_in(&object, pc);
    if (fde)
        rule = read_fde(fde, pc);
    rule.module = (uint16_t)pie_code_module_of(&object, pc);
    return rule;
}

bool pie_cfi_function_range(uintptr_t pc, uintptr_t *ret_begin, uintptr_t *ret_end) {
    const uint8_t *fde = find_fde(pc);
    struct cursor c;
    struct cie cie;
    uint64_t begin, size;

    if (!fde || !open_fde(fde, pc, &c, &cie, &begin, &size) || size > UINTPTR_MAX - begin)
        return false;
    *ret_begin = begin;
    *ret_end = begin + size;
    return true;
}

uintptr_t pie_cfi_function(uintptr_t pc) {
    uintptr_t begin, end;

    return pie_cfi_function_range(pc, &begin, &end) ? begin : 0;
}

/* 1 bit that is always set, kind 3, CFA 3, RBP 2, then the offsets: 27 bits of bytes, twice 14 bits of 8 bytes. */
static bool fits(int32_t value, int bits) {
    return value >= -(1 << (bits - 1)) && value < 1 << (bits - 1);
}

static int32_t sign_extend(uint64_t value, int bits) {
    return (int32_t)((uint32_t)value << (32 - bits)) >> (32 - bits);
}

uint64_t pie_cfi_pack(struct pie_cfi_rule rule) {
    if (rule.rbx_offset % 8 != 0 || !fits(rule.rbx_offset / 8, 14))
        rule.rbx_offset = 0;
    if (!fits(rule.cfa_offset, 27) || rule.rbp_offset % 8 != 0 || !fits(rule.rbp_offset / 8, 14))
        rule = (struct pie_cfi_rule){.kind = PIE_CFI_EXOTIC};
    return ((uint64_t)rule.cfa_offset & 0x7ffffff) << 37 | ((uint64_t)(rule.rbp_offset / 8) & 0x3fff) << 23 |
           ((uint64_t)(rule.rbx_offset / 8) & 0x3fff) << 9 | (uint64_t)rule.rbp << 7 |
           (uint64_t)rule.cfa << 4 | (uint64_t)rule.kind << 1 | 1;
}

struct pie_cfi_rule pie_cfi_unpack(uint64_t packed) {
    return (struct pie_cfi_rule){
        .kind = (enum pie_cfi_kind)(packed >> 1 & 7),
        .cfa = (enum pie_cfi_cfa)(packed >> 4 & 7),
        .rbp = (enum pie_cfi_rbp)(packed >> 7 & 3),
        .cfa_offset = sign_extend(packed >> 37 & 0x7ffffff, 27),
        .rbp_offset = sign_extend(packed >> 23 & 0x3fff, 14) * 8,
        .rbx_offset = sign_extend(packed >> 9 & 0x3fff, 14) * 8,
    };
}
