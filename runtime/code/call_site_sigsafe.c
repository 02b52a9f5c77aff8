/* SPDX-License-Identifier: Apache-2.0 */
#include <Python.h>
#include <opcode.h>

#include "runtime/code/arguments.h"

#include <stdatomic.h>

#include "profiler/base/hash.h"
#include "runtime/code/pyops.h"
#include "runtime/code/stack_depth.h"
#include "runtime/code/store.h"

/* The stack at an instruction that calls, in one pass from the beginning of the code. Behind an instruction that ends a
 * block, the depth is that of a jump to here, or the one that the exception table says of a handler. Sites that were
 * asked for are kept, in a word each. */

enum {
    SITES_BITS = 10,
    UNITS_MAX = 8192, /* some 50 us, once for each site */
    PENDING_MAX = 64, /* jumps ahead at a time */
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

static void arrive(struct scan *scan, uint32_t at) {
    for (uint32_t i = 0; i < scan->n_pending;) {
        if (scan->pending[i].unit > at) {
            i++;
            continue;
        }
        if (scan->pending[i].unit == at && scan->depth == PIE_STACK_UNKNOWN)
            scan->depth = scan->pending[i].depth;
        scan->pending[i] = scan->pending[--scan->n_pending];
    }
}

static void go_on(struct scan *scan, const struct pie_stack_instruction *one) {
    unsigned flow = pie_pyops.flows[one->opcode];
    int32_t there = pie_stack_depth_after(scan->depth, one, true);

    if ((flow & PIE_PYOPS_JUMPS) && !(flow & PIE_PYOPS_BACK) && there != PIE_STACK_UNKNOWN &&
        scan->n_pending < PENDING_MAX) {
        scan->pending[scan->n_pending].unit = one->end + one->argument;
        scan->pending[scan->n_pending++].depth = there;
    }
    scan->is_after_end = flow & PIE_PYOPS_ENDS;
    scan->depth = scan->is_after_end ? PIE_STACK_UNKNOWN : pie_stack_depth_after(scan->depth, one, false);
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
    case BINARY_OP:
#ifdef BINARY_SUBSCR
    case BINARY_SUBSCR:
#endif
    case COMPARE_OP:
        return PIE_CALL_OPERANDS;
    case CONTAINS_OP:
        return PIE_CALL_CONTAINS;
    case STORE_SUBSCR:
        return PIE_CALL_PUT;
    default:
        return PIE_CALL_UNKNOWN;
    }
}

static uint32_t count_of(uint8_t shape, uint32_t argument) {
    if (shape == PIE_CALL_PUT)
        return 3;
    return shape == PIE_CALL_OPERANDS || shape == PIE_CALL_CONTAINS ? 2 : argument;
}

static struct pie_call_site site_of(const struct scan *scan, const struct pie_stack_instruction *one) {
    const struct pie_call_site unknown = {.shape = PIE_CALL_UNKNOWN};
    uint8_t shape = shape_of(one->opcode);
    uint32_t count = count_of(shape, one->argument);
    int32_t depth = scan->depth;

    if (depth == PIE_STACK_UNKNOWN || count > COUNT_MAX || shape == PIE_CALL_UNKNOWN)
        return unknown;
#ifdef PRECALL
    if (one->opcode == CALL) /* CPython's table says that PRECALL takes the arguments: it does not */
        depth += (int32_t)count;
#endif
    if (one->opcode == CALL_FUNCTION_EX)
        count = PY_VERSION_HEX >= 0x030e0000 ? 1 : count & 1;
    return (struct pie_call_site){.depth = (uint16_t)depth, .count = (uint8_t)count, .shape = shape};
}

static struct pie_call_site scan_code(const struct pie_code_record *record, uint32_t unit) {
    const uint8_t *bytecode = pie_code_record_bytecode(record);
    uint32_t units = record->bytecode_units;
    struct scan scan = {.depth = pie_stack_depth_first(bytecode, units)};

    for (uint32_t at = 0; at < units && at <= unit;) {
        arrive(&scan, at);
        if (scan.depth == PIE_STACK_UNKNOWN && scan.is_after_end)
            scan.depth = pie_stack_depth_of_handler(pie_code_record_exceptiontable(record),
                                                    record->exceptiontable_bytes, at);
        struct pie_stack_instruction one = pie_stack_instruction_read(bytecode, at, units);
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
