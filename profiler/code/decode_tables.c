/* SPDX-License-Identifier: Apache-2.0 */

/* Compilers make of a switch, with the table's address in a register (position independent) or not:
 *
 *     lea table(%rip), %rdx                             jmp *table(,%rax,8)
 *     movslq (%rdx,%rax,4), %rax
 *     add %rdx, %rax                                    lea table(%rip), %rdx
 *     jmp *%rax                                         jmp *(%rdx,%rax,8)     (also by MOV and a jump to a register)
 *
 * The LEA may stand far before the rest. What a register got last, in the order of addresses, is taken for what it
 * holds: a wrong guess shows, since its entries do not lead to instructions. */

#include "profiler/code/decode_tables.h"

#include "profiler/base/safe_load.h"
#include "profiler/code/cfi.h"
#include "profiler/code/decode_sweep.h"

enum { AGE_MAX = 8 };

/* The parts of an instruction with a ModRM byte. */
struct parts {
    uint8_t rex, opcode, mod, reg, rm, scale, base; /* with the bits of REX; scale and base: of a SIB byte */
    bool has_sib, has_index;
    int32_t disp;
};

/* False: not one with a REX prefix or none, and a one-byte opcode. */
static bool split(const uint8_t *code, size_t length, struct parts *p) {
    size_t at = 0;

    *p = (struct parts){0};
    while (at < length && (code[at] == 0x3e || code[at] == 0xf2)) /* NOTRACK, BND */
        at++;
    if (at < length && (code[at] & 0xf0) == 0x40)
        p->rex = code[at++];
    if (length - at < 2)
        return false;
    p->opcode = code[at++];
    uint8_t modrm = code[at++];
    p->mod = modrm >> 6;
    p->reg = (uint8_t)((modrm >> 3 & 7) | (p->rex & 4) << 1);
    p->rm = modrm & 7;
    p->has_sib = p->mod != 3 && p->rm == 4 && at < length;
    if (p->has_sib) {
        uint8_t sib = code[at++];
        p->scale = sib >> 6;
        p->base = (uint8_t)((sib & 7) | (p->rex & 1) << 3);
        p->has_index = ((sib >> 3 & 7) | (p->rex & 2) << 2) != 4;
    }
    if (p->mod == 1 && length - at >= 1)
        p->disp = (int8_t)code[at];
    else if (length - at >= 4)
        p->disp = (int32_t)(code[at] | (uint32_t)code[at + 1] << 8 | (uint32_t)code[at + 2] << 16 |
                            (uint32_t)code[at + 3] << 24);
    return true;
}

/* The table that is indexed by an operand [base + index * scale + disp], 0: not known. */
static uint64_t indexed_table(const struct pie_decode_tables *tables, const struct parts *p) {
    uint64_t disp = p->mod == 1 || p->mod == 2 ? (uint64_t)(int64_t)p->disp : 0;

    if (!p->has_sib || !p->has_index)
        return 0;
    if (p->mod == 0 && (p->base & 7) == 5) /* no base register */
        return (uint64_t)(int64_t)p->disp;
    return tables->bases[p->base] ? tables->bases[p->base] + disp : 0;
}

void pie_decode_tables_see(struct pie_decode_tables *tables, const uint8_t *code, size_t length,
                           uint64_t ip) {
    struct parts p;

    tables->age_instructions++;
    if (!split(code, length, &p) || !(p.rex & 8))
        return;
    if (p.opcode == 0x8d && p.mod == 0 && p.rm == 5) { /* LEA disp(%rip) */
        tables->bases[p.reg] = ip + length + (uint64_t)(int64_t)p.disp;
        return;
    }
    bool is_relative = p.opcode == 0x63 && p.scale == 2; /* MOVSXD */
    if (!is_relative && !(p.opcode == 0x8b && p.scale == 3))
        return;
    uint64_t table = indexed_table(tables, &p);
    if (!table)
        return;
    tables->indexed = table;
    tables->is_relative = is_relative;
    tables->age_instructions = 0;
}

void pie_decode_tables_jump(struct pie_decode_tables *tables, const uint8_t *code, size_t length,
                            uint32_t offset) {
    struct pie_decode_table table = {.jump = offset};
    struct parts p;

    if (tables->n == PIE_DECODE_TABLES_MAX || !split(code, length, &p) || p.opcode != 0xff)
        return;
    if (p.mod != 3) {
        table.address = indexed_table(tables, &p);
    } else if (tables->age_instructions <= AGE_MAX) {
        table.address = tables->indexed;
        table.is_relative = tables->is_relative;
    }
    if (table.address)
        tables->found[tables->n++] = table;
}

/* Where entry i leads; false: unreadable. */
static bool read_entry(const struct pie_decode_table *table, size_t i, uint64_t *ret) {
    int32_t relative;

    if (!table->is_relative)
        return pie_safe_copy(ret, (const void *)(uintptr_t)(table->address + i * sizeof *ret), sizeof *ret);
    if (!pie_safe_copy(&relative, (const void *)(uintptr_t)(table->address + i * sizeof relative),
                       sizeof relative))
        return false;
    *ret = table->address + (uint64_t)(int64_t)relative;
    return true;
}

/* Is there code of another function? A table leads to few of them, the cold part mostly: they are looked up once. */
static bool is_code(uint64_t target, uintptr_t *begin, uintptr_t *end) {
    return (target >= *begin && target < *end) || pie_cfi_function_range(target, begin, end);
}

/* The address where the nearest table behind this one begins. */
static uint64_t next_table(const struct pie_decode_tables *tables, size_t which) {
    uint64_t limit = UINT64_MAX;

    for (size_t i = 0; i < tables->n; i++) {
        uint64_t address = tables->found[i].address;
        if (address > tables->found[which].address && address < limit)
            limit = address;
    }
    return limit;
}

size_t pie_decode_tables_read(const struct pie_decode_tables *tables, size_t which,
                              const struct pie_decode_function *function,
                              uint32_t offsets[PIE_DECODE_TABLE_ENTRIES_MAX]) {
    const struct pie_decode_table *table = &tables->found[which];
    size_t entry_bytes = table->is_relative ? 4 : 8, n = 0;
    uint64_t room = (next_table(tables, which) - table->address) / entry_bytes, target;
    uintptr_t other_begin = 0, other_end = 0;

    for (size_t i = 0; i < PIE_DECODE_TABLE_ENTRIES_MAX && i < room && read_entry(table, i, &target); i++) {
        uint64_t offset = target - function->begin;
        if (offset < function->size) {
            if (!pie_decode_map_get(function, PIE_DECODE_START, (uint32_t)offset))
                break;
            offsets[n++] = (uint32_t)offset;
        } else if (!is_code(target, &other_begin, &other_end)) {
            break;
        }
    }
    return n;
}
