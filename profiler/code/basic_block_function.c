/* SPDX-License-Identifier: Apache-2.0 */

/* Samples in wide code rarely meet the same instruction twice, but the same functions. To find the bounds of a function
 * and sweep it is half of the work for one of its blocks, so all of them are made at once. */

#include "profiler/code/basic_block_function.h"

#include "profiler/base/own_memory.h"
#include "profiler/code/basic_block_lines.h"
#include "profiler/code/decode_function.h"
#include "profiler/code/modules.h"

#include <errno.h>

enum { NEAR_MAX = 8 }; /* blocks; one further away is hardly the same work */

struct found {
    uint64_t low, high, next;            /* as in struct pie_decode_basic_block */
    const struct pie_basic_block *block; /* NULL: nothing in it can be watched */
};

struct blocks {
    const struct pie_decode_function *function;
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

/* What does not decode is left out. */
static int decode_all(struct blocks *blocks, struct pie_basic_block_table *table) {
    const struct pie_decode_function *f = blocks->function;
    struct pie_access accesses[PIE_BASIC_BLOCK_ACCESSES_MAX];
    struct pie_decode_basic_block block;

    for (uint64_t low = pie_decode_function_next(f, PIE_DECODE_LEADER, f->begin); low;
         low = pie_decode_function_next(f, PIE_DECODE_LEADER, low + 1)) {
        int r = pie_decode_function_block(f, low, accesses, PIE_BASIC_BLOCK_ACCESSES_MAX, &block);
        if (r < 0 && r != -E2BIG)
            continue;
        struct found *found = &blocks->list[blocks->n++];
        *found = (struct found){.low = low, .high = block.high, .next = block.next};
        if (block.count > 0 && !(found->block = pie_basic_block_make(table, accesses, block.count)))
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

    for (int i = 0; i < NEAR_MAX && at && !at->block; i++)
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
        const struct found *found = &blocks->list[i];
        const struct pie_basic_block *block = near(blocks, found);
        uint64_t end = i + 1 < blocks->n && found[1].low < found->high ? found[1].low : found->high;
        for (uint64_t ip = found->low; ip && ip < end;
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
    if (blocks.function->size / PIE_BASIC_BLOCK_LINE_BYTES >= PIE_BASIC_BLOCK_SLOTS_FILLED_MAX - table->filled)
        return -ENOMEM;
    blocks.list = pie_malloc((count_leaders(blocks.function) + 1) * sizeof *blocks.list);
    if (!blocks.list)
        return -ENOMEM;
    r = enter(&blocks, table, module, generation);
    pie_free(blocks.list);
    return r;
}
