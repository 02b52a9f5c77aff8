/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>
#include <opcode.h>

#include "runtime/code/arguments.h"

#include <limits.h>
#include <stdatomic.h>

#include "profiler/base/hash.h"
#include "runtime/code/exception_table.h"
#include "runtime/code/pyops.h"
#include "runtime/code/store.h"

/* How deep the evaluation stack is at an instruction. While a loop runs a frame it keeps that in a register, so it
 * is worked out from the bytecode: in one pass from the beginning, with CPython's own table of what each instruction
 * takes and leaves. Behind an instruction that ends a block, the depth is that of a jump to here, or what the
 * exception table says of a handler. Sites that were asked for are kept, in a word each. */

enum {
    SITES_BITS = 10,
    UNITS_MAX = 8192, /* some 50 us, once for each site */
    PENDING_MAX = 64, /* jumps ahead at a time */
    UNKNOWN = -1,
    COUNT_BITS = 8,
    SHAPE_BITS = 8,
    COUNT_MAX = UINT8_MAX,
};

static _Atomic uint64_t sites[1 << SITES_BITS];

struct scan {
    struct {
        uint32_t unit;
        int32_t depth;
    } pending[PENDING_MAX];
    uint32_t n_pending;
    int32_t depth;
    bool is_after_end; /* the instruction before does not go on here */
};

struct instruction {
    uint32_t end, argument;
    uint8_t opcode;
};

static uint8_t plain_opcode(uint8_t opcode) {
    if (pie_pyops.plain[opcode])
        return pie_pyops.plain[opcode];
    return pie_pyops_deopt[opcode] ? pie_pyops_deopt[opcode] : opcode;
}

static struct instruction read_instruction(const uint8_t *bytecode, uint32_t at, uint32_t units) {
    struct instruction one = {.opcode = plain_opcode(bytecode[2 * at])};

    while (one.opcode == pie_pyops.extended_arg && at + 1 < units) {
        one.argument = (one.argument | bytecode[2 * at + 1]) << 8;
        at++;
        one.opcode = plain_opcode(bytecode[2 * at]);
    }
    one.argument |= bytecode[2 * at + 1];
    one.end = at + 1 + pie_pyops_caches[one.opcode];
    return one;
}

static void arrive(struct scan *scan, uint32_t at) {
    for (uint32_t i = 0; i < scan->n_pending;) {
        if (scan->pending[i].unit > at) {
            i++;
            continue;
        }
        if (scan->pending[i].unit == at && scan->depth == UNKNOWN)
            scan->depth = scan->pending[i].depth;
        scan->pending[i] = scan->pending[--scan->n_pending];
    }
}

static int32_t depth_after(const struct scan *scan, const struct instruction *one, bool is_jump) {
    if (scan->depth == UNKNOWN)
        return UNKNOWN;
    int effect = PyCompile_OpcodeStackEffectWithJump(one->opcode, (int)one->argument, is_jump);
    return effect == INT_MAX || scan->depth + effect < 0 ? UNKNOWN : scan->depth + effect;
}

static void go_on(struct scan *scan, const struct instruction *one) {
    unsigned flow = pie_pyops.flows[one->opcode];
    int32_t there = depth_after(scan, one, true);

    if ((flow & PIE_PYOPS_JUMPS) && !(flow & PIE_PYOPS_BACK) && there != UNKNOWN &&
        scan->n_pending < PENDING_MAX) {
        scan->pending[scan->n_pending].unit = one->end + one->argument;
        scan->pending[scan->n_pending++].depth = there;
    }
    scan->is_after_end = flow & PIE_PYOPS_ENDS;
    scan->depth = scan->is_after_end ? UNKNOWN : depth_after(scan, one, false);
}

static uint8_t shape_of(uint8_t opcode) {
    switch (opcode) {
#ifdef PRECALL
    case PRECALL:
#endif
    case CALL:
        return PIE_CALL_PLAIN;
#ifdef CALL_KW
    case CALL_KW:
        return PIE_CALL_NAMED;
#endif
    case CALL_FUNCTION_EX:
        return PIE_CALL_TUPLE;
    default:
        return PIE_CALL_UNKNOWN;
    }
}

static struct pie_call_site site_of(const struct scan *scan, const struct instruction *one) {
    const struct pie_call_site unknown = {.shape = PIE_CALL_UNKNOWN};
    uint32_t count = one->argument;
    int32_t depth = scan->depth;

    if (depth == UNKNOWN || count > COUNT_MAX || shape_of(one->opcode) == PIE_CALL_UNKNOWN)
        return unknown;
#ifdef PRECALL
    if (one->opcode == CALL) /* CPython's table says that PRECALL takes the arguments: it does not */
        depth += (int32_t)count;
#endif
    if (one->opcode == CALL_FUNCTION_EX)
        count &= 1;
    return (struct pie_call_site){
        .depth = (uint16_t)depth, .count = (uint8_t)count, .shape = shape_of(one->opcode)};
}

/* The flags of code are not kept, but a generator begins with the one instruction that makes it. */
static int32_t first_depth(const uint8_t *bytecode, uint32_t units) {
#if PY_VERSION_HEX < 0x030d0000
    for (uint32_t at = 0; at < units && at < 4; at++)
        if (bytecode[2 * at] == RETURN_GENERATOR)
            return 1;
#endif
    return 0;
}

/* A handler finds the exception on the stack, and below it, if the entry says so, the place of the instruction that
 * raised it. */
static int32_t depth_of_handler(const struct pie_code_record *record, uint32_t at) {
    const uint8_t *table = pie_code_record_exceptiontable(record);
    const uint8_t *end = table + record->exceptiontable_bytes;

    while (table < end) {
        pie_exception_table_read(&table, end);
        pie_exception_table_read(&table, end);
        uint32_t handler = pie_exception_table_read(&table, end),
                 depth = pie_exception_table_read(&table, end);
        if (handler == at)
            return (int32_t)(depth >> 1) + (int32_t)(depth & 1) + 1;
    }
    return UNKNOWN;
}

static struct pie_call_site scan_code(const struct pie_code_record *record, uint32_t unit) {
    const uint8_t *bytecode = pie_code_record_bytecode(record);
    uint32_t units = record->bytecode_units;
    struct scan scan = {.depth = first_depth(bytecode, units)};

    for (uint32_t at = 0; at < units && at <= unit;) {
        arrive(&scan, at);
        if (scan.depth == UNKNOWN && scan.is_after_end)
            scan.depth = depth_of_handler(record, at);
        struct instruction one = read_instruction(bytecode, at, units);
        if (unit < one.end)
            return site_of(&scan, &one);
        go_on(&scan, &one);
        at = one.end;
    }
    return (struct pie_call_site){.shape = PIE_CALL_UNKNOWN};
}

/* Site 0: no word of the table. */
static uint64_t pack(uint64_t key, struct pie_call_site site) {
    return key << 32 | (uint64_t)site.depth << (COUNT_BITS + SHAPE_BITS) |
           (uint64_t)site.count << SHAPE_BITS | site.shape;
}

static struct pie_call_site unpack(uint64_t word) {
    return (struct pie_call_site){.depth = (uint16_t)(word >> (COUNT_BITS + SHAPE_BITS)),
                                  .count = (uint8_t)(word >> SHAPE_BITS),
                                  .shape = (uint8_t)word};
}

struct pie_call_site pie_call_site_find(uint32_t code_id, uint32_t unit) {
    const struct pie_code_record *record = pie_code_store_get(code_id);
    uint64_t hash = pie_hash_mix(pie_hash_upper(code_id), unit), key = hash >> 32;
    _Atomic uint64_t *kept = &sites[hash & ((1 << SITES_BITS) - 1)];
    uint64_t word = atomic_load_explicit(kept, memory_order_relaxed);

    if ((uint8_t)word != 0 && word >> 32 == key)
        return unpack(word);
    if (!record || unit >= record->bytecode_units || unit >= UNITS_MAX)
        return (struct pie_call_site){.shape = PIE_CALL_UNKNOWN};
    struct pie_call_site site = scan_code(record, unit);
    atomic_store_explicit(kept, pack(key, site), memory_order_relaxed);
    return site;
}

void pie_code_arguments_forget(void) {
    for (size_t i = 0; i < sizeof sites / sizeof *sites; i++)
        atomic_store_explicit(&sites[i], 0, memory_order_relaxed);
}
