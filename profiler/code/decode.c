/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/code/decode.h"

#include "profiler/code/decode_function.h"
#include "profiler/code/decode_trap.h"
#include "profiler/code/instruction.h"

#include <errno.h>

struct list {
    struct pie_access *accesses;
    size_t n, max;
};

/* False: no room. */
static bool add(struct list *list, const struct pie_operand *operand) {
    if (!(operand->traits & PIE_OPERAND_LISTED))
        return true;
    if (list->n == list->max)
        return false;
    list->accesses[list->n++] = operand->access;
    return true;
}

uint64_t pie_decode_function_way_on(const struct pie_decode_function *function,
                                    const struct pie_instruction *last, uint64_t high) {
    uint64_t next = last->flow == PIE_FLOW_JUMP ? last->target : high;
    bool goes_on = last->flow == PIE_FLOW_NEXT || last->flow == PIE_FLOW_BRANCH ||
                   last->flow == PIE_FLOW_CALL || last->flow == PIE_FLOW_JUMP;

    return goes_on && next - function->begin < function->size ? next : 0;
}

/* Walks over the block at low, adding to the list. Sets *ret_high and *ret_next, and *ret_met if there is an
 * instruction at ip. */
static int walk(const struct pie_decode_function *function, uint64_t low, uint64_t ip, struct list *list,
                uint64_t *ret_high, uint64_t *ret_next, bool *ret_met) {
    struct pie_operand operands[PIE_OPERANDS_MAX];
    struct pie_instruction in = {.flow = PIE_FLOW_NEXT};
    uint64_t at = low;
    bool has_room = true;

    while (in.flow == PIE_FLOW_NEXT && pie_decode_function_has(function, PIE_DECODE_START, at) &&
           (at == low || !pie_decode_function_has(function, PIE_DECODE_LEADER, at))) {
        int n = pie_decode_function_at(function, at, &in, operands);
        if (n < 0)
            return n;
        *ret_met |= at == ip;
        for (int i = 0; i < n; i++)
            has_room = has_room && add(list, &operands[i]);
        at += in.length;
    }
    *ret_high = at;
    *ret_next = pie_decode_function_way_on(function, &in, at);
    return has_room ? 0 : -E2BIG;
}

int pie_decode_function_block(const struct pie_decode_function *function, uint64_t ip,
                              struct pie_access *accesses, size_t max,
                              struct pie_decode_basic_block *ret_block) {
    struct list list = {.accesses = accesses, .max = max};
    uint64_t low, high = 0, next = 0;
    bool is_met = false;

    low = pie_decode_function_last(function, PIE_DECODE_LEADER, ip);
    if (!low || !pie_decode_function_has(function, PIE_DECODE_START, ip))
        return -EILSEQ;
    int r = walk(function, low, ip, &list, &high, &next, &is_met);
    if (r < 0 && r != -E2BIG)
        return r;
    if (!is_met)
        return -EILSEQ;
    *ret_block = (struct pie_decode_basic_block){
        .low = low,
        .high = high,
        .next = next,
        .before = low > function->begin && !function->is_window
                      ? pie_decode_function_last(function, PIE_DECODE_LEADER, low - 1)
                      : 0,
        .count = list.n,
    };
    return r;
}

int pie_decode_basic_block(uint64_t ip, struct pie_access *accesses, size_t max,
                           struct pie_decode_basic_block *ret_block) {
    const struct pie_decode_function *function;

    if (!pie_decode_is_available())
        return -ENOSYS;
    int r = pie_decode_function_find(ip, &function);
    if (r == -E2BIG)
        *ret_block = (struct pie_decode_basic_block){.low = ip, .high = ip};
    return r < 0 ? r : pie_decode_function_block(function, ip, accesses, max, ret_block);
}

void pie_decode_flush_cache(void) {
    pie_decode_functions_flush();
    pie_decode_traps_flush();
}
