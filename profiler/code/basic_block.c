/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/code/basic_block.h"

#include "profiler/base/clocks.h"
#include "profiler/base/counters.h"
#include "profiler/base/region.h"
#include "profiler/code/basic_block_function.h"
#include "profiler/code/basic_block_lines.h"
#include "profiler/code/basic_block_table.h"
#include "profiler/code/decode_function.h"
#include "profiler/code/generation.h"
#include "profiler/code/modules.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum {
    /* Prologues, spills and jumps lie between; a block further away is hardly the same work. */
    BLOCKS_NEAR_MAX = 8,
    BLOCK_BYTES_MAX =
        sizeof(struct pie_basic_block) + PIE_BASIC_BLOCK_ACCESSES_MAX * sizeof(struct pie_access),
    LINE_BYTES_MAX = sizeof(struct pie_basic_block_line) + PIE_BASIC_BLOCK_LINE_BYTES * sizeof(uint32_t),
    HALF_BYTES_MAX = 8 * 1024 * 1024,
};

/* A table that is full is of other code than what runs now, or of more than it can hold. It may begin again once in
 * this time: to learn anew what is in use takes up to half a second. */
static const uint64_t FULL_NS = 60000000000;

/* Made by the first who learns, the collection thread; pages that are not touched cost nothing. */
struct pie_basic_block_table *pie_basic_block_table_make(void) {
    struct pie_basic_block_table *table = pie_basic_block_table();
    size_t size = pie_region_size(PIE_ARENA_BASIC_BLOCKS), most = sizeof *table + 2 * (size_t)HALF_BYTES_MAX;

    size = (size < most ? size : most) & ~(size_t)7;
    if (table || size < sizeof *table + 2 * (BLOCK_BYTES_MAX + LINE_BYTES_MAX) ||
        !(table = pie_region_alloc(PIE_ARENA_BASIC_BLOCKS, size)))
        return table;
    table->half_bytes = (size - sizeof *table) / 2 & ~(uint64_t)7;
    table->since = pie_code_generation();
    atomic_store_explicit(&table->rewrites, pie_code_modules_rewrites(), memory_order_relaxed);
    return table;
}

void *pie_basic_block_room(struct pie_basic_block_table *table, size_t bytes) {
    uint32_t half = atomic_load_explicit(&table->generation, memory_order_relaxed) & 1;
    char *room = (char *)(table + 1) + half * table->half_bytes + table->used_bytes;

    bytes = (bytes + PIE_BASIC_BLOCK_ALIGN - 1) & ~(size_t)(PIE_BASIC_BLOCK_ALIGN - 1);
    if (bytes > table->half_bytes - table->used_bytes)
        return NULL;
    table->used_bytes += bytes;
    return room;
}

void pie_basic_block_room_back(struct pie_basic_block_table *table, uint64_t used_bytes) {
    table->used_bytes = used_bytes;
}

struct pie_basic_block *pie_basic_block_make(struct pie_basic_block_table *table,
                                             const struct pie_access *accesses, size_t count) {
    struct pie_basic_block *block = pie_basic_block_room(table, sizeof *block + count * sizeof *accesses);

    if (!block)
        return NULL;
    block->count = (uint32_t)count;
    if (count > 0)
        memcpy(block->accesses, accesses, count * sizeof *accesses);
    return block;
}

const struct pie_basic_block *pie_basic_block_silent(struct pie_basic_block_table *table) {
    if (!table->silent)
        table->silent = pie_basic_block_make(table, NULL, 0);
    return table->silent;
}

/* The block around ip, and the one to be watched: if nothing in it can be, one of those that follow, or that lie before
 * it. */
static int decode_near(uint64_t ip, struct pie_access accesses[PIE_BASIC_BLOCK_ACCESSES_MAX],
                       struct pie_decode_basic_block *ret_own, struct pie_decode_basic_block *ret_watched) {
    struct pie_decode_basic_block found = {.next = ip};
    uint64_t before = 0;
    int r = 0;

    for (int i = 0; i < BLOCKS_NEAR_MAX && r == 0 && found.count == 0 && found.next; i++) {
        r = pie_decode_basic_block(found.next, accesses, PIE_BASIC_BLOCK_ACCESSES_MAX, &found);
        before = i == 0 ? found.before : before;
        if (i == 0)
            *ret_own = found;
    }
    for (int i = 0; i < BLOCKS_NEAR_MAX && r == 0 && found.count == 0 && before; i++, before = found.before)
        r = pie_decode_basic_block(before, accesses, PIE_BASIC_BLOCK_ACCESSES_MAX, &found);
    *ret_watched = found;
    return r == -E2BIG && found.count > 0 ? 0 : r;
}

/* There is no room for more. What is known of libraries that went may be the reason, or code that ran before. */
static bool is_full(struct pie_basic_block_table *table) {
    if (table->filled < PIE_BASIC_BLOCK_SLOTS_FILLED_MAX &&
        table->half_bytes - table->used_bytes >= BLOCK_BYTES_MAX + 2 * LINE_BYTES_MAX)
        return false;
    if (table->since == pie_code_generation()) {
        uint64_t now_ns = pie_monotonic_ns();
        if (table->full_ns && now_ns - table->full_ns < FULL_NS)
            return true;
        table->full_ns = now_ns;
    }
    pie_basic_blocks_forget();
    return false;
}

/* The instructions of a block that was decoded. */
static void name_block(struct pie_basic_block_lines *lines, const struct pie_decode_basic_block *named,
                       const struct pie_basic_block *block) {
    const struct pie_decode_function *function;

    if (pie_decode_function_find(named->low, &function) < 0)
        return;
    for (uint64_t ip = named->low; ip && ip < named->high;
         ip = pie_decode_function_next(function, PIE_DECODE_START, ip + 1))
        pie_basic_block_lines_name(lines, ip, block);
}

/* The block around ip alone. */
static int enter_block(struct pie_basic_block_table *table, uint64_t ip, unsigned module,
                       uint32_t generation) {
    struct pie_access accesses[PIE_BASIC_BLOCK_ACCESSES_MAX];
    struct pie_decode_basic_block own = {0}, watched = {0};
    const struct pie_basic_block *block = NULL;
    struct pie_basic_block_lines lines;
    int error = decode_near(ip, accesses, &own, &watched);

    if (pie_code_module_at((uintptr_t)ip) != module || !pie_basic_block_table_is_current(table))
        return -EAGAIN; /* what was decoded may be another's */
    bool is_watched = error == 0 && watched.count > 0;
    if (is_watched)
        block = pie_basic_block_find(watched.low, module); /* it may have been asked for before */
    if (!block)
        block =
            is_watched ? pie_basic_block_make(table, accesses, watched.count) : pie_basic_block_silent(table);
    if (!block)
        return -ENOMEM;
    pie_basic_block_lines_begin(&lines, table, module, generation);
    if (is_watched && watched.low != own.low)
        name_block(&lines, &watched, block);
    if (error == 0)
        name_block(&lines, &own, block);
    pie_basic_block_lines_name(&lines, ip, block);
    int r = pie_basic_block_lines_end(&lines);
    return r < 0 ? r : error;
}

static int enter(struct pie_basic_block_table *table, uint64_t ip, unsigned module, uint32_t generation) {
    bool is_scarce = table->used_bytes > table->half_bytes / 4 * 3;

    (void)pie_decode_executed(ip); /* else it has no block where no function is known */
    int r = is_scarce ? -ENOMEM : pie_basic_block_enter_function(table, ip, module, generation);
    if (r == -EAGAIN || (r == 0 && pie_basic_block_find(ip, module)))
        return r;
    return enter_block(table, ip, module, generation);
}

static int learn(struct pie_basic_block_table *table, uint64_t ip) {
    uint32_t generation = pie_code_generation();

    if (!pie_basic_block_table_is_current(table))
        return -EAGAIN; /* code was changed just now: first forget what is known of it */
    unsigned module = pie_code_module_at((uintptr_t)ip);
    if (module == PIE_CODE_MODULE_NOWHERE)
        return -ENXIO;
    if (pie_basic_block_find(ip, module))
        return 0;
    return is_full(table) ? -ENOMEM : enter(table, ip, module, generation);
}

int pie_basic_block_learn(uint64_t ip) {
    struct pie_basic_block_table *table = pie_basic_block_table_make();
    int r = table && ip >> PIE_BASIC_BLOCK_IP_BITS == 0 ? learn(table, ip) : -ENOMEM;

    if (r == -ENOMEM)
        pie_counter_add(PIE_COUNTER_WATCH_BLOCKS_FULL, 1);
    return r;
}

void pie_basic_blocks_refresh(void) {
    const struct pie_basic_block_table *table = pie_basic_block_table();

    if (table && !pie_basic_block_table_is_current(table))
        pie_basic_blocks_forget();
}

void pie_basic_blocks_forget(void) {
    struct pie_basic_block_table *table = pie_basic_block_table();

    if (!table)
        return;
    uint32_t rewrites = pie_code_modules_rewrites();
    table->since = pie_code_generation();
    for (uint32_t i = 0; i < PIE_BASIC_BLOCK_SLOTS; i++)
        atomic_store_explicit(&table->slots[i], 0, memory_order_relaxed);
    table->filled = 0;
    table->used_bytes = 0;
    table->silent = NULL;
    atomic_store_explicit(&table->rewrites, rewrites, memory_order_release);
    atomic_fetch_add_explicit(&table->generation, 1,
                              memory_order_release); /* pairs with pie_basic_block_generation() */
}
