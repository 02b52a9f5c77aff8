/* SPDX-License-Identifier: Apache-2.0 */

/* A data breakpoint is reported when its instruction is done (Intel SDM vol. 3, 17.2.4), so the access is before RIP; a
 * repeated string instruction may be interrupted, and then RIP is still on it. What is before RIP in memory was not
 * always executed before: the address decides. A repeated instruction that was not begun touches nothing behind its
 * registers, so what is before it comes first if its address is right, and last if nothing is known of its address. */

#include "profiler/code/decode_trap.h"

#include "profiler/base/hash.h"
#include "profiler/base/own_memory.h"
#include "profiler/code/decode.h"
#include "profiler/code/decode_function.h"

#include <errno.h>

enum {
    TRAPS_BITS = 8,
    TRAPS = 1 << TRAPS_BITS,
    WAYS_MAX = 2, /* instructions that end at one address: with its LOCK prefix and without */
    BEFORE_MAX = WAYS_MAX * PIE_OPERANDS_MAX,
};

/* What may have trapped with this RIP. */
struct trap {
    uint64_t rip; /* 0: empty */
    int result;   /* 0, or -errno: nothing is known */
    uint8_t n_before, n_at;
    struct pie_operand before[BEFORE_MAX], at[PIE_OPERANDS_MAX];
};

static struct trap *traps; /* of the collection thread; a place for each hash of RIP */

/* Only what goes on to the next instruction can be before it. */
static bool ends_at(const struct pie_decode_function *function, uint64_t start, uint64_t rip,
                    struct trap *trap) {
    struct pie_instruction in;
    int n = pie_decode_function_at(function, start, &in, trap->before + trap->n_before);

    if (n < 0 || start + in.length != rip)
        return false;
    if (in.flow == PIE_FLOW_NEXT || in.flow == PIE_FLOW_BRANCH)
        trap->n_before += (uint8_t)n;
    return true;
}

static int learn_before(uint64_t rip, struct trap *trap) {
    const struct pie_decode_function *function;
    int r = pie_decode_function_find(rip - 1, &function), ways = 0;
    uint64_t start = rip;

    if (r < 0)
        return r;
    if (rip != function->begin + function->size && !pie_decode_function_has(function, PIE_DECODE_START, rip))
        return -EILSEQ;
    while (ways < WAYS_MAX) {
        start = pie_decode_function_last(function, PIE_DECODE_START, start - 1);
        if (!start || rip - start > PIE_INSTRUCTION_BYTES_MAX)
            break;
        ways += ends_at(function, start, rip, trap);
    }
    return 0;
}

static int learn_at(uint64_t rip, struct trap *trap) {
    const struct pie_decode_function *function;
    struct pie_instruction in;
    int r = pie_decode_function_find(rip, &function);

    if (r < 0)
        return r;
    if (!pie_decode_function_has(function, PIE_DECODE_START, rip))
        return -EILSEQ;
    int n = pie_decode_function_at(function, rip, &in, trap->at);
    trap->n_at = n > 0 && trap->at[0].access.flags & PIE_ACCESS_REP ? (uint8_t)n : 0;
    return n < 0 ? n : 0;
}

/* A function's first instruction has none before it, its last none behind: one of the two is enough. */
static void learn(uint64_t rip, struct trap *trap) {
    *trap = (struct trap){.rip = rip};
    (void)pie_decode_executed(rip); /* or it is about to be */
    int before = learn_before(rip, trap), at = learn_at(rip, trap);
    if (before < 0 && !(before == -ENOENT && at == 0))
        trap->result = before;
    if (before == -ENOMEM || at == -ENOMEM)
        trap->rip = 0; /* to be asked again */
    if (trap->result == -ENOENT || (trap->result == 0 && trap->n_before + trap->n_at == 0))
        trap->rip = 0; /* more may be known the next time */
}

static bool overlaps(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size) {
    return b - a < a_size || a - b < b_size;
}

static bool touches(const struct pie_operand *operand, const uint64_t *registers, uint64_t address,
                    size_t size) {
    struct pie_access after = operand->access;
    uint64_t element_bytes = operand->access.size_bytes, reach_bytes = operand->reach_bytes;

    after.base = operand->after_base;
    after.disp = operand->after_disp;
    uint64_t at = pie_access_address(&after, registers);
    if (operand->traits & PIE_OPERAND_NARROW)
        at = (uint32_t)at;
    if (operand->traits & PIE_OPERAND_STRING)
        return overlaps(at - reach_bytes, reach_bytes, address, size) ||
               overlaps(at + element_bytes, reach_bytes, address, size);
    return overlaps(at, reach_bytes, address, size);
}

/* The first operand whose address is known and right. */
static const struct pie_operand *find_touching(const struct pie_operand *operands, size_t n,
                                               const uint64_t *registers, uint64_t address, size_t size) {
    for (size_t i = 0; i < n; i++)
        if (!(operands[i].traits & PIE_OPERAND_HIDDEN_ADDRESS) &&
            touches(&operands[i], registers, address, size))
            return &operands[i];
    return NULL;
}

static const struct pie_operand *find_hidden(const struct pie_operand *operands, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (operands[i].traits & PIE_OPERAND_HIDDEN_ADDRESS)
            return &operands[i];
    return NULL;
}

int pie_decode_trap(uint64_t rip, const uint64_t registers[PIE_ACCESS_REGISTERS], uint64_t address,
                    size_t size, struct pie_access *ret_access) {
    if (!pie_decode_is_available())
        return -ENOSYS;
    if (!traps)
        traps = pie_calloc(TRAPS, sizeof *traps);
    if (!traps)
        return -ENOMEM;
    struct trap *trap = &traps[pie_hash_upper(rip) >> (64 - TRAPS_BITS)];
    if (trap->rip != rip || !rip)
        learn(rip, trap);
    if (trap->result < 0)
        return trap->result;
    const struct pie_operand *found = find_touching(trap->before, trap->n_before, registers, address, size);
    if (!found)
        found = find_touching(trap->at, trap->n_at, registers, address, size);
    if (!found)
        found = find_hidden(trap->before, trap->n_before);
    if (!found)
        return -ENXIO;
    *ret_access = found->access;
    return 0;
}

void pie_decode_traps_flush(void) {
    pie_free(traps);
    traps = NULL;
}
