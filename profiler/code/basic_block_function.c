/* SPDX-License-Identifier: Apache-2.0 */

/* Samples in wide code rarely meet the same instruction twice, but the same functions. To find the bounds of a function
 * and sweep it is half of the work for one of its blocks, so all of them are made at once. */

#include "profiler/code/basic_block_function.h"

#include "profiler/base/own_memory.h"
#include "profiler/base/safe_load.h"
#include "profiler/code/basic_block_lines.h"
#include "profiler/code/decode_function.h"
#include "profiler/code/modules.h"

#include <errno.h>

enum { NEAR_MAX = 8 }; /* blocks; one further away is hardly the same work */

struct found {
    uint64_t low;
    uint64_t next;                       /* of one without accesses; as in struct pie_decode_basic_block */
    const struct pie_basic_block *block; /* NULL: nothing in it can be watched */
};

struct blocks {
    const struct pie_decode_function *function;
    uint8_t *code;      /* a copy */
    struct found *list; /* in the order of addresses */
    size_t n;
};

static size_t count_leaders(const struct pie_decode_function *function) {
    const uint64_t *leaders = function->maps + (size_t)PIE_DECODE_LEADER * function->words;
    size_t n = 0;

    for (uint32_t i = 0; i < function->words; i++)
        n += (size_t)__builtin_popcountll(leaders[i]);
    return n;
}

/* What may be watched in [low, high). */
static size_t accesses_between(const struct blocks *blocks, uint64_t low, uint64_t high,
                               struct pie_access accesses[PIE_BASIC_BLOCK_ACCESSES_MAX]) {
    const struct pie_decode_function *f = blocks->function;
    struct pie_operand operands[PIE_OPERANDS_MAX];
    struct pie_instruction in;
    size_t n = 0;

    for (uint64_t ip = pie_decode_function_next(f, PIE_DECODE_LISTED, low); ip && ip < high;
         ip = pie_decode_function_next(f, PIE_DECODE_LISTED, ip + 1)) {
        int count = pie_decode_function_in(f, blocks->code, ip, &in, operands);
        for (int i = 0; i < count && n < PIE_BASIC_BLOCK_ACCESSES_MAX; i++)
            if (operands[i].traits & PIE_OPERAND_LISTED)
                accesses[n++] = operands[i].access;
    }
    return n;
}

/* Where a block [low, high) leads to, by its last instruction that is no padding. */
static uint64_t next_of(const struct blocks *blocks, uint64_t low, uint64_t high) {
    const struct pie_decode_function *f = blocks->function;
    struct pie_instruction in;

    for (uint64_t at = high; at > low;) {
        at = pie_decode_function_last(f, PIE_DECODE_START, at - 1);
        if (at < low || pie_decode_function_in(f, blocks->code, at, &in, NULL) < 0)
            return 0;
        if (!in.is_padding)
            return pie_decode_function_way_on(f, &in, high);
    }
    return high < f->begin + f->size ? high : 0;
}

/* All that begins from one leader to the next is of its block: what lies behind a block's last instruction is
 * padding. */
static int decode_all(struct blocks *blocks, struct pie_basic_block_table *table) {
    const struct pie_decode_function *f = blocks->function;
    struct pie_access accesses[PIE_BASIC_BLOCK_ACCESSES_MAX];
    uint64_t low = pie_decode_function_next(f, PIE_DECODE_LEADER, f->begin), behind;

    for (; low; low = behind) {
        behind = pie_decode_function_next(f, PIE_DECODE_LEADER, low + 1);
        uint64_t high = behind ? behind : f->begin + f->size;
        size_t count = accesses_between(blocks, low, high, accesses);
        struct found *found = &blocks->list[blocks->n++];
        *found = (struct found){.low = low, .next = count == 0 ? next_of(blocks, low, high) : 0};
        if (count > 0 && !(found->block = pie_basic_block_make(table, accesses, count)))
            return -ENOMEM;
    }
    return 0;
}

/* NULL: none begins there. */
static const struct found *find_low(const struct blocks *blocks, uint64_t low) {
    size_t from = 0, to = blocks->n;

    while (from < to) {
        size_t middle = (from + to) / 2;
        if (blocks->list[middle].low < low)
            from = middle + 1;
        else
            to = middle;
    }
    return from < blocks->n && blocks->list[from].low == low ? &blocks->list[from] : NULL;
}

/* The block itself; if nothing in it can be watched one of those that follow, or that lie before it. NULL: none. */
static const struct pie_basic_block *near(const struct blocks *blocks, const struct found *found) {
    const struct found *at = found;

    for (int i = 1; i < NEAR_MAX && at && !at->block; i++)
        at = at->next ? find_low(blocks, at->next) : NULL;
    if (at && at->block)
        return at->block;
    at = found;
    for (int i = 0; i < NEAR_MAX && at > blocks->list && !at->block; i++)
        at--;
    return at->block;
}

static void name_all(const struct blocks *blocks, const struct pie_basic_block *silent,
                     struct pie_basic_block_lines *lines) {
    const struct pie_decode_function *f = blocks->function;

    for (size_t i = 0; i < blocks->n; i++) {
        const struct pie_basic_block *block = near(blocks, &blocks->list[i]);
        uint64_t end = i + 1 < blocks->n ? blocks->list[i + 1].low : f->begin + f->size;
        for (uint64_t ip = pie_decode_function_next(f, PIE_DECODE_START, blocks->list[i].low); ip && ip < end;
             ip = pie_decode_function_next(f, PIE_DECODE_START, ip + 1))
            pie_basic_block_lines_name(lines, ip, block ? block : silent);
    }
}

static int enter(struct blocks *blocks, struct pie_basic_block_table *table, unsigned module,
                 uint32_t generation) {
    const struct pie_basic_block *silent = pie_basic_block_silent(table);
    uint64_t used_bytes = table->used_bytes;
    struct pie_basic_block_lines lines;
    int r = silent ? decode_all(blocks, table) : -ENOMEM;

    if (r == 0 && (pie_code_module_at((uintptr_t)blocks->function->begin) != module ||
                   !pie_basic_block_table_is_current(table)))
        r = -EAGAIN; /* what was decoded may be another's */
    if (r < 0) {
        pie_basic_block_room_back(table, used_bytes);
        return r;
    }
    pie_basic_block_lines_begin(&lines, table, module, generation);
    name_all(blocks, silent, &lines);
    return pie_basic_block_lines_end(&lines);
}

int pie_basic_block_enter_function(struct pie_basic_block_table *table, uint64_t ip, unsigned module,
                                   uint32_t generation) {
    struct blocks blocks = {0};

    if (!pie_decode_is_available())
        return -ENOSYS;
    int r = pie_decode_function_find(ip, &blocks.function);
    if (r < 0 || blocks.function->is_window)
        return r < 0 ? r : -ENOENT;
    if (blocks.function->size / PIE_BASIC_BLOCK_LINE_BYTES >=
        PIE_BASIC_BLOCK_SLOTS_FILLED_MAX - table->filled)
        return -ENOMEM;
    blocks.list = pie_malloc((count_leaders(blocks.function) + 1) * sizeof *blocks.list);
    blocks.code = pie_malloc(blocks.function->size);
    if (!blocks.list || !blocks.code)
        r = -ENOMEM;
    else if (!pie_safe_copy(blocks.code, (const void *)(uintptr_t)blocks.function->begin,
                            blocks.function->size))
        r = -EFAULT;
    else
        r = enter(&blocks, table, module, generation);
    pie_free(blocks.code);
    pie_free(blocks.list);
    return r;
}
