/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/code/operations.h"

#include <string.h>

#include "runtime/code/exception_table.h"
#include "runtime/code/folds.h"
#include "runtime/code/graph.h"
#include "runtime/code/line_table.h"
#include "runtime/code/pyops.h"
#include "runtime/code/store.h"

/* From a record's bytecode to one byte for each code unit: pie_operation, with PIE_OPERATION_IN_LOOP and
 * PIE_OPERATION_IN_FOLD or PIE_OPERATION_IN_FILL.
 *
 * An instruction is its prefixes (EXTENDED_ARG, 8 more bits of argument each), itself and its inline cache; all of
 * these units get its operation, because a sample may stand at any of them. The cache holds anything, so instructions
 * are found from the start on only. Jumps count code units from the end of the instruction.
 *
 * Whatever raises in the units of an entry of the exception table goes on at its handler. */

enum {
    NEXT,
    TARGET,
    HANDLER,
};

enum { SPANS = 64 };

/* The collection thread's own. */
static struct {
    struct pie_code_instruction units[PIE_CODE_UNITS_MAX];
    uint32_t path[PIE_CODE_UNITS_MAX], open[PIE_CODE_UNITS_MAX];
    uint8_t operations[PIE_CODE_UNITS_MAX];
} work;

static uint8_t plain_opcode(uint8_t opcode) {
    if (pie_pyops.plain[opcode])
        return pie_pyops.plain[opcode];
    return pie_pyops_deopt[opcode] ? pie_pyops_deopt[opcode] : opcode;
}

static uint32_t target_of(unsigned flow, uint32_t end, uint32_t distance) {
    if (!(flow & PIE_PYOPS_JUMPS))
        return PIE_CODE_GRAPH_NOWHERE;
    return flow & PIE_PYOPS_BACK ? end - distance : end + distance; /* what wraps is no unit */
}

/* Reads the instruction whose first unit is `start`; returns the first unit after it. */
static uint32_t read_instruction(const uint8_t *bytecode, uint32_t n_units, uint32_t start) {
    struct pie_code_instruction *unit = &work.units[start];
    uint32_t at = start, argument = 0;
    uint8_t opcode = plain_opcode(bytecode[0]);

    while (opcode == pie_pyops.extended_arg && at + 1 < n_units) {
        argument = (argument | bytecode[1]) << 8;
        at++;
        bytecode += PIE_CODE_UNIT_BYTES;
        opcode = plain_opcode(bytecode[0]);
    }
    argument |= bytecode[1];

    unsigned flow = pie_pyops.flows[opcode];
    uint32_t end = at + 1 + pie_pyops_caches[opcode];
    *unit = (struct pie_code_instruction){.is_instruction = true};
    unit->next[NEXT] = flow & PIE_PYOPS_ENDS ? PIE_CODE_GRAPH_NOWHERE : end;
    unit->next[TARGET] = target_of(flow, end, argument);
    unit->next[HANDLER] = PIE_CODE_GRAPH_NOWHERE;
    end = end < n_units ? end : n_units;
    memset(work.operations + start, pie_pyops_operation(opcode, argument), end - start);
    return end;
}

/* Where exceptions go that units of code raise. */
struct handling {
    uint32_t first, length, handler; /* units */
};

static struct handling next_handling(const uint8_t **table, const uint8_t *end) {
    struct handling handling;

    handling.first = pie_exception_table_read(table, end);
    handling.length = pie_exception_table_read(table, end);
    handling.handler = pie_exception_table_read(table, end);
    pie_exception_table_read(table, end); /* the depth of the stack */
    return handling;
}

static void read_handlers(const struct pie_code_record *record) {
    const uint8_t *table = pie_code_record_exceptiontable(record);
    const uint8_t *end = table + record->exceptiontable_bytes;

    while (table < end) {
        struct handling in = next_handling(&table, end);
        for (uint32_t at = in.first; at < record->bytecode_units && at - in.first < in.length; at++)
            work.units[at].next[HANDLER] = in.handler;
    }
}

/* Leaves the record's operations in `work`. */
static void work_out(const struct pie_code_record *record) {
    const uint8_t *bytecode = pie_code_record_bytecode(record);
    uint32_t n_units = record->bytecode_units;

    memset(work.units, 0, n_units * sizeof work.units[0]);
    for (uint32_t at = 0; at < n_units;)
        at = read_instruction(bytecode + (size_t)at * PIE_CODE_UNIT_BYTES, n_units, at);
    read_handlers(record);
    pie_code_graph_mark_loops(work.units, n_units, work.path, work.open);
    for (uint32_t at = 0, loop = 0; at < n_units; at++) {
        if (work.units[at].is_instruction)
            loop = work.units[at].is_in_loop ? PIE_OPERATION_IN_LOOP : 0;
        work.operations[at] |= (uint8_t)loop;
    }
    pie_code_folds_mark(bytecode, n_units, work.operations);
}

unsigned pie_code_operations_find(uint32_t code_id, uint32_t unit) {
    const struct pie_code_record *record = pie_code_store_get(code_id);

    if (!record || unit >= record->bytecode_units)
        return PIE_OPERATION_OTHER;
    const uint8_t *operations = pie_code_store_operations(code_id);
    if (!operations) {
        work_out(record);
        operations = pie_code_store_keep_operations(code_id, work.operations);
    }
    return operations ? operations[unit] : work.operations[unit];
}

/* Every unit of a loop lies between the target and the start of an edge that leads back. This is from the first of such
 * targets to the last of such starts; empty without one. */
struct span {
    uint64_t hash; /* of the code; never 0 of a record */
    uint32_t from, until;
};

static void add_edge(struct span *span, uint32_t from, uint32_t to) {
    if (to > from)
        return;
    span->from = to < span->from ? to : span->from;
    span->until = from + 1 > span->until ? from + 1 : span->until;
}

static void add_jumps(struct span *span, const uint8_t *bytecode, uint32_t n_units) {
    uint32_t argument = 0;

    for (uint32_t at = 0; at < n_units;) {
        uint8_t opcode = plain_opcode(bytecode[(size_t)at * PIE_CODE_UNIT_BYTES]);
        argument |= bytecode[(size_t)at * PIE_CODE_UNIT_BYTES + 1];
        uint32_t end = at + 1 + pie_pyops_caches[opcode], target = PIE_CODE_GRAPH_NOWHERE;
        if (opcode != pie_pyops.extended_arg)
            target = target_of(pie_pyops.flows[opcode], end, argument);
        add_edge(span, end - 1, target);
        argument = opcode == pie_pyops.extended_arg ? argument << 8 : 0;
        at = end;
    }
}

static void add_handlers(struct span *span, const struct pie_code_record *record) {
    const uint8_t *table = pie_code_record_exceptiontable(record);
    const uint8_t *end = table + record->exceptiontable_bytes;

    while (table < end) {
        struct handling in = next_handling(&table, end);
        if (in.length > 0)
            add_edge(span, in.first + in.length - 1, in.handler);
    }
}

/* One walk over the bytecode, where finding its operations takes several and memory. Calls alternate between few
 * codes. */
static const struct span *span_of_loops(const struct pie_code_record *record) {
    static struct span spans[SPANS];
    struct span *span = &spans[(record->hash >> 32) % SPANS];

    if (span->hash != record->hash) {
        *span = (struct span){.hash = record->hash, .from = UINT32_MAX};
        add_jumps(span, pie_code_record_bytecode(record), record->bytecode_units);
        add_handlers(span, record);
    }
    return span;
}

static bool line_meets(const struct pie_code_record *record, const struct span *span, int32_t line) {
    struct pie_line_entry entry = {.current = (uint32_t)record->first_line};

    while (entry.first_unit < span->until &&
           pie_line_table_next(pie_code_record_linetable(record), record->linetable_bytes, &entry))
        if (entry.line == line && entry.first_unit < span->until &&
            entry.first_unit + entry.units > span->from)
            return true;
    return false;
}

static bool line_is_in_loop_of(const struct pie_code_record *record, int32_t line) {
    struct pie_line_entry entry = {.current = (uint32_t)record->first_line};
    bool has_call = false, has_call_in_loop = false, has_any_in_loop = false;

    while (pie_line_table_next(pie_code_record_linetable(record), record->linetable_bytes, &entry)) {
        for (uint32_t i = 0; entry.line == line && i < entry.units; i++) {
            unsigned operation = pie_code_operations_find(record->id, entry.first_unit + i);
            bool is_call = (operation & PIE_OPERATION_MASK) == PIE_OPERATION_CALL;
            has_call = has_call || is_call;
            has_any_in_loop = has_any_in_loop || operation & PIE_OPERATION_IN_LOOP;
            has_call_in_loop = has_call_in_loop || (is_call && operation & PIE_OPERATION_IN_LOOP);
        }
    }
    return has_call ? has_call_in_loop : has_any_in_loop;
}

bool pie_code_operations_line_is_in_loop(uint32_t code_id, int32_t line) {
    const struct pie_code_record *record = pie_code_store_get(code_id);
    const struct span *span = record ? span_of_loops(record) : NULL;

    return span && line_meets(record, span, line) && line_is_in_loop_of(record, line);
}
